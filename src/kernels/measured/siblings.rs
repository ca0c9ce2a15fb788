//! Rows that sibling GPUs contradict. Siblings are GPUs of one architecture whose records hardly differ.
//!
//! Some tables of whole blocks were measured on hosts of different speed, or with and without fused kernels, and some
//! GEMMs on a GPU that was slower than usual; the rows do not say so. If the same call was measured on several siblings,
//! the time that most of them support counts. Rows that differ from it by more than the records explain are suspect and
//! never used for training.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::config::{Arch, Dtype, Gpu, catalog};

/// The reason under which suspect rows are counted.
pub const SUSPECT: &str = "suspect: sibling GPUs contradict it beyond what their records explain";

/// A hash of everything that distinguishes calls except the GPU: equal for equal calls.
pub(in crate::kernels) fn point(call: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.hash(&mut hasher);
    hasher.finish()
}

/// Which time counts if no more than half of the siblings support any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kernels) enum Tie {
    /// The faster: a slow host only adds time.
    Faster,
    /// All: GEMMs are replayed without the host, and siblings may differ in their kernels.
    All,
}

/// The shortest time of each call on each GPU.
#[derive(Debug)]
pub(in crate::kernels) struct Siblings {
    calls: HashMap<(u64, Arch), Vec<(&'static Gpu, f64)>>,
    tie: Tie,
}

impl Siblings {
    pub fn new(tie: Tie) -> Self {
        Self { calls: HashMap::new(), tie }
    }

    /// Takes one measured time into account; GPUs without a record have no siblings.
    pub fn add(&mut self, point: u64, gpu: &str, micros: f64) {
        let Some(gpu) = catalog().gpu(gpu) else { return };
        let times = self.calls.entry((point, gpu.arch)).or_default();
        match times.iter_mut().find(|(other, _)| other.id == gpu.id) {
            Some((_, least)) => *least = least.min(micros),
            None => times.push((gpu, micros)),
        }
    }

    /// Whether the siblings' common time explains this one; a GPU without siblings agrees with itself.
    pub fn agree(&self, point: u64, gpu: &str, micros: f64) -> bool {
        let Some(gpu) = catalog().gpu(gpu) else { return true };
        let Some(times) = self.calls.get(&(point, gpu.arch)) else { return true };
        let support = |of: (&Gpu, f64)| times.iter().filter(|other| explain(of, **other)).count();
        let common = times.iter().max_by(|a, b| support(**a).cmp(&support(**b)).then(b.1.total_cmp(&a.1)));
        let counts = |common: &&(&Gpu, f64)| self.tie == Tie::Faster || 2 * support(**common) > times.len();
        common.filter(counts).is_none_or(|common| explain((gpu, micros), *common))
    }
}

/// Whether two times of one call differ by no more than the records of the GPUs and the tolerance.
fn explain(a: (&Gpu, f64), b: (&Gpu, f64)) -> bool {
    let (slow, fast) = if a.1 > b.1 { (a, b) } else { (b, a) };
    slow.1 <= fast.1 * super::constants().siblings * advantage(fast.0, slow.0)
}

/// How much faster `fast` may be than `slow` by their records, at least 1.
fn advantage(fast: &Gpu, slow: &Gpu) -> f64 {
    let bandwidth = fast.bandwidth().ok().zip(slow.bandwidth().ok()).map_or(1.0, |(a, b)| a.0 / b.0);
    let compute = [Dtype::Bf16, Dtype::Fp8]
        .map(|dtype| fast.peak(dtype).ok().zip(slow.peak(dtype).ok()).map_or(1.0, |(a, b)| a.0 / b.0));
    compute.into_iter().fold(bandwidth, f64::max).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn four(times: [f64; 4], tie: Tie) -> Siblings {
        let mut siblings = Siblings::new(tie);
        for (gpu, micros) in ["b200", "b300", "gb200", "gb300"].into_iter().zip(times) {
            siblings.add(1, gpu, micros);
        }
        siblings
    }

    #[test]
    fn the_odd_one_out_is_suspect() {
        for tie in [Tie::Faster, Tie::All] {
            let siblings = four([60.0, 100.0, 102.0, 99.0], tie);
            assert!(!siblings.agree(1, "b200", 60.0));
            assert!(siblings.agree(1, "gb300", 99.0));
        }
    }

    #[test]
    fn of_two_camps_the_faster_stands_or_both() {
        let times = [400.0, 410.0, 800.0, 790.0];
        let siblings = four(times, Tie::Faster);
        assert!(siblings.agree(1, "b200", 400.0) && siblings.agree(1, "b300", 410.0));
        assert!(!siblings.agree(1, "gb200", 800.0));
        assert!(four(times, Tie::All).agree(1, "gb200", 800.0));
    }

    #[test]
    fn records_explain_their_share() {
        let mut siblings = Siblings::new(Tie::Faster);
        siblings.add(1, "h100-sxm", 190.0);
        siblings.add(1, "h200-sxm", 100.0);
        // 4.8 against 3.35 TB/s and the tolerance: a factor of 1.93.
        assert!(siblings.agree(1, "h100-sxm", 190.0));
        assert!(!siblings.agree(1, "h100-sxm", 200.0));
        // Nothing explains the newer one being slower.
        siblings.add(2, "h100-sxm", 100.0);
        siblings.add(2, "h200-sxm", 190.0);
        assert!(!siblings.agree(2, "h200-sxm", 190.0));
    }

    #[test]
    fn a_gpu_alone_is_believed() {
        let mut siblings = Siblings::new(Tie::Faster);
        siblings.add(1, "l40s", 5.0);
        assert!(siblings.agree(1, "l40s", 5.0) && siblings.agree(9, "l40s", 5.0));
    }
}
