//! A table as the cost of a simulation's steps.

use super::{Hosted, Prompts, Work};
use crate::serving::sim::{StepCost, StepLoad};

impl StepCost for Hosted<'_> {
    fn seconds(&self, ranks: &[StepLoad<'_>]) -> f64 {
        let works: Vec<Work> = ranks.iter().map(work).collect();
        self.step(&works).map_or(f64::NAN, |seconds| seconds.0)
    }
}

fn work(load: &StepLoad<'_>) -> Work {
    let chunks = load.chunks.iter().map(|chunk| (f64::from(chunk.new), f64::from(chunk.past)));
    Work {
        prompts: Prompts::of(chunks),
        decoding: f64::from(load.decoding),
        decoding_kv: load.decoding_kv as f64,
        drafted: f64::from(load.drafted),
    }
}
