//! The answer, as used by the page, the command line and tests.

use serde::Serialize;

use crate::calibration::Factors;
use crate::config::{Dtype, Issue, LatencyMetric, Setup};
use crate::graph::{Block, Call, Phase};
use crate::kernels::Schedule;
use crate::latency::{Provenance, Resource};
use crate::serving::run::{Alone, Calibrated, Power, Run};
use crate::units::{Bytes, Dollars, Flops, Order, Seconds, Watts};

/// The efficiencies behind the numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Basis {
    /// Every kernel at its ideal: an upper bound on speed.
    Roofline,
    /// Learned efficiencies of this model release.
    Learned { release: String },
}

impl Basis {
    /// The release of the models behind the numbers; `None` for the roofline.
    pub fn release(&self) -> Option<&str> {
        match self {
            Self::Roofline => None,
            Self::Learned { release } => Some(release),
        }
    }
}

/// One kernel of a pass. Times are per launch.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct KernelLine {
    pub block: Block,
    pub name: &'static str,
    /// The kernel's shape in words: `4096 × 6144 × 4096`.
    pub shape: String,
    /// Launches in the pass.
    pub count: u64,
    pub flops: Flops,
    /// Every operand read once and every result written once, from and to memory or the L2 cache.
    pub bytes: Bytes,
    /// Bytes that have to come from or go to device memory: weights, cached KV, and activations beyond the L2 cache.
    pub traffic: Bytes,
    /// FLOP per byte of `traffic`; `None` if nothing is multiplied.
    pub intensity: Option<f64>,
    /// The time at the textbook roofline.
    pub roofline: Seconds,
    /// Roofline time with tile and wave quantisation; the roofline alone where the kernel must have other tiles than counted.
    pub ceiling: Seconds,
    pub time: Seconds,
    /// Fraction of the ideal reached: `roofline / time`, in (0, 1].
    pub efficiency: f64,
    /// Share of the pass's time, over all launches.
    pub share: f64,
    pub limit: Resource,
    /// Whether the memory that limits it is the L2 cache, which the textbook roofline does not know.
    pub in_l2: bool,
    pub provenance: Provenance,
    /// The interval that 80 % of measurements of such a call lie in; `None` without held-out data.
    pub bounds: Option<[Seconds; 2]>,
    /// Whether the call is outside its model's training range.
    pub outside: bool,
    /// Tiles and waves as counted, unless it is faster than they allow.
    pub schedule: Option<Schedule>,
    /// The dtype of the dense roof in the chart.
    pub math: Option<Dtype>,
}

impl KernelLine {
    /// The time of all its launches in the pass.
    pub fn total(&self) -> Seconds {
        self.time * self.count as f64
    }

    /// What the pass would save with all of them at the ceiling.
    pub fn saved(&self) -> Seconds {
        (self.time - self.ceiling).max(Seconds::ZERO) * self.count as f64
    }
}

/// One engine step, broken down.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PassReport {
    pub phase: Phase,
    pub sequences: u64,
    /// Dummy sequences that fill up a CUDA graph.
    pub padding: u64,
    /// New tokens of the step, padding included.
    pub tokens: u64,
    /// Mean tokens in the KV cache per sequence before the step.
    pub past: f64,
    pub time: Seconds,
    /// Host time not hidden behind kernels.
    pub host: Seconds,
    /// Host time that runs beside the kernels: a step takes no less, however fast they are.
    pub beside: Seconds,
    /// Mean power of one GPU, if known.
    pub power: Option<Watts>,
    pub kernels: Vec<KernelLine>,
    /// The resource that takes most time, and its share.
    pub limit: Resource,
    pub limit_share: f64,
    /// What limits the step, in one sentence.
    pub sentence: String,
    /// Model FLOPs utilisation, against the dense peak of the dtype used.
    pub mfu: f64,
    /// Model bandwidth utilisation: touched weight and KV bytes over step time and peak bandwidth.
    pub mbu: f64,
}

/// Savings below this share of a step are not visible in the printed digits.
pub const LEAST_SAVING: f64 = 1e-3;

impl PassReport {
    /// What a step saves if its kernels take `less` time: nothing once the host beside them takes longer.
    pub fn saving(&self, less: Seconds) -> Seconds {
        let kernels = self.time - self.host;
        Seconds(less.0.min((kernels - self.beside).0.max(0.0)))
    }

    /// The setup that runs it: of prefill, that of the prefill workers if there are any.
    pub fn setup<'a>(&self, setup: &'a Setup) -> &'a Setup {
        self.phase.choose(setup.prefill_setup(), setup)
    }

    /// Shared id of the kernel's row, chart point and explanation.
    pub fn kernel_id(&self, line: usize) -> String {
        format!("kernel-{}-{line}", self.phase.id())
    }

    /// The index of the line that includes a call of the pass.
    pub fn line_of(&self, call: &Call) -> Option<usize> {
        let shape = call.op.shape();
        let is_it =
            |line: &KernelLine| (line.block, line.name) == (call.block, call.name) && line.shape == shape;
        self.kernels.iter().position(is_it)
    }

    /// The kernels with their indices, the largest share of time first.
    pub fn by_share(&self) -> Vec<(usize, &KernelLine)> {
        let mut kernels: Vec<(usize, &KernelLine)> = self.kernels.iter().enumerate().collect();
        kernels.order_by(|(_, a), (_, b)| b.share.total_cmp(&a.share));
        kernels
    }

    /// Share of the step's time that is host time not hidden.
    pub fn host_share(&self) -> f64 {
        if self.time.0 > 0.0 { self.host / self.time } else { 0.0 }
    }

    /// Shares of the step's time by the resource that limits each kernel, in the order of [`Resource::ALL`]; the
    /// host counts as launches. They sum to 1.
    pub fn by_resource(&self) -> [(Resource, f64); 4] {
        let share = |limit: Resource| {
            let bound = self.kernels.iter().filter(|kernel| kernel.limit == limit);
            let kernels: f64 = bound.map(|kernel| kernel.share).sum();
            if limit == Resource::Launch { kernels + self.host_share() } else { kernels }
        };
        [Resource::Compute, Resource::Memory, Resource::Network, Resource::Launch]
            .map(|limit| (limit, share(limit)))
    }
}

