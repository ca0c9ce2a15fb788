//! Lengths and load.

use crate::config::{Batching, Field, Issue, Lengths, Load, Model, Setup, Slos, Workload};
use crate::units::count;

/// Most prompt lengths in one batch. Measured batches hold a few hundred at most.
pub const MAX_LENGTHS: usize = 1_024;

/// Most bins in a histogram: keeps links short.
pub const MAX_BINS: usize = 100;

/// Most prompt tokens in one batch: more than the KV cache of any node (8 x 288 GB hold 2^26 tokens at 36 KB).
const MAX_BATCH_TOKENS: u64 = 1 << 26;

/// Most requests over all sessions: keeps a run to about a second.
pub const MAX_OF_SESSIONS: u64 = 200_000;

/// What the lengths depend on, besides the load.
const FIELDS: [Field; 5] = [Field::Isl, Field::Osl, Field::Spread, Field::Turns, Field::Message];

/// The workload as it applies to the requests, without what the model and the lengths rule out; `None` if its lengths
/// are refused. Call after the range checks.
pub fn applied(workload: &Workload, issues: &mut Vec<Issue>) -> Option<Workload> {
    let isl = prompts(workload, issues)?;
    let (spread, log_spread, shape) = match workload.load {
        // A batch's prompts have fixed lengths.
        Load::Batch(_) => (0.0, [0.0; 2], None),
        _ => (workload.spread, workload.log_spread, workload.shape),
    };
    // Without drafts nothing is accepted, whatever the form still holds.
    let drafts = Some(workload.drafts).filter(|drafts| drafts.drafted > 0).unwrap_or_default();
    let max_in_flight = workload.max_in_flight.filter(|_| workload.load.may_be_limited());
    let osl = workload.mean_output();
    Some(Workload { isl, osl, spread, log_spread, shape, drafts, max_in_flight, ..workload.clone() })
}

/// The lengths of prompts; `None` if refused.
fn prompts(workload: &Workload, issues: &mut Vec<Issue>) -> Option<Lengths> {
    if workload.spread > 0.0 && matches!(workload.load, Load::Batch(_)) {
        issues.push(Issue::warning(Field::Spread, NO_SPREAD));
    }
    let prompts = match (workload.means(), &workload.isl) {
        (Some((prompt, _)), _) => Lengths::Fixed(prompt),
        (None, Lengths::Each(lengths)) => {
            let outside = lengths.iter().find_map(|length| Field::Isl.input().check(f64::from(*length)));
            issues.extend(each(lengths, workload.load).or(outside));
            workload.isl.clone()
        }
        (None, fixed) => fixed.clone(),
    };
    if let Load::Batch(size) = workload.load {
        let tokens = match &workload.isl {
            Lengths::Fixed(length) => u64::from(*length) * u64::from(size),
            Lengths::Each(lengths) => lengths.iter().copied().map(u64::from).sum(),
        };
        if tokens > MAX_BATCH_TOKENS {
            let text = format!(
                "the batch holds {} prompt tokens, above the limit of {}: use fewer or shorter prompts",
                count(tokens as f64),
                count(MAX_BATCH_TOKENS as f64),
            );
            issues.push(Issue::error(Field::Batch, text));
        }
    }
    if let Load::Sessions(users) = workload.load {
        let requests = u64::from(users) * u64::from(workload.turns.count);
        if requests > MAX_OF_SESSIONS {
            let text = format!(
                "{} sessions of {} turns are {} requests, above the limit of {}: use fewer sessions or turns",
                count(f64::from(users)),
                workload.turns.count,
                count(requests as f64),
                count(MAX_OF_SESSIONS as f64),
            );
            issues.push(Issue::error(Field::Sessions, text));
        }
    }
    let refused = issues.iter().any(|issue| {
        issue.is_error() && (FIELDS.contains(&issue.field) || Load::sizes().contains(&issue.field))
    });
    (!refused).then_some(prompts)
}

/// Why a batch's lengths do not vary.
pub const NO_SPREAD: &str = "a static batch has fixed lengths: choose another load to vary them";

fn each(lengths: &[u32], load: Load) -> Option<Issue> {
    let count = lengths.len();
    let text = match load {
        _ if !matches!(load, Load::Batch(_)) => {
            "a list of prompt lengths needs a static batch: choose that load, or give a histogram".to_owned()
        }
        _ if count == 0 => "the list of prompt lengths is empty".to_owned(),
        _ if count > MAX_LENGTHS => format!("{count} prompt lengths: the limit is {MAX_LENGTHS}"),
        Load::Batch(size) if count != size as usize => {
            format!("{count} prompt lengths for a batch of {size}: give one for each prompt")
        }
        _ => return None,
    };
    Some(Issue::error(Field::Isl, text))
}

