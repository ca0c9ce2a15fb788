//! A scenario: the full content of a link, unchecked. `check` resolves it against the catalogs.

use super::catalog::catalog;
use super::model::Size;
use super::{Dtype, Gpu, Load, Measured, Model, Parallelism, Scheduler, SpecSheet, Usage, Workload};

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

    /// `None` if the catalog has no such model.
    pub fn record(&self) -> Option<&Model> {
        match self {
            Self::Catalog(id) => catalog().model(id),
            Self::Custom(model) => Some(model),
        }
    }
}

/// Engine and hardware settings; `None` means the catalog's figure.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    pub token_budget: Option<u32>,
    pub max_seqs: Option<u32>,
    /// Fraction of memory the engine uses, 0..1.
    pub memory_share: Option<f64>,
    /// The largest decode step with a CUDA graph, as in [`DecodeGraphs`](super::DecodeGraphs); 0 for none.
    pub largest_graph: Option<u32>,
    /// Fraction of the boost clock sustained under load, 0..1.
    pub sustained: Option<f64>,
    /// Power cap per GPU in watts, below its limit.
    pub power_cap: Option<f64>,
    /// Facility power over GPU power, at least 1.
    pub power_overhead: Option<f64>,
    /// $ per GPU-hour.
    pub price: Option<f64>,
}

/// Separate prefill workers. The replicas then only decode.
#[derive(Debug, Clone, PartialEq)]
pub struct Prefill {
    /// 0: none, each replica prefills its own prompts.
    pub workers: u32,
    /// A GPU id; `None` for the decode GPU type.
    pub gpu: Option<String>,
    /// Layout of one worker.
    pub parallel: Parallelism,
    /// `None` for that of the replicas.
    pub token_budget: Option<u32>,
    /// Dollars per GPU-hour of another GPU than the replicas'; `None` for the catalog's.
    pub price: Option<f64>,
    /// GB/s at which a GPU sends KV cache to a decode worker; `None` for the rate of its link or network.
    pub send_gb_per_s: Option<f64>,
    /// Fixed time of a transfer in microseconds; `None` for the measured handover time.
    pub send_us: Option<f64>,
}

