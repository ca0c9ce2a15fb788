//! Engine and hardware settings: what the visitor set, or the catalog's figure.

use super::range::{MAX_SEQS, MEMORY_SHARE, PRICE, Range, SUSTAINED, TOKEN_BUDGET};
use crate::config::{Batching, ESTIMATE, Engine, Field, Figure, Gpu, Issue, Overrides};
use crate::units::decimal;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    pub token_budget: u32,
    pub max_seqs: u32,
    pub memory_share: f64,
    pub sustained: f64,
    pub price: Option<f64>,
}

pub fn settings(given: &Overrides, engine: &Engine, gpu: &Gpu, issues: &mut Vec<Issue>) -> Option<Settings> {
    let scheduler = &engine.scheduler;
    let (budget, sequences) = scheduler.limits_on(gpu);
    let mut pick = |range: Range, given: Option<f64>, figure: &Figure| {
        let value = given.or(figure.0);
        match value {
            Some(value) => {
                let issue = range.check(value);
                let inside = issue.is_none();
                issues.extend(issue);
                inside.then_some(value)
            }
            None => {
                let text = format!("{} has no figure for {}: {}", engine.name, range.name, figure.1);
                issues.push(Issue::error(range.field, text));
                None
            }
        }
    };
    let token_budget = pick(TOKEN_BUDGET, given.token_budget.map(f64::from), budget);
    let max_seqs = pick(MAX_SEQS, given.max_seqs.map(f64::from), sequences);
    let memory_share = pick(MEMORY_SHARE, given.memory_share, &scheduler.memory_share);
    let sustained = sustained(given.sustained, gpu, issues);
    let price = given.price.or(gpu.dollars_per_hour.0);
    let bad_price = price.and_then(|price| PRICE.check(price));
    let price_is_right = bad_price.is_none();
    issues.extend(bad_price);
    // In range, so the casts are exact.
    let (token_budget, max_seqs) = (token_budget? as u32, max_seqs? as u32);
    let max_seqs = sequences_in_budget(given, token_budget, max_seqs, scheduler.batching, issues)?;
    let settings =
        Settings { token_budget, max_seqs, memory_share: memory_share?, sustained: sustained?, price };
    price_is_right.then_some(settings)
}

/// Where a step mixes, every running sequence takes one token of it. vLLM lowers its own default of
/// sequences to the budget and refuses a larger number set by hand.
fn sequences_in_budget(
    given: &Overrides,
    token_budget: u32,
    max_seqs: u32,
    batching: Batching,
    issues: &mut Vec<Issue>,
) -> Option<u32> {
    if batching != Batching::MixedChunks || max_seqs <= token_budget {
        return Some(max_seqs);
    }
    if given.max_seqs.is_none() {
        return Some(token_budget);
    }
    let text =
        format!("{max_seqs} sequences do not fit a step of {token_budget} tokens: at most as many are right");
    issues.push(Issue::error(Field::MaxSeqs, text).with_given(max_seqs.to_string()));
    None
}

/// Share of the boost clock: given, or the catalog's; an estimate there is said to be one.
fn sustained(given: Option<f64>, gpu: &Gpu, issues: &mut Vec<Issue>) -> Option<f64> {
    let Figure(known, source) = &gpu.sustained_clock;
    let Some(value) = given.or(*known) else {
        let text = format!(
            "{} has no sustained clock ({source}): set one between {} and {}",
            gpu.name,
            decimal(SUSTAINED.min),
            decimal(SUSTAINED.max)
        );
        issues.push(Issue::error(Field::Sustained, text));
        return None;
    };
    if given.is_none() && source == ESTIMATE {
        let text = format!(
            "the sustained clock of {} was not measured: {} is that of a GPU with the same chip or architecture",
            gpu.name,
            decimal(value)
        );
        issues.push(Issue::warning(Field::Sustained, text));
    }
    let issue = SUSTAINED.check(value);
    let inside = issue.is_none();
    issues.extend(issue);
    inside.then_some(value)
}
