//! The search in a link: `f=gpu~h100-sxm,b200~weights~fp8,nvfp4~budget_gpus~16`, or `f=all` without restrictions.
//! Names are those of a plan request (`docs/plan.md`).

use percent_encoding::{AsciiSet, utf8_percent_encode};

use super::{ESCAPED, split, ungrouped};
use crate::config::inputs::FormGroup;
use crate::config::names::gpu_id;
use crate::config::{Field, excerpt};

/// Inputs that may vary, outermost loop first.
pub const VARIES: [Field; 20] = [
    Field::Gpu,
    Field::Engine,
    Field::Weights,
    Field::Kv,
    Field::Tp,
    Field::Pp,
    Field::Dp,
    Field::Ep,
    Field::TokenBudget,
    Field::MaxSeqs,
    Field::MemoryShare,
    Field::PowerCap,
    Field::CachedShare,
    Field::HistoryCached,
    Field::HostCache,
    Field::Drafted,
    Field::Accepted,
    Field::PrefillWorkers,
    Field::PrefillGpu,
    Field::PrefillTp,
];

/// The inputs among them that also try separate prefill and decode workers, besides replicas that do both.
pub const POOLED: [Field; 3] = [Field::PrefillWorkers, Field::PrefillGpu, Field::PrefillTp];

/// Fields with a number per GPU.
pub const BY_GPU: [Field; 2] = [Field::Owned, Field::Prices];
/// Budgets, and other questions: the maximum load, and the rates of a day.
const OTHERS: [Field; 4] = [Field::BudgetGpus, Field::BudgetDollars, Field::Most, Field::Day];

/// Stands for an unrestricted search.
const ALL: &str = "all";
const WITHIN: char = '~';
/// Stands for a comma within a number for a GPU, as opposed to the commas that separate the list. No number contains
/// it.
const COMMA_OF_NUMBER: &str = ";";
const ESCAPED_WITHIN: &AsciiSet = &ESCAPED.add(b'~');

/// A search's restrictions, each as typed: values to try, or numbers by GPU, as comma-separated lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchSpace {
    wishes: Vec<(Field, String)>,
}

impl SearchSpace {
    /// The restriction on `field`, if any.
    pub fn get(&self, field: Field) -> Option<&str> {
        self.wishes.iter().find(|(of, _)| *of == field).map(|(_, text)| text.as_str())
    }

    /// Empty text removes the restriction.
    pub fn set(&mut self, field: Field, text: &str) {
        self.wishes.retain(|(of, _)| *of != field);
        if !text.trim().is_empty() {
            let at = self.wishes.iter().take_while(|(of, _)| *of < field).count();
            self.wishes.insert(at, (field, with_ids(field, text)));
        }
    }

    /// Takes over the restrictions of another search.
    pub fn put(&mut self, other: Self) {
        other.wishes.iter().for_each(|(field, text)| self.set(*field, text));
    }

    /// The values in a list.
    pub fn list(&self, field: Field) -> Vec<&str> {
        let values = self.get(field).unwrap_or_default().split(',');
        values.map(str::trim).filter(|value| !value.is_empty()).collect()
    }

    /// The rates of a day: typed, or pasted from a column or row of a sheet.
    pub fn hours(&self) -> Vec<&str> {
        let hours = self.get(Field::Day).unwrap_or_default();
        hours.split(|c: char| c == ',' || c.is_whitespace()).filter(|hour| !hour.is_empty()).collect()
    }

    /// Adds a value to a list, or removes it.
    pub fn toggle(&mut self, field: Field, value: &str) {
        let mut values = self.list(field);
        match values.iter().position(|known| *known == value) {
            Some(at) => drop(values.remove(at)),
            None => values.push(value),
        }
        let values = values.join(",");
        self.set(field, &values);
    }

    /// The numbers by GPU, as typed.
    pub fn numbers(&self, field: Field) -> Vec<(&str, String)> {
        let list = self.list(field);
        let typed = |pair: &[&str]| pair.get(1).unwrap_or(&"").replace(COMMA_OF_NUMBER, ",");
        list.chunks(2).map(|pair| (pair[0], typed(pair))).collect()
    }

    /// The number for a GPU, as typed.
    pub fn number(&self, field: Field, gpu: &str) -> String {
        let known = self.numbers(field).into_iter().find(|(id, _)| *id == gpu);
        known.map(|(_, number)| number).unwrap_or_default()
    }

    pub fn set_number(&mut self, field: Field, gpu: &str, number: &str) {
        let list = self.list(field);
        let others = list.chunks(2).filter(|pair| pair.len() == 2 && pair[0] != gpu).flatten().copied();
        let number = ungrouped(number).replace(',', COMMA_OF_NUMBER);
        let own = [gpu, number.trim()].into_iter().filter(|_| !number.trim().is_empty());
        let all = others.chain(own).collect::<Vec<_>>().join(",");
        self.set(field, &all);
    }

