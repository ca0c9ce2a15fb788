//! Whether a setup fits in memory, and what bounds it.

use crate::config::{Batching, Field, Issue, Load, MissingFigure, Setup};
use crate::units::{Bytes, GIB, count};

use super::fitting::smallest_change;
use super::replica::policy;
use super::report::Memory;

/// The load's demands on one replica's memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// KV cache tokens of all its requests, if every rank holds what the fullest does.
    pub kv_tokens: f64,
    /// Tokens of its largest step.
    pub step_tokens: f64,
    /// Final tokens of one sequence.
    pub sequence_tokens: f64,
}

impl Demand {
    pub fn of(setup: &Setup) -> Self {
        let sequence_tokens = setup.longest_sequence() + f64::from(setup.workload.drafts.drafted);
        match setup.workload.load {
            Load::Batch(_) => {
                let prompts = prompts_of_one_rank(setup);
                let step_tokens = prompts.iter().map(|&length| f64::from(length)).sum::<f64>();
                let outputs = prompts.len() as f64 * f64::from(setup.workload.osl);
                let kv_tokens = (step_tokens + outputs) * f64::from(setup.parallel.dp);
                Self { kv_tokens, step_tokens, sequence_tokens }
            }
            _ => {
                // Where the number in flight follows from step times, one is the minimum.
                let running = most_in_flight(setup).map_or(1.0, |most| clients_per_replica(setup, most).0);
                Self {
                    kv_tokens: running * tokens_held(setup),
                    step_tokens: f64::from(setup.token_budget),
                    sequence_tokens,
                }
            }
        }
    }
}

/// The most requests in flight on all replicas; `None` if that follows from step times.
fn most_in_flight(setup: &Setup) -> Option<u32> {
    match setup.workload.load {
        Load::Concurrency(all) | Load::Offline(all) | Load::Sessions(all) | Load::Batch(all) => Some(all),
        Load::Burst(all) => Some(setup.workload.max_in_flight.map_or(all, |most| most.min(all))),
        Load::Rate(_) | Load::ConstantRate(_) | Load::SessionRate(_) => None,
    }
}

/// Clients per busy replica, and the number of busy replicas.
pub fn clients_per_replica(setup: &Setup, clients: u32) -> (f64, f64) {
    shared(clients, setup.replicas.max(1))
}

/// Clients per busy copy of what a run simulates (one replica, or all workers of both pools), and the number of busy
/// copies.
pub fn clients_per_copy(setup: &Setup, clients: u32) -> (f64, f64) {
    shared(clients, setup.copies())
}

fn shared(clients: u32, parts: u32) -> (f64, f64) {
    let clients = f64::from(clients.max(1));
    let busy = clients.min(f64::from(parts));
    (clients / busy, busy)
}

/// The prompts of a batch on the most loaded replica, assigned round-robin. Empty if the load is not a batch.
pub fn prompts_of_one_replica(setup: &Setup) -> Vec<u32> {
    let Load::Batch(size) = setup.workload.load else { return Vec::new() };
    let replicas = setup.replicas.max(1) as usize;
    match setup.workload.isl.each() {
        [one] => vec![*one; (size as usize).div_ceil(replicas).max(1)],
        each => largest_share(each, replicas),
    }
}

/// The prompts of a batch on the most loaded attention data parallel rank of the most loaded replica, assigned
/// round-robin to both.
pub fn prompts_of_one_rank(setup: &Setup) -> Vec<u32> {
    largest_share(&prompts_of_one_replica(setup), setup.parallel.dp.max(1) as usize)
}

/// The share with the most tokens, of `prompts` assigned round-robin to as many.
fn largest_share(prompts: &[u32], shares: usize) -> Vec<u32> {
    let of = |share| prompts.iter().copied().skip(share).step_by(shares).collect::<Vec<_>>();
    let tokens = |prompts: &Vec<u32>| prompts.iter().copied().map(u64::from).sum::<u64>();
    (0..shares.min(prompts.len())).map(of).max_by_key(tokens).unwrap_or_default()
}

