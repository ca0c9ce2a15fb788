//! Engine and hardware settings: the given value, or the catalog's.

use crate::config::inputs::Range;
use crate::config::{
    Batching, ESTIMATE, Engine, Field, Figure, Gpu, Issue, MemoryShareOf, Overrides, Parallelism, Usage,
};
use crate::units::{Bytes, count, decimal};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    pub token_budget: u32,
    pub max_seqs: u32,
    pub memory_share: f64,
    pub largest_graph: u32,
    pub sustained: f64,
    /// Set if below the GPU's limit.
    pub power_cap: Option<f64>,
    pub price: Option<f64>,
}

/// A static batch runs as given: the limits of a scheduler, which it has none of, are reported and left out.
pub fn unscheduled(given: &Overrides, issues: &mut Vec<Issue>) -> Overrides {
    let limits = [(Field::TokenBudget, given.token_budget), (Field::MaxSeqs, given.max_seqs)];
    for (field, _) in limits.into_iter().filter(|(_, limit)| limit.is_some()) {
        issues.push(Issue::warning(field, "a static batch runs as a whole: this limit has no effect"));
    }
    Overrides { token_budget: None, max_seqs: None, ..given.clone() }
}

pub fn settings(
    given: &Overrides,
    (engine, parallel, usage): (&Engine, &Parallelism, Usage),
    gpu: &Gpu,
    issues: &mut Vec<Issue>,
) -> Option<Settings> {
    let scheduler = &engine.scheduler;
    let (budget, sequences) = scheduler.limits_on(gpu, usage);
    let mut pick = |field: Field, given: Option<f64>, figure: &Figure| {
        let Some(value) = given.or(figure.0) else {
            let text =
                format!("{} has no known {} ({}): enter one", engine.name, field.input().label, figure.1);
            issues.push(Issue::error(field, text));
            return None;
        };
        in_range(field, value, given.is_some(), issues)
    };
    let token_budget = pick(Field::TokenBudget, given.token_budget.map(f64::from), &budget);
    let max_seqs = pick(Field::MaxSeqs, given.max_seqs.map(f64::from), &sequences);
    let default_share = match (token_budget, max_seqs) {
        (Some(tokens), Some(seqs)) => {
            let decoding = (seqs as u32).saturating_mul(usage.verified);
            let by_default = || scheduler.decode_graph(gpu, *parallel, decoding);
            let graph = given.largest_graph.or_else(by_default);
            scheduler.share_on(gpu, (*parallel, usage), tokens, graph)
        }
        _ => scheduler.memory_share.clone(),
    };
    let memory_share = pick(Field::MemoryShare, given.memory_share, &default_share);
    issues.extend(memory_share.and_then(|share| shared_memory(share, scheduler.memory_share_of, gpu)));
    issues.extend(given.largest_graph.and_then(|largest| eager(largest, engine)));
    let sustained = sustained(given.sustained, gpu, issues);
    let capped = power_cap(given.power_cap, sustained, gpu, issues);
    let price = given.price.or(gpu.dollars_per_hour.0);
    let price_is_in_range =
        price.is_none_or(|price| in_range(Field::Price, price, given.price.is_some(), issues).is_some());
    // In range, so the casts are exact.
    let (token_budget, max_seqs) = (token_budget? as u32, max_seqs? as u32);
    let max_seqs = sequences_in_budget(given, token_budget, max_seqs, scheduler.batching, issues)?;
    let (power_cap, sustained) = capped?;
    // Without a rule, every decode step replays a graph.
    let decoding = max_seqs.saturating_mul(usage.verified);
    let by_default = || scheduler.decode_graph(gpu, *parallel, decoding).unwrap_or(u32::MAX);
    let settings = Settings {
        token_budget,
        max_seqs,
        memory_share: memory_share?,
        largest_graph: given.largest_graph.unwrap_or_else(by_default),
        sustained,
        power_cap,
        price,
    };
    price_is_in_range.then_some(settings)
}

/// What is not known without CUDA graphs.
fn eager(largest: u32, engine: &Engine) -> Option<Issue> {
    let compiled = match engine.id.as_str() {
        "vllm" => {
            ". vLLM's eager mode also turns off compilation, which fuses small kernels: their separate launches are not \
            counted, so steps may take longer"
        }
        _ => "",
    };
    let text = format!("no measured run did without CUDA graphs, so the bands are less certain{compiled}");
    (largest == 0).then(|| Issue::note(Field::LargestGraph, text))
}

