//! What earlier runs on the same server left in its prefix cache.
//!
//! SGLang's benchmark draws its prompts from a fixed seed, so a run of more requests, or of longer ones, begins with the
//! prompts of the run before it, and nothing clears the cache between two runs of a series (`--flush-cache` would).

use super::numpy;
use super::sent::constants;
use crate::config::Model;
use crate::config::model::Attention;
use crate::evidence::launch::SeriesRun;
use crate::serving::sim::{Policy, Request};

/// Marks what the requests of the last run of `series` find in the cache: all of the first prompt, which the warm-up
/// sends, and as much of the others as an earlier run sent and the cache still holds.
pub fn mark(requests: &mut [Request], series: &[SeriesRun], range: [f64; 2], model: &Model, policy: &Policy) {
    let Some((_, before)) = series.split_last() else { return };
    if !keeps_prefixes(model) {
        return;
    }
    requests.iter_mut().take(1).for_each(|first| first.found = first.prompt);
    let mut room = policy.kv_tokens.saturating_mul(u64::from(policy.ranks));
    for run in before.iter().rev() {
        let seed = constants().sglang_seed as u32;
        let sent = numpy::requests(run.requests, (run.isl, run.osl), range, seed);
        let tokens: u64 = sent.iter().map(|one| u64::from(one.prompt) + u64::from(one.output)).sum();
        if tokens > room {
            return;
        }
        room -= tokens;
        for (request, earlier) in requests.iter_mut().zip(&sent) {
            request.found = request.found.max(request.prompt.min(earlier.prompt));
        }
    }
}

/// A recurrent state is kept only for the end of a prompt, so a prompt sent again is computed again.
fn keeps_prefixes(model: &Model) -> bool {
    !model.attentions().any(Attention::recurs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    #[test]
    fn a_run_finds_the_prompts_of_the_runs_before_it() {
        let run = |isl, requests| SeriesRun { isl, osl: 1000, requests };
        let series = [run(1000, 10), run(1000, 80), run(8000, 10)];
        let (range, seed) = ([0.0, 1.0], constants().sglang_seed as u32);
        let found = |model: &str, kv_tokens: u64| {
            let mut requests = numpy::requests(10, (8000, 1000), range, seed);
            let model = catalog().model(model).unwrap();
            let policy = Policy::new(8192, 64, kv_tokens);
            mark(&mut requests, &series, range, model, &policy);
            requests.iter().map(|one| (one.prompt, one.found)).collect::<Vec<_>>()
        };
        let short = numpy::requests(80, (1000, 1000), range, seed);
        let all = found("llama-3.1-8b", 1 << 20);
        assert_eq!(all[0].1, all[0].0, "the warm-up sent it");
        assert!(all.iter().skip(1).zip(&short[1..]).all(|(one, sent)| one.1 == one.0.min(sent.prompt)));
        // What does not fit is gone, and recurrent states are not kept.
        assert!(found("llama-3.1-8b", 1 << 10).iter().skip(1).all(|one| one.1 == 0));
        assert!(found("qwen3-next-80b-a3b-thinking", 1 << 20).iter().all(|one| one.1 == 0));
    }
}