impl Default for Prefill {
    fn default() -> Self {
        Self {
            workers: 0,
            gpu: None,
            parallel: Parallelism::NONE,
            token_budget: None,
            price: None,
            send_gb_per_s: None,
            send_us: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    pub model: ModelChoice,
    pub gpu: String,
    /// Figures in place of that GPU's.
    pub spec: SpecSheet,
    pub engine: String,
    pub parallel: Parallelism,
    pub replicas: u32,
    pub prefill: Prefill,
    /// Format of the linear layers' weights; `None` is the model's published format.
    pub weights: Option<Dtype>,
    pub kv: Dtype,
    pub workload: Workload,
    pub overrides: Overrides,
    /// For comparison; the prediction does not depend on it.
    pub measured: Measured,
}

impl Scenario {
    /// GPUs of all replicas and prefill workers.
    pub fn gpus(&self) -> u32 {
        let prefill = self.prefill.parallel.gpus().saturating_mul(self.prefill.workers);
        self.parallel.gpus().saturating_mul(self.replicas).saturating_add(prefill)
    }

    /// Whether there are separate prefill workers.
    pub fn has_pools(&self) -> bool {
        self.prefill.workers > 0
    }

    /// Chooses another GPU, and resets what was set by hand for the one before: figures, clock, power cap and price.
    pub fn put_on(&mut self, gpu: &str) {
        (self.gpu, self.spec) = (gpu.to_owned(), SpecSheet::default());
        let overrides = &mut self.overrides;
        (overrides.sustained, overrides.power_cap, overrides.price) = (None, None, None);
    }

    /// Chooses another engine, and resets the scheduler settings, which were for the one before.
    pub fn run_by(&mut self, engine: &str) {
        engine.clone_into(&mut self.engine);
        let overrides = &mut self.overrides;
        (overrides.token_budget, overrides.max_seqs) = (None, None);
        (overrides.memory_share, overrides.largest_graph) = (None, None);
    }

    /// A typical workload: the tokens of its prompts and outputs, the share of prompts in the prefix cache, and the
    /// prompts of an offline queue, for which nobody waits. Without such a queue the load stays unless it is a job.
    pub fn use_workload(&mut self, (isl, osl, cached): (u32, u32, f64), prompts: u32) {
        let workload = &mut self.workload;
        workload.set_mean_prompt(Some(f64::from(isl)));
        workload.set_mean_output(Some(f64::from(osl)));
        workload.cached_share = cached;
        if prompts > 0 {
            workload.load = Load::Offline(prompts);
            (workload.slos.ttft_ms, workload.slos.tpot_ms) = (None, None);
        } else if matches!(workload.load, Load::Offline(_)) {
            workload.load = Workload::default().load;
        }
    }

    /// The format of its weights: the published one if none is chosen; `None` for an unknown model.
    pub fn weights_format(&self) -> Option<Dtype> {
        self.weights.or_else(|| Some(self.model.record()?.weights))
    }

    /// A size of its model; `None` if the model has no such size.
    pub fn size(&self, size: Size) -> Option<f64> {
        self.model.record()?.size(size).map(f64::from)
    }

    /// Edits a size of its model, which becomes one of the visitor's.
    pub fn resize(&mut self, size: Size, value: f64) {
        let Some(model) = self.model.record() else { return };
        let own = model.resized(size, value as u32);
        if own != *model {
            self.model = match own.restored(|id| catalog().model(id)) {
                Some(listed) => ModelChoice::Catalog(listed.id.clone()),
                None => ModelChoice::Custom(Box::new(own)),
            };
        }
    }

    /// The largest decode step with a CUDA graph by default.
    pub fn decode_graph(&self, scheduler: &Scheduler, gpu: &Gpu) -> Option<u32> {
        let listed = || scheduler.limits_on(gpu, self.usage()).1.0.map(|seqs| seqs as u32);
        let seqs = self.overrides.max_seqs.or_else(listed)?;
        scheduler.decode_graph(gpu, self.parallel, seqs.saturating_mul(self.usage().verified))
    }

    /// The memory share that its engine takes on `gpu` unless told otherwise.
    pub fn memory_share(&self, scheduler: &Scheduler, gpu: &Gpu) -> Option<f64> {
        let usage = self.usage();
        let tokens = self.overrides.token_budget.map(f64::from).or(scheduler.limits_on(gpu, usage).0.0)?;
        let graph = self.overrides.largest_graph.or_else(|| self.decode_graph(scheduler, gpu));
        scheduler.share_on(gpu, (self.parallel, usage), tokens, graph).0
    }

    /// Another model of the catalog. One that is published in less than 16 bits comes as published; others keep the
    /// chosen format.
    pub fn choose_model(&mut self, id: &str) {
        self.model = ModelChoice::Catalog(id.into());
        if self.model.record().is_some_and(|model| model.weights != Dtype::Bf16) {
            self.weights = None;
        }
    }

    /// What default limits of its engine depend on.
    pub fn usage(&self) -> Usage {
        Usage::of(self.parallel, &self.workload)
    }

    /// Whether its model is a mixture of experts.
    pub fn has_experts(&self) -> bool {
        self.model.record().is_some_and(Model::has_experts)
    }

    /// Whether the shape of its model's vision encoder is known.
    pub fn has_encoder(&self) -> bool {
        self.model.record().is_some_and(|model| model.vision.is_some())
    }
}

impl Default for Scenario {
    /// The defaults of link schema version 1. Frozen: a link holds only what differs from them.
    fn default() -> Self {
        Self {
            model: ModelChoice::Catalog("llama-3.1-8b".into()),
            gpu: "h100-sxm".into(),
            spec: SpecSheet::default(),
            engine: "vllm".into(),
            parallel: Parallelism::NONE,
            replicas: 1,
            prefill: Prefill::default(),
            weights: None,
            kv: Dtype::Bf16,
            workload: Workload::default(),
            overrides: Overrides::default(),
            measured: Measured::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantised_model_comes_as_published() {
        let mut scenario = Scenario { weights: Some(Dtype::Fp8), ..Scenario::default() };
        scenario.choose_model("llama-3.3-70b-instruct");
        assert_eq!(scenario.weights, Some(Dtype::Fp8));
        scenario.choose_model("gpt-oss-120b");
        assert_eq!((scenario.weights, scenario.weights_format()), (None, Some(Dtype::Mxfp4)));
    }
}
