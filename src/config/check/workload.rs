//! Lengths and load.

use super::range::{
    BATCH, CONCURRENCY, ISL, MAX_BATCH_TOKENS, MAX_LENGTHS, OSL, RATE, SLO_TPOT, SLO_TTFT, SPREAD,
};
use crate::config::{Batching, Field, Issue, Lengths, Load, Model, Setup, Workload};

/// Prompt lengths, one entry where all are alike; none where they make no sense.
pub fn prompts(workload: &Workload, issues: &mut Vec<Issue>) -> Option<Vec<u32>> {
    let before = issues.len();
    issues.extend(match workload.load {
        Load::Concurrency(clients) => CONCURRENCY.check(f64::from(clients)),
        Load::Rate(rate) => RATE.check(rate),
        Load::Batch(size) => BATCH.check(f64::from(size)),
    });
    issues.extend(OSL.check(f64::from(workload.osl)));
    issues.extend(SPREAD.check(workload.spread));
    if workload.spread > 0.0 && matches!(workload.load, Load::Batch(_)) {
        let text =
            "the prompts of a batch are taken as long as they are given: lengths vary with clients or a rate";
        issues.push(Issue::warning(Field::Spread, text));
    }
    issues.extend(workload.slos.ttft_ms.and_then(|limit| SLO_TTFT.check(limit)));
    issues.extend(workload.slos.tpot_ms.and_then(|limit| SLO_TPOT.check(limit)));
    let means = workload.means();
    let prompts = match &workload.isl {
        _ if means.is_some() => means.into_iter().map(|(prompt, _)| prompt).collect(),
        Lengths::Fixed(length) => vec![*length],
        Lengths::Each(lengths) => {
            issues.extend(each(lengths, workload.load));
            lengths.clone()
        }
    };
    issues.extend(prompts.iter().find_map(|length| ISL.check(f64::from(*length))));
    if let Load::Batch(size) = workload.load {
        let tokens = match &workload.isl {
            Lengths::Fixed(length) => u64::from(*length) * u64::from(size),
            Lengths::Each(lengths) => lengths.iter().copied().map(u64::from).sum(),
        };
        if tokens > MAX_BATCH_TOKENS {
            let text = format!("the batch holds {tokens} prompt tokens: at most {MAX_BATCH_TOKENS} is right");
            issues.push(Issue::error(Field::Batch, text));
        }
    }
    (!issues[before..].iter().any(Issue::is_error)).then_some(prompts)
}

fn each(lengths: &[u32], load: Load) -> Option<Issue> {
    let count = lengths.len();
    let text = match load {
        Load::Concurrency(_) | Load::Rate(_) => {
            "a length for each prompt goes with a batch, not with clients or a rate".to_owned()
        }
        _ if count == 0 => "the list of prompt lengths is empty".to_owned(),
        _ if count > MAX_LENGTHS => format!("{count} prompt lengths: at most {MAX_LENGTHS} are right"),
        Load::Batch(size) if count != size as usize => {
            format!("{count} prompt lengths for a batch of {size}: one for each prompt is right")
        }
        Load::Batch(_) => return None,
    };
    Some(Issue::error(Field::Isl, text))
}

/// Longest prompt and output have to fit the model's context: engines refuse longer requests.
pub fn fits_context(requests: &[(u32, u32)], model: &Model, issues: &mut Vec<Issue>) {
    let whole = |(prompt, output): &(u32, u32)| u64::from(*prompt) + u64::from(*output);
    let Some(&(longest, osl)) = requests.iter().max_by_key(|request| whole(request)) else { return };
    let tokens = whole(&(longest, osl));
    if tokens > u64::from(model.max_context) {
        let text = format!(
            "{longest} + {osl} is {tokens} tokens: {} takes at most {} in prompt and output together",
            model.name, model.max_context
        );
        issues.push(Issue::error(if longest >= osl { Field::Isl } else { Field::Osl }, text));
    }
}

/// Without chunking, a prompt longer than the token budget is never scheduled; nor is a sequence that alone has more
/// tokens in a step.
pub fn fits_budget(requests: &[(u32, u32)], setup: &Setup, issues: &mut Vec<Issue>) {
    let (budget, batching) = (setup.token_budget, setup.engine.scheduler.batching);
    let longest = requests.iter().map(|&(prompt, _)| prompt - setup.cached(prompt)).max().unwrap_or(0);
    if batching != Batching::PrefillFirst && setup.tokens_verified() > budget {
        let text = format!(
            "a sequence has {} tokens in a step, drafts included, and a step takes {budget}: draft fewer",
            setup.tokens_verified()
        );
        issues.push(Issue::error(Field::Drafted, text));
    }
    if !matches!(setup.load, Load::Batch(_)) && batching == Batching::InFlight && longest > budget {
        let text = format!(
            "a prompt of {longest} tokens never enters a step of at most {budget}: this engine takes whole prompts"
        );
        issues.push(Issue::error(Field::TokenBudget, text));
    }
}