/// Mean KV cache tokens held per request: an engine that never evicts reserves the whole sequence, others fill it
/// gradually.
pub fn tokens_held(setup: &Setup) -> f64 {
    let (isl, osl) = (setup.mean_prompt(), f64::from(setup.workload.osl));
    match setup.engine.scheduler.batching {
        Batching::InFlight => isl + osl,
        Batching::MixedChunks | Batching::PrefillFirst => isl + osl / 2.0,
    }
}

/// How issues of setups that do not fit begin, for readers who see them without their verdict.
pub const UNFIT: &str = "Does not fit: ";

/// The number of requests that run at once on a replica, or `None` if it does not fit; with issues.
pub fn verdict(
    setup: &Setup,
    demand: &Demand,
    memory: &Memory,
) -> Result<(Option<f64>, Vec<Issue>), MissingFigure> {
    let sequence = memory.kv_per_token * demand.sequence_tokens;
    if memory.kv_tokens < 1.0 {
        let need = memory.weights + memory.activations + memory.reserve;
        let text = format!(
            "{UNFIT}weights ({}), activations ({}), runtime and buffers ({}) need {}, and only {} is usable on each {}. {}{}",
            memory.weights.print(),
            memory.activations.print(),
            memory.reserve.print(),
            need.print(),
            memory.usable.print(),
            setup.gpu.name,
            may_start(memory, sequence),
            smallest_change(setup, demand)?,
        );
        return Ok((None, vec![Issue::error(Field::Gpu, text)]));
    }
    // A sequence stays on its rank.
    let kv_tokens = (memory.kv_tokens / f64::from(setup.parallel.dp)).floor();
    if demand.sequence_tokens > kv_tokens {
        let text = format!(
            "{UNFIT}one sequence of {} tokens needs {} of KV cache, but only {} is left ({} tokens). {}{}",
            count(demand.sequence_tokens),
            sequence.print(),
            memory.kv_room.print(),
            count(kv_tokens),
            may_start(memory, sequence),
            smallest_change(setup, demand)?,
        );
        let field = if setup.workload.session().is_some() { Field::Turns } else { Field::Isl };
        return Ok((None, vec![Issue::error(field, text)]));
    }
    let served = |clients: Option<f64>| {
        let (running, issues) = loop_verdict(setup, memory, clients);
        (Some(running), issues)
    };
    let (running, mut issues) = match setup.workload.load {
        Load::Batch(_) => batch_verdict(setup, demand, memory)?,
        _ => served(most_in_flight(setup).map(|most| clients_per_replica(setup, most).0)),
    };
    let pauses = setup.workload.session().is_some_and(|turns| turns.think_s > 0.0);
    match setup.workload.load {
        // In a queue waiting is the point; with pauses only the run says how many users have a request at once.
        load if pauses || matches!(load, Load::Offline(_)) => issues.retain(Issue::is_error),
        // A burst waits for the engine's limit as a matter of course, but not for memory.
        Load::Burst(_) => issues.retain(|issue| issue.is_error() || issue.field == Field::Burst),
        _ => {}
    }
    issues.extend(host_cache(setup, memory, sequence));
    let spare = memory.kv_room - sequence;
    if running.is_some() && spare < memory.margin {
        let text = format!(
            "Fits with {} to spare, less than the estimate's error of {}: the engine may fail to start.",
            spare.print(),
            memory.margin.print()
        );
        issues.push(Issue::warning(Field::MemoryShare, text));
    }
    Ok((running, issues))
}

/// What is wrong with the size of the host's cache; `sequence` is the longest session's.
fn host_cache(setup: &Setup, memory: &Memory, sequence: Bytes) -> Option<Issue> {
    let host = Bytes(setup.host_gib() * GIB);
    let text = match setup.engine.scheduler.batching {
        _ if host == Bytes::ZERO => return None,
        _ if host < sequence => {
            format!(
                "a session takes up to {}: enter at least that, or no whole session fits",
                sequence.print()
            )
        }
        Batching::PrefillFirst if host <= memory.kv_room => format!(
            "{} does not start with a host cache smaller than its KV cache on the GPU, {}: enter more",
            setup.engine.name,
            memory.kv_room.print()
        ),
        _ => return None,
    };
    Some(Issue::warning(Field::HostCache, text))
}