    /// Whether `field` can be restricted.
    pub fn takes(field: Field) -> bool {
        [&VARIES[..], &BY_GPU, &OTHERS].concat().contains(&field)
    }

    /// Whether a search chooses this input instead of the configuration: hardware, layout, engine and formats.
    pub fn chooses(field: Field) -> bool {
        matches!(
            field.input().group(),
            Some(
                FormGroup::Gpu
                    | FormGroup::Layout
                    | FormGroup::Formats
                    | FormGroup::Hardware
                    | FormGroup::Architecture
            )
        ) || matches!(field, Field::Engine | Field::PrefillGpu | Field::Price | Field::PrefillPrice)
    }

    pub(in crate::config) fn encode(&self) -> String {
        let wish = |(field, text): &(Field, String)| {
            format!("{}{WITHIN}{}", field.id(), utf8_percent_encode(text, ESCAPED_WITHIN))
        };
        match self.wishes.is_empty() {
            true => ALL.into(),
            false => self.wishes.iter().map(wish).collect::<Vec<_>>().join("~"),
        }
    }

    /// Fails at the first part that is not a restriction: searching for something else would mislead.
    pub(in crate::config) fn decode(text: &str) -> Result<Self, String> {
        let mut find = Self::default();
        if text == ALL {
            return Ok(find);
        }
        let mut parts = text.split(WITHIN);
        while let Some(name) = parts.next() {
            let Some(field) = Field::from_id(name).filter(|field| Self::takes(*field)) else {
                return Err(format!("a search cannot vary `{}`", excerpt(name)));
            };
            let Some(value) = parts.next() else {
                return Err(format!("`{}` has no value", excerpt(name)));
            };
            find.set(field, &split::decode(value));
        }
        Ok(find)
    }
}

/// The text with the ids of the GPUs that it names.
fn with_ids(field: Field, text: &str) -> String {
    // GPUs and numbers alternate; terms without a GPU apply to every GPU.
    let every = if BY_GPU.contains(&field) { 2 } else { 1 };
    let alone = every == 2 && !text.contains(',');
    if alone || !(every == 2 || matches!(field, Field::Gpu | Field::PrefillGpu)) {
        return text.to_owned();
    }
    let parts = text.split(',').enumerate();
    let parts = parts.map(|(at, part)| if at % every == 0 { gpu_id(part) } else { part });
    parts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_options_round_trip_through_the_link() {
        for text in ["all", "gpu~h100-sxm,b200~weights~fp8,nvfp4~budget_gpus~16", "owned~h100-sxm,16,b200,8"]
        {
            assert_eq!(SearchSpace::decode(text).expect(text).encode(), text);
        }
        let mut find = SearchSpace::default();
        find.set(Field::BudgetDollars, "4~0, &x");
        assert_eq!(SearchSpace::decode(&find.encode()), Ok(find));
        for text in ["", "gpu", "isl~512", "gpu~b200~tp", "all~all"] {
            assert!(SearchSpace::decode(text).is_err(), "{text}");
        }
    }

    #[test]
    fn gpus_are_written_by_id() {
        for (text, wanted) in [
            ("gpu~B200,RTX 4090, h200,H100", "gpu~b200,rtx-4090,h200-sxm,H100"),
            ("prefill_gpu~NVIDIA B200", "prefill_gpu~b200"),
            ("owned~B200,4,H100 SXM,8", "owned~b200,4,h100-sxm,8"),
            ("prices~reserved", "prices~reserved"),
            ("prices~B200,reserved", "prices~b200,reserved"),
        ] {
            assert_eq!(SearchSpace::decode(text).expect(text).encode(), wanted);
        }
    }

    #[test]
    fn values_go_in_and_out_of_lists() {
        let mut find = SearchSpace::default();
        find.toggle(Field::Gpu, "b200");
        find.toggle(Field::Gpu, "l4");
        assert_eq!(find.list(Field::Gpu), ["b200", "l4"]);
        find.toggle(Field::Gpu, "b200");
        find.toggle(Field::Gpu, "l4");
        assert_eq!(find, SearchSpace::default());
    }

    #[test]
    fn numbers_belong_to_their_gpu() {
        let mut find = SearchSpace::default();
        find.set_number(Field::Owned, "b200", "8");
        find.set_number(Field::Owned, "l4", "1,000");
        find.set_number(Field::Owned, "b200", "16");
        assert_eq!(find.get(Field::Owned), Some("l4,1000,b200,16"));
        assert_eq!(
            (find.number(Field::Owned, "l4"), find.number(Field::Owned, "l40s")),
            ("1000".into(), String::new())
        );
        find.set_number(Field::Owned, "l40s", "1,5");
        assert_eq!(find.number(Field::Owned, "l40s"), "1,5", "kept as typed, to be mended");
        find.set_number(Field::Owned, "l40s", "");
        find.set_number(Field::Owned, "l4", " ");
        assert_eq!(find.get(Field::Owned), Some("b200,16"));
    }
}
