//! The memory share that an engine takes by default: SGLang's follows from what it leaves free beside weights and KV cache.

use super::catalog::numbers::sglang_memory::constants;
use super::{Figure, Gpu, MemoryShareOf, Parallelism, Scheduler, Usage};
use crate::units::MIB;

/// MiB that SGLang leaves free on a GPU with `total`.
fn left_free(total: f64, (parallel, usage): (Parallelism, Usage), tokens: f64, graph: f64) -> f64 {
    let known = constants();
    let ranks = f64::from(usage.ranks.max(1));
    let mut free = known.constant
        + (tokens * ranks).max(known.least_chunk) * known.chunk_token
        + graph * known.graph_sequence
        + f64::from(parallel.gpus()) * known.replica_gpu;
    if parallel.dp > 1 {
        let more = if graph > known.many_sequences { known.many_rank_sequence } else { 0.0 };
        free += graph * ranks * (known.rank_sequence + more);
    }
    if total > known.large_gpu {
        free = free.max(known.least);
    }
    if usage.verified > 1 { free + known.drafting } else { free }
}

impl Scheduler {
    /// The memory share on `gpu` unless one is set, with a budget of `tokens` on each rank and a CUDA graph for decode steps
    /// of up to `graph` sequences.
    pub fn share_on(&self, gpu: &Gpu, of: (Parallelism, Usage), tokens: f64, graph: Option<u32>) -> Figure {
        let Figure(listed, source) = &self.memory_share;
        let derived = || {
            let total = gpu.memory().ok()?.0 / MIB;
            let free = left_free(total, of, tokens, f64::from(graph.unwrap_or(0)));
            Some(to_share(free, total)).filter(|share| *share > 0.0)
        };
        let derived = if self.memory_share_of == MemoryShareOf::Static { derived() } else { None };
        Figure(derived.or(*listed), source.clone())
    }
}

/// The share without `free` of `total`, with the digits that SGLang keeps.
pub fn to_share(free: f64, total: f64) -> f64 {
    ((1.0 - free / total) * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    #[test]
    fn sglang_takes_what_its_own_formula_leaves() {
        let scheduler = &catalog().engine("sglang").expect("an engine").scheduler;
        for (gpu, tp, share) in
            [("h100-sxm", 1, 0.834), ("h100-sxm", 8, 0.816), ("h200-sxm", 8, 0.897), ("b200", 8, 0.851)]
        {
            let gpu = catalog().gpu(gpu).expect("a GPU");
            let parallel = Parallelism { tp, pp: 1, dp: 1, ep: 1 };
            let usage = Usage::plain(1);
            let (tokens, seqs) = scheduler.limits_on(gpu, usage);
            let graph = scheduler.decode_graph(gpu, parallel, seqs.0.expect("a limit") as u32);
            let tokens = tokens.0.expect("a budget");
            let taken = scheduler.share_on(gpu, (parallel, usage), tokens, graph).0.expect("a share");
            assert!((taken - share).abs() < 0.003, "{} x {tp}: {taken}", gpu.id);
        }
    }
}