/// The limits that `requests` can break: an answer of one token has no TPOT.
pub fn limits(slos: Slos, requests: &[(u32, u32)], issues: &mut Vec<Issue>) -> Slos {
    if slos.tpot_ms.is_none() || requests.iter().any(|(_, output)| *output > 1) {
        return slos;
    }
    let text = "answers of one token have no TPOT: this limit does not apply";
    issues.push(Issue::warning(Field::SloTpot, text));
    Slos { tpot_ms: None, ..slos }
}

/// The longest prompt plus output must fit the model's context: engines refuse longer requests.
pub fn fits_context(workload: &Workload, model: &Model, issues: &mut Vec<Issue>) {
    let requests = workload.longest(model.max_context);
    let whole = |(prompt, output): &(u32, u32)| u64::from(*prompt) + u64::from(*output);
    let Some(&(longest, osl)) = requests.iter().max_by_key(|request| whole(request)) else { return };
    let tokens = whole(&(longest, osl));
    if tokens > u64::from(model.max_context) && workload.load.is_sessions() && workload.turns.count > 1 {
        let text = format!(
            "{} turns come to {} tokens: the context of {} is {}. Use fewer turns, shorter messages or shorter \
            answers",
            workload.turns.count,
            count(tokens as f64),
            model.name,
            count(f64::from(model.max_context)),
        );
        issues.push(Issue::error(Field::Turns, text));
    } else if tokens > u64::from(model.max_context) {
        let text = format!(
            "prompt and output of {} + {} = {} tokens exceed {}'s context of {} tokens: shorten one of them",
            count(f64::from(longest)),
            count(f64::from(osl)),
            count(tokens as f64),
            model.name,
            count(f64::from(model.max_context))
        );
        issues.push(Issue::error(if longest >= osl { Field::Isl } else { Field::Osl }, text));
    }
}

/// Without chunking, a prompt longer than the token budget is never scheduled; neither is a sequence that alone
/// takes more tokens per step.
pub fn fits_budget(requests: &[(u32, u32)], setup: &Setup, issues: &mut Vec<Issue>) {
    let (budget, batching) = (setup.token_budget, setup.engine.scheduler.batching);
    let longest = requests.iter().map(|&(prompt, _)| prompt - setup.cached(prompt)).max().unwrap_or(0);
    let whole = |tokens: u32| count(f64::from(tokens));
    if batching != Batching::PrefillFirst && setup.tokens_verified() > budget {
        let text = format!(
            "a sequence with its drafts takes {} tokens per step, more than the token budget of {}: draft fewer",
            whole(setup.tokens_verified()),
            whole(budget)
        );
        issues.push(Issue::error(Field::Drafted, text));
    }
    if !matches!(setup.workload.load, Load::Batch(_)) && batching == Batching::InFlight && longest > budget {
        let text = format!(
            "a prompt of {} tokens does not fit the token budget of {}. Raise the budget: {} is modelled without chunked \
             prefill",
            whole(longest),
            whole(budget),
            setup.engine.name,
        );
        issues.push(Issue::error(Field::TokenBudget, text));
    } else if batching == Batching::InFlight && setup.tokens_verified() <= budget {
        let ranks = setup.replicas.saturating_mul(setup.parallel.dp).max(1);
        let beside = (budget - longest.min(budget)) / setup.tokens_verified();
        let room = |sequences: u32| longest.saturating_add(sequences.saturating_mul(setup.tokens_verified()));
        // How many run at a rate is not known yet; assume at least one other.
        let others = match setup.workload.load {
            Load::Batch(_) => 0,
            load if load.is_rate() => 1,
            load => (load.amount() as u32).div_ceil(ranks).saturating_sub(1),
        };
        let others = others.min(setup.max_seqs.saturating_sub(1));
        if beside < others {
            let needed = if setup.workload.load.is_rate() { setup.max_seqs } else { others };
            let text = format!(
                "in a step of {} tokens, a prompt of {} leaves room for {} in decode. Set the token budget to at least {}",
                whole(budget),
                whole(longest),
                match beside {
                    0 => "no other requests".into(),
                    1 => "at most one other".into(),
                    others => format!("at most {} others", whole(others)),
                },
                whole(room(needed)),
            );
            issues.push(Issue::warning(Field::TokenBudget, text));
        }
    }
}
