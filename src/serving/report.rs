//! The answer, as the page, the command line and tests read it.

use serde::Serialize;

use crate::config::{Dtype, Issue, Setup};
use crate::graph::{Block, Call, Phase};
use crate::kernels::Schedule;
use crate::latency::{Provenance, Resource};
use crate::serving::run::{Calibrated, Power, Run};
use crate::units::{Bytes, Dollars, Flops, Seconds, Watts};

/// What the efficiencies behind a number are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Basis {
    /// Every kernel at its ideal: an upper bound on speed.
    Roofline,
    /// Learned efficiencies of this release of the models.
    Learned { release: String },
}

/// One kernel of a pass. Times are of one launch.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct KernelLine {
    pub block: Block,
    pub name: &'static str,
    /// Its size in words: `4096 × 6144 × 4096`.
    pub shape: String,
    /// Launches in the pass.
    pub count: u64,
    pub flops: Flops,
    /// Compulsory device-memory traffic.
    pub bytes: Bytes,
    /// FLOP per byte; none if nothing is multiplied.
    pub intensity: Option<f64>,
    /// The textbook roofline's time.
    pub roofline: Seconds,
    /// The same with tile and wave quantisation: what this launch could reach.
    pub ceiling: Seconds,
    pub time: Seconds,
    /// Share of the ideal reached: `roofline / time`, in (0, 1].
    pub efficiency: f64,
    /// Share of the pass's time, all launches together.
    pub share: f64,
    pub limit: Resource,
    pub provenance: Provenance,
    /// What 80 % of measurements of such a call lie between; none if no held-out data tells.
    pub bounds: Option<[Seconds; 2]>,
    /// Whether the call lies beyond all that its model was trained on.
    pub outside: bool,
    pub schedule: Option<Schedule>,
    /// The dtype whose dense roof applies, for the chart.
    pub math: Option<Dtype>,
}

/// One step of the engine, taken apart.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PassReport {
    pub phase: Phase,
    pub sequences: u64,
    pub tokens: u64,
    /// Mean tokens in the KV cache per sequence before the step.
    pub past: f64,
    pub time: Seconds,
    /// Host time not hidden behind kernels.
    pub host: Seconds,
    /// Average draw of one GPU, if its power is known.
    pub power: Option<Watts>,
    pub kernels: Vec<KernelLine>,
    /// The resource that takes most of the time, and its share.
    pub limit: Resource,
    pub limit_share: f64,
    /// The same, in one sentence.
    pub sentence: String,
    /// Against the dense peak of the dtype used.
    pub mfu: f64,
    /// Touched weight and KV bytes over step time and peak bandwidth.
    pub mbu: f64,
}

impl PassReport {
    /// What the row, the point and the explanation of the kernel in this line go by.
    pub fn kernel_id(&self, line: usize) -> String {
        format!("kernel-{}-{line}", self.phase.id())
    }

    /// The place of the line that a call of the pass is counted in.
    pub fn line_of(&self, call: &Call) -> Option<usize> {
        let shape = call.op.shape();
        let is_it =
            |line: &KernelLine| (line.block, line.name) == (call.block, call.name) && line.shape == shape;
        self.kernels.iter().position(is_it)
    }

    /// Shares of the step's time by the resource that bounds each kernel, in the order of [`Resource::ALL`]; the host counts
    /// with launches. They sum to 1.
    pub fn by_resource(&self) -> [(Resource, f64); 4] {
        let host = if self.time.0 > 0.0 { self.host / self.time } else { 0.0 };
        let share = |limit: Resource| {
            let bound = self.kernels.iter().filter(|kernel| kernel.limit == limit);
            let kernels: f64 = bound.map(|kernel| kernel.share).sum();
            if limit == Resource::Launch { kernels + host } else { kernels }
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
    /// What the engine may use of it.
    pub usable: Bytes,
    pub weights: Bytes,
    pub activations: Bytes,
    /// CUDA context, graphs, communication buffers.
    pub reserve: Bytes,
    /// KV cache of the requests that run at this load. More than the room only where it does not fit.
    pub kv_needed: Bytes,
    /// Room for the KV cache.
    pub kv_room: Bytes,
    /// What weights, activations and reserve take beyond what is usable.
    pub missing: Bytes,
    /// How far the room may be off: half of logged starts were nearer.
    pub margin: Bytes,
    /// KV bytes of one token on one GPU, on average over the longest sequence: layers with a window
    /// keep its tokens only, recurrences a state.
    pub kv_per_token: Bytes,
    /// Tokens that fit into the cache of one replica.
    pub kv_tokens: f64,
    /// Sequences of full length that fit at once.
    pub max_concurrency: f64,
}

impl Memory {
    /// What neither the engine uses nor its KV cache may take. With it, weights, activations, reserve and the room
    /// for the KV cache are all of the memory, where they fit.
    pub fn unused(&self) -> Bytes {
        (self.total - self.weights - self.activations - self.reserve - self.kv_room).max(Bytes::ZERO)
    }

    /// With the KV cache of `running` requests on each replica of `setup`, which hold `tokens` each.
    pub(super) fn holding(self, setup: &Setup, running: f64, tokens: f64) -> Self {
        let needed = self.kv_per_token * (running * tokens / f64::from(setup.dp));
        Self { kv_needed: needed.min(self.kv_room), ..self }
    }
}

/// Headline numbers: those of the simulated run, or of one static batch. TTFT, TPOT and E2E are those of `vllm bench serve`:
/// means over requests.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Headline {
    pub ttft: Seconds,
    /// None for OSL 1.
    pub tpot: Option<Seconds>,
    pub e2e: Seconds,
    /// Requests per second, all replicas.
    pub requests_per_s: f64,
    /// Output tokens per second, all replicas.
    pub output_per_s: f64,
    /// Prompt and output tokens per second, all replicas.
    pub total_per_s: f64,
    pub output_per_s_per_gpu: f64,
    /// 1 / TPOT.
    pub output_per_s_per_user: Option<f64>,
    /// Requests decoding or prefilling at once, per replica, on average over the run.
    pub running: f64,
    /// Requests queueing for a slot, likewise.
    pub waiting: f64,
    pub dollars_per_million: Option<Dollars>,
    /// Left out if the power of a GPU is unknown.
    pub power: Option<Power>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Report {
    pub basis: Basis,
    pub memory: Memory,
    /// That of a prefill worker, where prompts are computed by workers of their own; `memory` is then that of a replica that
    /// decodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefill_memory: Option<Memory>,
    /// None if it does not fit; `issues` then says why, and what would make it fit.
    pub headline: Option<Headline>,
    /// The run that the headline is the mean of, with its percentiles and its timeline; none for a static batch.
    pub run: Option<Run>,
    /// What measured runs say of that run: bands, and the physics alone. None where they say nothing of it.
    pub calibrated: Option<Calibrated>,
    /// Prefill, decode; empty where it does not fit.
    pub passes: Vec<PassReport>,
    pub issues: Vec<Issue>,
}
