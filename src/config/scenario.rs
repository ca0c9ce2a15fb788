//! A scenario: everything a link holds. Unchecked; `check` resolves it against the catalogs.

use super::{Dtype, Model};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelChoice {
    /// A catalog id.
    Catalog(String),
    /// A model imported by the visitor.
    Custom(Box<Model>),
}

impl ModelChoice {
    pub fn id(&self) -> &str {
        match self {
            Self::Catalog(id) => id,
            Self::Custom(model) => &model.id,
        }
    }
}

/// How requests come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// This many clients, each sending its next request when the last one ends.
    Concurrency(u32),
    /// So many requests per second, whoever still waits; independent of each other (Poisson).
    Rate(f64),
    /// This many prompts at once, prefilled in one pass, decoded together to the end.
    Batch(u32),
}

impl Load {
    /// How many: clients, requests per second or prompts.
    pub fn amount(self) -> f64 {
        match self {
            Self::Concurrency(count) | Self::Batch(count) => f64::from(count),
            Self::Rate(rate) => rate,
        }
    }
}

/// Prompt lengths of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lengths {
    /// Every prompt is this long.
    Fixed(u32),
    /// One length per prompt (measured batches); the load's size is their number.
    Each(Vec<u32>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    pub isl: Lengths,
    pub osl: u32,
    /// Share by which prompts and outputs are longer or shorter, uniformly (`--random-range-ratio` of
    /// `vllm bench serve`).
    pub spread: f64,
    pub load: Load,
    pub slos: Slos,
}

/// What every request is to keep to; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Slos {
    /// Milliseconds to the first token.
    pub ttft_ms: Option<f64>,
    /// Milliseconds per output token after the first.
    pub tpot_ms: Option<f64>,
}

/// Engine and hardware settings a visitor may set; `None` is the catalog's figure.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    pub token_budget: Option<u32>,
    pub max_seqs: Option<u32>,
    /// Share of memory the engine takes, 0..1.
    pub memory_share: Option<f64>,
    /// Share of the boost clock held under load, 0..1.
    pub sustained: Option<f64>,
    /// $ per GPU and hour.
    pub price: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    pub model: ModelChoice,
    pub gpu: String,
    pub engine: String,
    pub tp: u32,
    pub pp: u32,
    /// Groups of `tp` GPUs that attend to requests of their own and share the experts.
    pub dp: u32,
    /// GPUs of a stage that the experts are dealt over; the others cut each expert.
    pub ep: u32,
    pub replicas: u32,
    /// Format of the linear layers' weights; `None` is the model's published format.
    pub weights: Option<Dtype>,
    pub kv: Dtype,
    pub workload: Workload,
    pub overrides: Overrides,
}

impl Scenario {
    /// GPUs of one replica.
    pub fn gpus_per_replica(&self) -> u64 {
        [self.tp, self.dp, self.pp].map(u64::from).into_iter().product()
    }
}

impl Default for Scenario {
    /// The defaults of link schema version 1. Frozen: a link names only what differs from them.
    fn default() -> Self {
        Self {
            model: ModelChoice::Catalog("llama-3.1-8b".into()),
            gpu: "h100-sxm".into(),
            engine: "vllm".into(),
            tp: 1,
            pp: 1,
            dp: 1,
            ep: 1,
            replicas: 1,
            weights: None,
            kv: Dtype::Bf16,
            workload: Workload {
                isl: Lengths::Fixed(1024),
                osl: 512,
                spread: 0.0,
                load: Load::Concurrency(16),
                slos: Slos::default(),
            },
            overrides: Overrides::default(),
        }
    }
}