/// A note if it does not fit only within the margin of error; `needed` is the required KV cache.
fn may_start(memory: &Memory, needed: Bytes) -> String {
    let short = memory.missing + needed - memory.kv_room;
    if short < memory.margin {
        format!(
            "It is short by {}, less than the estimate's error of {}: it may start after all. ",
            short.print(),
            memory.margin.print()
        )
    } else {
        String::new()
    }
}

fn batch_verdict(
    setup: &Setup,
    demand: &Demand,
    memory: &Memory,
) -> Result<(Option<f64>, Vec<Issue>), MissingFigure> {
    let prompts = prompts_of_one_replica(setup).len() as f64;
    if demand.kv_tokens <= memory.kv_tokens {
        return Ok((Some(prompts), Vec::new()));
    }
    let of_rank = prompts_of_one_rank(setup).len() as f64;
    let largest = (memory.kv_tokens * of_rank / demand.kv_tokens).floor() * f64::from(setup.parallel.dp);
    let text = format!(
        "{UNFIT}a batch of {} needs {} of KV cache, but only {} is left. Use at most {} prompts. {}",
        count(prompts),
        memory.kv_needed.print(),
        memory.kv_room.print(),
        count(largest),
        smallest_change(setup, demand)?,
    );
    Ok((None, vec![Issue::error(Field::Batch, text)]))
}

/// `clients` of one replica; `None` for loads at a rate, which run as many as fit.
fn loop_verdict(setup: &Setup, memory: &Memory, clients: Option<f64>) -> (f64, Vec<Issue>) {
    let by_memory = (memory.kv_tokens / tokens_held(setup)).floor().max(1.0);
    let by_cap = f64::from(policy(setup, memory).slots().max(1)) * f64::from(setup.parallel.dp);
    let most = by_memory.min(by_cap);
    let clients = clients.unwrap_or(most);
    let running = clients.min(most);
    let mut issues = Vec::new();
    if running < clients {
        let (cause, field) = if by_memory <= by_cap {
            (format!("the KV cache holds {} tokens", count(memory.kv_tokens)), setup.workload.load.size())
        } else if setup.engine.scheduler.batching == Batching::MixedChunks
            && setup.max_seqs == setup.token_budget
        {
            // Where every sequence takes at least a token of each step, the budget limits them.
            (format!("a step takes {} tokens", count(by_cap)), Field::TokenBudget)
        } else {
            (format!("the engine's limit of sequences is {}", count(by_cap)), Field::MaxSeqs)
        };
        let text = format!(
            "At most {}{} of {} requests run at once on a replica: {cause}. The rest wait.",
            if by_memory <= by_cap { "about " } else { "" },
            count(running),
            count(clients.ceil())
        );
        issues.push(Issue::warning(field, text));
    }
    (running, issues)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;
    use crate::config::check;
    use crate::config::link::decode;

    #[test]
    fn the_fullest_rank_counts() {
        let demand = |link: &str| {
            let setup = check(&decode(link).0.scenario, catalog()).0.expect("checked");
            (prompts_of_one_rank(&setup), Demand::of(&setup).kv_tokens)
        };
        let of = "m=qwen3-30b-a3b&tp=1&ep=2&dp=2&osl=100";
        assert_eq!(
            demand(&format!("{of}&b=4&isl=1000,8000,1000,8000")),
            (vec![8000, 8000], 2.0 * 2.0 * 8100.0)
        );
        assert_eq!(demand(&format!("{of}&b=3&isl=1000")), (vec![1000, 1000], 2.0 * 2.0 * 1100.0));
    }
}