/// Device memory of the fullest GPU, by part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Memory {
    pub total: Bytes,
    /// Usable by the engine.
    pub usable: Bytes,
    pub weights: Bytes,
    pub activations: Bytes,
    /// CUDA context, graphs, communication buffers.
    pub reserve: Bytes,
    /// KV cache of the requests that run at this load. Exceeds the room only if it does not fit.
    pub kv_needed: Bytes,
    /// Room for the KV cache.
    pub kv_room: Bytes,
    /// Excess of weights, activations and reserve over what is usable.
    pub missing: Bytes,
    /// Error of the room: for half of logged start-ups it was smaller.
    pub margin: Bytes,
    /// KV bytes per token on one GPU, averaged over the longest sequence: window layers cache only the window,
    /// recurrences a state.
    pub kv_per_token: Bytes,
    /// Tokens that fit in one replica's cache.
    pub kv_tokens: f64,
    /// Full-length sequences that fit at once.
    pub max_concurrency: f64,
}

impl Memory {
    /// Memory used by neither the engine nor its KV cache. Together with weights, activations, reserve and KV cache
    /// room it adds up to all of the memory, if the configuration fits.
    pub fn unused(&self) -> Bytes {
        (self.total - self.weights - self.activations - self.reserve - self.kv_room).max(Bytes::ZERO)
    }

    /// The memory with the KV cache of `running` requests per replica of `setup`, holding `tokens` each.
    pub(super) fn holding(self, setup: &Setup, running: f64, tokens: f64) -> Self {
        let needed = self.kv_per_token * (running * tokens / f64::from(setup.parallel.dp));
        Self { kv_needed: needed.min(self.kv_room), ..self }
    }
}

/// Headline numbers of the simulated run, or of a static batch. TTFT, TPOT and E2E are those of `vllm bench serve`:
/// means over requests.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Headline {
    pub ttft: Seconds,
    /// `None` for OSL 1.
    pub tpot: Option<Seconds>,
    pub e2e: Seconds,
    /// Requests per second, all replicas.
    pub requests_per_s: f64,
    /// Output tokens per second, all replicas.
    pub output_per_s: f64,
    /// Prompt and output tokens per second, all replicas.
    pub total_per_s: f64,
    pub output_per_s_per_gpu: f64,
    /// Output tokens per second while the load lasts, which cost is for: [`Run::sustained_per_s`].
    pub sustained_output_per_s: f64,
    /// 1 / TPOT.
    pub output_per_s_per_user: Option<f64>,
    /// Requests in prefill or decode, per replica, averaged over the run.
    pub running: f64,
    /// Requests queueing for a slot, per replica, averaged over the run.
    pub waiting: f64,
    pub dollars_per_million: Option<Dollars>,
    /// Absent if the GPU's power is unknown.
    pub power: Option<Power>,
}

impl Headline {
    /// The mean; `None` for TPOT of OSL 1.
    pub fn latency(&self, metric: LatencyMetric) -> Option<Seconds> {
        metric.choose([Some(self.ttft), self.tpot, Some(self.e2e)])
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Report {
    pub basis: Basis,
    pub memory: Memory,
    /// Memory of a prefill worker, if there are separate ones; `memory` is then that of a decode replica.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefill_memory: Option<Memory>,
    /// `None` if it does not fit; `issues` then says why, and what would make it fit.
    pub headline: Option<Headline>,
    /// The run behind the headline, with percentiles and timeline; `None` for a static batch.
    pub run: Option<Run>,
    /// Calibration of that run: bands, and the physics alone. `None` if not calibrated.
    pub calibrated: Option<Calibrated>,
    /// A request of that run without the others.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    pub alone: Option<Alone>,
    /// Prefill, decode; empty if it does not fit.
    pub passes: Vec<PassReport>,
    pub issues: Vec<Issue>,
}

impl Report {
    /// Whether the queue grows for as long as the load lasts, and with it TTFT and E2E. With a limit of requests in flight the
    /// client sends fewer instead.
    pub fn queue_grows(&self, setup: &Setup) -> bool {
        let overloaded = self.run.as_ref().is_some_and(|run| run.saturation.is_some());
        overloaded && setup.workload.max_in_flight.is_none()
    }

    pub fn pass(&self, phase: Phase) -> Option<&PassReport> {
        self.passes.iter().find(|pass| pass.phase == phase)
    }

    /// The factors of the run behind the headline, if it is calibrated.
    pub fn factors(&self) -> Option<Factors> {
        Some(self.calibrated.as_ref()?.factors)
    }

    /// How many times as long decode steps are as by the physics; 1 if not calibrated.
    pub fn decode_factor(&self) -> f64 {
        self.factors().unwrap_or(Factors::NONE).decode
    }

    /// The run without the visitor's own runs, if there are any. Measurements are compared with it: a prediction
    /// calibrated on a measurement proves nothing by agreeing with it.
    pub fn without_own(&self) -> Option<&Run> {
        self.calibrated.as_ref()?.without_own.as_ref()
    }
}
