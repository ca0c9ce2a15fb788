//! What the attention calculators share: loads of the SMs, and work that is linear in them.

use rooflight::kernels::Sequences;
use rooflight::kernels::reference::{Pipe, Traffic};

use super::counts::AttentionCounts;

const BF16_BYTES: f64 = 2.0;

/// How K and V lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KvLayout {
    /// Contiguous per request, straight from the projection: prefill without a prefix.
    Ragged,
    /// In pages of the KV cache: decode, and prefill after a prefix.
    Paged,
}

/// What lies on one SM: thread blocks that have work, and their steps over KV tiles.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SmLoad {
    pub tasks: f64,
    pub iterations: f64,
}

impl std::ops::AddAssign for SmLoad {
    fn add_assign(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.iterations += other.iterations;
    }
}

/// Work of a thread block: so much per task, so much per iteration.
#[derive(Debug, Clone, Copy)]
pub struct Linear {
    pub task: f64,
    pub iteration: f64,
}

impl Linear {
    fn of(self, load: &SmLoad) -> f64 {
        self.task * load.tasks + self.iteration * load.iterations
    }

    fn over(self, loads: &[SmLoad]) -> Pipe {
        let work = || loads.iter().map(|load| self.of(load));
        Pipe { all: work().sum(), busiest: work().fold(0.0, f64::max) }
    }
}

/// Counts of SMs loaded so, nothing where no task has work. The busiest SM is found for each pipe on its
/// own, as in the reference.
/// `flops_factor` is tensor work done per useful FLOP of a tile.
pub fn counts(
    loads: &[SmLoad],
    tile: [u64; 2],
    head_dim: u64,
    flops_factor: f64,
    xu: Linear,
) -> AttentionCounts {
    let tasks: f64 = loads.iter().map(|load| load.tasks).sum();
    if tasks == 0.0 {
        return AttentionCounts::default();
    }
    let [rows, tokens] = tile.map(|side| side as f64);
    let head = head_dim as f64;
    let tensor = Linear { task: 0.0, iteration: flops_factor * 4.0 * rows * tokens * head };
    // Quirk: one of K and V is counted, and no output.
    let bytes = Linear { task: rows * head * BF16_BYTES, iteration: tokens * head * BF16_BYTES }.over(loads);
    AttentionCounts {
        tensor: tensor.over(loads),
        xu: xu.over(loads),
        memory: Traffic { all_kib: bytes.all / 1024.0, busiest_kib: bytes.busiest / 1024.0 },
    }
}

/// Special-function work of the Hopper and Blackwell kernels: a tile of exponentials per iteration,
/// rescaling of the rows after the first, and the final division.
pub fn pipelined_softmax([rows, tokens]: [u64; 2]) -> Linear {
    let (rows, tokens) = (rows as f64, tokens as f64);
    let iteration = rows * (4.0 + tokens);
    Linear { task: rows * tokens - iteration + 8.0 * rows, iteration }
}

/// All tokens of a sequence.
pub fn kv_len(sequences: &Sequences) -> u64 {
    sequences.past.saturating_add(sequences.new)
}

/// Sum over groups of sequences.
pub fn total(groups: &[Sequences], of: impl Fn(&Sequences) -> u64) -> u64 {
    groups.iter().map(of).fold(0, u64::saturating_add)
}
