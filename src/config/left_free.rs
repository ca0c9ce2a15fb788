//! The memory share that an engine takes by default, from what it leaves free.

use serde::{Deserialize, Serialize};

use super::{Figure, Gpu, Parallelism, Scheduler, Usage, Version};
use crate::units::MIB;

/// What an engine leaves free beside weights and KV cache unless a share is set, in MiB.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LeftFree {
    /// The first version for which it no longer holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Version>,
    /// On GPUs with less memory than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    pub constant: f64,
    /// For each token of a prefill chunk, and the fewest that count.
    pub chunk_token: f64,
    pub least_chunk: f64,
    /// For each sequence of the largest CUDA graph.
    pub graph_sequence: f64,
    /// For each GPU of a replica.
    pub gpu: f64,
    /// With attention DP, and then for each of its ranks and sequence of the largest CUDA graph, the last if these are more than
    /// `many_sequences`.
    pub ranks: f64,
    pub rank_sequence: f64,
    pub many_sequences: f64,
    pub many_rank_sequence: f64,
    /// At least this, on GPUs with more than `large_gpu`.
    pub least: f64,
    pub large_gpu: f64,
    /// If tokens are drafted.
    pub drafting: f64,
    pub source: String,
}

/// What it depends on besides the GPU.
#[derive(Debug, Clone, Copy)]
pub struct StartUp<'a> {
    /// The newest if `None`.
    pub version: Option<&'a Version>,
    pub parallel: Parallelism,
    pub usage: Usage,
    /// The token budget of each rank.
    pub tokens: f64,
    /// The largest CUDA graph of a decode step.
    pub graph: u32,
}

impl LeftFree {
    fn holds(&self, total: f64, version: Option<&Version>) -> bool {
        let is_before = |before: &Version| version.is_some_and(|version| version < before);
        self.before.as_ref().is_none_or(is_before) && self.below.is_none_or(|below| total < below)
    }

    /// MiB, of a GPU with `total`. `chunk` is that of all ranks.
    fn mib(&self, total: f64, chunk: f64, start_up: StartUp<'_>) -> f64 {
        let StartUp { parallel, usage, graph, .. } = start_up;
        let graph = f64::from(graph);
        let mut free = self.constant
            + chunk.max(self.least_chunk) * self.chunk_token
            + graph * self.graph_sequence
            + f64::from(parallel.gpus()) * self.gpu;
        if parallel.dp > 1 {
            let more = if graph > self.many_sequences { self.many_rank_sequence } else { 0.0 };
            free += self.ranks + graph * f64::from(parallel.dp) * (self.rank_sequence + more);
        }
        if total > self.large_gpu {
            free = free.max(self.least);
        }
        if usage.verified > 1 { free + self.drafting } else { free }
    }
}

impl Scheduler {
    /// The memory share on `gpu` unless one is set.
    pub fn share_on(&self, gpu: &Gpu, start_up: StartUp<'_>) -> Figure {
        let Ok(total) = gpu.memory().map(|memory| memory.0 / MIB) else { return self.memory_share.clone() };
        let ranks = if self.given_for_all_ranks { f64::from(start_up.usage.ranks.max(1)) } else { 1.0 };
        let share = |rule: &LeftFree| 1.0 - rule.mib(total, start_up.tokens * ranks, start_up) / total;
        let found = self.left_free.iter().find(|rule| rule.holds(total, start_up.version));
        let figure = found.map(|rule| Figure(Some((share(rule) * 1e3).round() / 1e3), rule.source.clone()));
        figure.filter(|figure| figure.0 > Some(0.0)).unwrap_or_else(|| self.memory_share.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    #[test]
    fn sglang_takes_what_its_own_formula_leaves() {
        let scheduler = &catalog().engine("sglang").expect("an engine").scheduler;
        let older = Version::from("0.5.2");
        for (gpu, tp, version, share) in [
            ("h100-sxm", 1, None, 0.834),
            ("h100-sxm", 8, None, 0.816),
            ("h200-sxm", 8, None, 0.897),
            ("b200", 8, None, 0.855),
            ("h100-sxm", 2, Some(&older), 0.867),
            ("h200-sxm", 8, Some(&older), 0.886),
        ] {
            let gpu = catalog().gpu(gpu).expect("a GPU");
            let parallel = Parallelism { tp, pp: 1, dp: 1, ep: 1 };
            let usage = Usage::plain(1);
            let (tokens, seqs) = scheduler.limits_on(gpu, usage);
            let graph =
                scheduler.decode_graph(gpu, parallel, seqs.0.expect("a limit") as u32).expect("a rule");
            let start_up = StartUp { version, parallel, usage, tokens: tokens.0.expect("a budget"), graph };
            let taken = scheduler.share_on(gpu, start_up).0.expect("a share");
            assert!((taken - share).abs() < 0.004, "{} x {tp}: {taken}", gpu.id);
        }
    }
}
