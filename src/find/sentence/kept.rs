//! What a new line leaves unchanged from the previous request without showing it.

use super::limits::SLOS;
use crate::config::link::{BY_GPU, Link, SearchSpace, VARIES};
use crate::config::names::named;
use crate::config::{Field, Issue, Scenario, excerpt};

/// The lengths of prompts and answers, and formats that no search varies, if they are not the defaults.
const OWN: [Field; 6] = [Field::Isl, Field::Osl, Field::Shape, Field::CachedShare, Field::Weights, Field::Kv];
const OTHERS: [Field; 4] = [Field::BudgetGpus, Field::BudgetDollars, Field::Most, Field::Day];

/// The lengths, formats and limits of `link`, and the restrictions of `before` that the line does not state, in a note.
pub fn note(link: &Link, before: &SearchSpace, stated: impl Fn(Field) -> bool) -> Option<Issue> {
    let limit = |field: Field| {
        let input = field.input();
        let unit = input.number.as_ref().map_or("", |number| number.unit);
        let amount = input.get(link)?;
        let unit = if amount == "1" && unit == "tokens" { "token" } else { unit };
        Some(format!("`{}` {amount} {unit}", field.id()).trim_end().to_owned())
    };
    let usual = Link::new(Scenario::default());
    let is_own =
        |field: &Field| field.input().get(link) != field.input().get(&usual) && before.get(*field).is_none();
    let wish = |field: Field| {
        let is_of_gpus = field == Field::PrefillGpu || BY_GPU.contains(&field);
        let of = if is_of_gpus { Field::Gpu } else { field };
        let values: Vec<&str> = before.get(field)?.split(',').map(|value| named(of, value)).collect();
        Some(format!("`{}` {}", field.id(), excerpt(&values.join(", "))))
    };
    let own = OWN.into_iter().filter(is_own);
    let limits = own.chain(SLOS).filter(|field| !stated(*field)).filter_map(limit);
    let wishes =
        VARIES.into_iter().chain(BY_GPU).chain(OTHERS).filter(|field| !stated(*field)).filter_map(wish);
    let all: Vec<String> = limits.chain(wishes).collect();
    let text = format!("kept from before: {}; change or clear them in the form", all.join(", "));
    (!all.is_empty()).then(|| Issue::note(Field::Vary, text))
}
