//! A scenario resolved against the catalogs: what the rest of the core works on.

use super::model::Formats;
use super::{Dtype, Engine, Gpu, Load, Model, Slos};

/// A checked scenario: every id resolved, every number in range, every override applied.
#[derive(Debug, Clone)]
pub struct Setup {
    pub model: Model,
    pub gpu: Gpu,
    pub engine: Engine,
    pub tp: u32,
    pub pp: u32,
    /// Groups of `tp` GPUs that attend to requests of their own and share the experts.
    pub dp: u32,
    /// GPUs of a stage that the experts are dealt over; the others cut each expert.
    pub ep: u32,
    pub replicas: u32,
    /// What the checkpoint is named by.
    pub weights: Dtype,
    /// Its formats, by class of layer.
    pub formats: Formats,
    pub kv: Dtype,
    /// Prompt lengths; one entry where all are alike.
    pub prompts: Vec<u32>,
    pub osl: u32,
    /// Share by which both are longer or shorter, uniformly.
    pub spread: f64,
    pub load: Load,
    pub slos: Slos,
    pub token_budget: u32,
    pub max_seqs: u32,
    pub memory_share: f64,
    /// Share of the boost clock held under load.
    pub sustained: f64,
    /// $ per GPU and hour, where one is known or given.
    pub price: Option<f64>,
}

/// The longest of the lengths around `length`.
pub(super) fn spread_up(length: u32, spread: f64) -> u32 {
    (f64::from(length) * (1.0 + spread)).floor() as u32
}

impl Setup {
    /// GPUs of one replica.
    pub fn gpus_per_replica(&self) -> u32 {
        self.tp * self.dp * self.pp
    }

    /// Tokens of a prompt, on average.
    pub fn mean_prompt(&self) -> f64 {
        let tokens: f64 = self.prompts.iter().copied().map(f64::from).sum();
        tokens / self.prompts.len().max(1) as f64
    }

    /// The most tokens of a prompt, and of an output.
    pub fn longest(&self) -> (u32, u32) {
        let prompt = self.prompts.iter().copied().max().unwrap_or(1);
        (spread_up(prompt, self.spread), spread_up(self.osl, self.spread))
    }

    /// GPUs of one stage: those that share its experts.
    pub fn gpus_per_stage(&self) -> u32 {
        self.tp * self.dp
    }
}