/// A caveat for memory shared with the host: vLLM starts only if the share of all memory that it takes is free.
fn shared_memory(share: f64, of: MemoryShareOf, gpu: &Gpu) -> Option<Issue> {
    let Figure(host, reason) = gpu.host_bytes.as_ref()?;
    let (name, total) = (&gpu.name, gpu.memory().ok()?);
    let text = match host {
        None => format!(
            "{name} shares its memory with the host, and the host's part is unknown ({reason}): lower the memory share \
             to leave room for it"
        ),
        Some(host) => {
            let held = Bytes(*host).print();
            let most = (gpu.free_memory().ok()? / total * 100.0).floor() / 100.0;
            let text =
                format!("{name} shares its memory with the host, which is assumed to use {held} of it");
            if of != MemoryShareOf::Total || share <= most {
                return Some(Issue::note(Field::MemoryShare, text));
            }
            format!(
                "{text}. The engine does not start with a larger share than {0}, so {0} is predicted: set at most {0}",
                decimal(most)
            )
        }
    };
    Some(Issue::warning(Field::MemoryShare, text))
}

/// The value if it is within the range of `field`. Given values were checked with the scenario.
fn in_range(field: Field, value: f64, is_given: bool, issues: &mut Vec<Issue>) -> Option<f64> {
    let issue = field.input().check(value);
    let inside = issue.is_none();
    issues.extend(issue.filter(|_| !is_given));
    inside.then_some(value)
}

/// In a mixed step every running sequence takes one token of the budget. vLLM lowers its own default number of
/// sequences to the budget, and refuses a larger number set explicitly.
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
    let text = format!(
        "{} sequences need at least one token each, but a step takes only {}: lower Max sequences or raise the token budget",
        count(f64::from(max_seqs)),
        count(f64::from(token_budget))
    );
    issues.push(Issue::error(Field::MaxSeqs, text).with_given(max_seqs.to_string()));
    None
}

/// Fraction of the boost clock: given, or from the catalog, with a warning if that is an estimate.
fn sustained(given: Option<f64>, gpu: &Gpu, issues: &mut Vec<Issue>) -> Option<f64> {
    let Figure(known, source) = &gpu.sustained_clock;
    let Some(value) = given.or(*known) else {
        let Range { min, max } = Field::Sustained.input().number?.range;
        let text = format!(
            "the sustained clock of {} is not known ({source}): set one between {} and {}",
            gpu.name,
            decimal(min),
            decimal(max)
        );
        issues.push(Issue::error(Field::Sustained, text));
        return None;
    };
    if given.is_none() && source == ESTIMATE {
        let text = format!(
            "the sustained clock of {} was not measured; {} comes from a GPU with the same chip or architecture: set it if you know it",
            gpu.name,
            decimal(value)
        );
        issues.push(Issue::warning(Field::Sustained, text));
    }
    in_range(Field::Sustained, value, given.is_some(), issues)
}

/// The power cap, if it binds, and the clock it leaves of the `sustained` one.
fn power_cap(
    given: Option<f64>,
    sustained: Option<f64>,
    gpu: &Gpu,
    issues: &mut Vec<Issue>,
) -> Option<(Option<f64>, f64)> {
    let sustained = sustained?;
    let Some(cap) = given else { return Some((None, sustained)) };
    // Anything that is not a number was refused with the scenario.
    let cap = in_range(Field::PowerCap, cap, true, issues)?;
    let Range { min, .. } = Field::Sustained.input().number?.range;
    let found = gpu
        .power_shares()
        .and_then(|_| Ok((gpu.power()?.0, gpu.clock_under(cap)?, gpu.cap_for(min / sustained)?)));
    let text = match found {
        Err(missing) => missing.to_string(),
        Ok((limit, ..)) if cap > limit => {
            format!("the power limit of {} is {} W: set at most that", gpu.name, decimal(limit))
        }
        Ok((limit, clock, least)) if sustained * clock < min => format!(
            "at {} W {} would hold less than {} of its boost clock: {}",
            decimal(cap),
            gpu.name,
            decimal(min),
            match least >= limit {
                // No cap is the cause.
                true =>
                    format!("raise or clear `{}`, which is {}", Field::Sustained.id(), decimal(sustained)),
                false => format!("set at least {} W", decimal(least.ceil())),
            }
        ),
        Ok((limit, clock, _)) => return Some((Some(cap).filter(|cap| *cap < limit), sustained * clock)),
    };
    issues.push(Issue::error(Field::PowerCap, text).with_given(decimal(cap)));
    None
}
