//! A scenario resolved against the catalogs: the input of the rest of the core.

use super::model::{Blocks, Formats};
use super::{Dtype, Engine, Field, Gpu, Issue, Lengths, MissingFigure, Model, Parallelism, Workload};
use crate::units::FlopsPerSecond;

/// Bytes per element of a recurrence's state where nothing is said: models ask for 32 bits (`mamba_ssm_dtype`).
pub const STATE_BYTES: u32 = 4;

/// A checked scenario: every id resolved, every number in range, every override applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    pub model: Model,
    pub gpu: Gpu,
    pub engine: Engine,
    pub parallel: Parallelism,
    pub replicas: u32,
    /// The prefill workers, if the replicas only decode.
    pub prefill: Option<Box<PrefillPool>>,
    /// The format the checkpoint is named by.
    pub weights: Dtype,
    /// Formats by class of layer.
    pub formats: Formats,
    pub kv: Dtype,
    /// Bytes per element of a recurrence's state.
    pub state_bytes: u32,
    /// The scenario's, as it applies: with a histogram, its means are the lengths; a batch has fixed lengths; without
    /// drafts nothing is accepted; images and limits are those that the model and the lengths allow.
    pub workload: Workload,
    /// Tokens of one image: as given, or else the model's.
    pub image_tokens: u32,
    pub token_budget: u32,
    pub max_seqs: u32,
    pub memory_share: f64,
    /// The largest decode step with a CUDA graph, in sequences (vLLM: tokens, drafted ones too); 0 if there is none.
    pub largest_graph: u32,
    /// Fraction of the boost clock sustained under load.
    pub sustained: f64,
    /// Power cap per GPU in watts if below its limit; `sustained` is the clock it leaves.
    pub power_cap: Option<f64>,
    /// Facility power over GPU power, at least 1.
    pub power_overhead: f64,
    /// $ per GPU-hour, where one is known or given.
    pub price: Option<f64>,
}

/// Workers that prefill prompts and send the KV cache on.
#[derive(Debug, Clone, PartialEq)]
pub struct PrefillPool {
    /// The setup of one worker, whose requests end with their first token; its replicas are the workers.
    pub setup: Setup,
    /// GB/s and microseconds of a transfer to decode, if given.
    pub send_gb_per_s: Option<f64>,
    pub send_us: Option<f64>,
}

impl Setup {
    /// The setup with requests that end with their first token.
    pub fn of_prompts(&self) -> Self {
        self.under(|workload| {
            (workload.osl, workload.log_spread[1]) = (1, 0.0);
            workload.histogram.iter_mut().for_each(|bin| bin.output = 1);
        })
    }

    /// Tokens of a decode step of as many sequences as may run on a rank.
    pub fn max_decoding(&self) -> u32 {
        self.max_seqs.saturating_mul(self.tokens_verified())
    }

    /// The largest decode step with a CUDA graph, if not the engine's default.
    pub fn graph_not_by_default(&self) -> Option<u32> {
        let default = self.engine.scheduler.decode_graph(&self.gpu, self.parallel, self.max_decoding());
        Some(self.largest_graph).filter(|_| default.is_some_and(|default| default != self.largest_graph))
    }

    /// The setup under a changed workload.
    pub fn under(&self, change: impl FnOnce(&mut Workload)) -> Self {
        let mut setup = self.clone();
        change(&mut setup.workload);
        setup
    }

    /// What a step's time depends on: the same for all requests, any number of replicas and any price.
    pub fn without_requests(&self) -> Self {
        let Workload { drafts, images, .. } = self.workload;
        let one = Workload { isl: Lengths::Fixed(1), osl: 1, drafts, images, ..Workload::default() };
        Self { workload: one, replicas: 1, prefill: None, price: None, ..self.clone() }
    }

    /// The setup that prefills prompts: the prefill workers, if there are any.
    pub fn prefill_setup(&self) -> &Self {
        self.prefill.as_ref().map_or(self, |pool| &pool.setup)
    }

    /// An error about a missing figure, at the input of the GPU that lacks it.
    pub fn lacks(&self, missing: &MissingFigure) -> Issue {
        let of_prefill = self.prefill.as_ref().is_some_and(|pool| pool.setup.gpu.name == missing.gpu);
        let field = if of_prefill && missing.gpu != self.gpu.name { Field::PrefillGpu } else { Field::Gpu };
        Issue::error(field, missing.to_string())
    }

    /// Number of identical, independent parts of the system, one of which is simulated; pools count as one.
    pub fn copies(&self) -> u32 {
        if self.prefill.is_some() { 1 } else { self.replicas.max(1) }
    }

    /// The replicas and, if there are any, the prefill workers.
    pub fn parts(&self) -> impl Iterator<Item = &Self> {
        [Some(self), self.prefill.as_ref().map(|pool| &pool.setup)].into_iter().flatten()
    }

    /// GPUs of all replicas, without those of prefill workers.
    pub fn own_gpus(&self) -> u32 {
        self.parallel.gpus().saturating_mul(self.replicas)
    }

    /// GPUs of all replicas, and of the prefill workers, if any.
    pub fn gpus(&self) -> u32 {
        self.parts().map(Self::own_gpus).fold(0, u32::saturating_add)
    }

    /// The dense peak of the weights' format, or of 16 bits where the GPU does not multiply it.
    pub fn peak(&self) -> Result<FlopsPerSecond, MissingFigure> {
        self.gpu.peak(self.gpu.math_or_bf16(self.weights))
    }

    /// Dollars per hour for all of these, if every price is known.
    pub fn dollars_per_hour(&self) -> Option<f64> {
        self.parts().map(|part| Some(part.price? * f64::from(part.own_gpus()))).sum()
    }

    /// Ranks that share the LM head.
    pub fn head_ranks(&self) -> u32 {
        let groups = if self.engine.shares_head { self.parallel.dp } else { 1 };
        self.parallel.tp * groups
    }

    /// The layer that drafts, if tokens are drafted.
    pub fn drafting_layer(&self) -> Option<Blocks> {
        (self.workload.drafts.drafted > 0).then(|| self.model.drafting_layer()).flatten()
    }

    /// Nodes of one replica: as many whole stages per node as fit.
    pub fn nodes(&self) -> u32 {
        let stage = self.parallel.gpus_per_stage();
        let own = self.gpu.in_one_node(stage);
        stage.div_ceil(own.max(1)) * self.parallel.pp.div_ceil(self.stages_per_node())
    }

    /// Stages whose successor is on another node.
    pub fn crossings(&self) -> u32 {
        self.parallel.pp.saturating_sub(1) / self.stages_per_node()
    }

    fn stages_per_node(&self) -> u32 {
        (self.gpu.link.domain / self.parallel.gpus_per_stage().max(1)).max(1)
    }
}
