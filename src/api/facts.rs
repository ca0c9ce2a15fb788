//! The catalogs' contents, as needed to choose from them.

use serde::Serialize;

use crate::config::{Arch, Dtype, Engine, Gpu, LinkKind, MemoryShareOf, Model, catalog};
use crate::units::{Bytes, BytesPerSecond, Dollars, FlopsPerSecond, Watts};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModelFacts {
    pub id: String,
    /// Organisation and name under which it is published.
    pub name: String,
    pub parameters: f64,
    /// Parameters used per token.
    pub active_parameters: f64,
    pub layers: u32,
    /// Longest context, in tokens.
    pub max_context: u32,
    /// The format it is published in.
    pub weights: Dtype,
    /// Parts that are not counted.
    pub notes: Vec<String>,
}

/// `None` if no figure is published.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GpuFacts {
    pub id: String,
    pub name: String,
    pub arch: Arch,
    pub memory: Option<Bytes>,
    /// Whether device memory is the host's memory too.
    pub shares_memory: bool,
    pub bandwidth: Option<BytesPerSecond>,
    /// Dense tensor-core peaks at the boost clock, by operand format.
    pub peak_bf16: Option<FlopsPerSecond>,
    pub peak_fp8: Option<FlopsPerSecond>,
    pub peak_fp4: Option<FlopsPerSecond>,
    pub peak_int8: Option<FlopsPerSecond>,
    /// The fastest link within the node, its bandwidth per direction, and how many GPUs it joins.
    pub link: LinkKind,
    /// Generation and lanes, where it is PCIe.
    pub pcie: Option<[u32; 2]>,
    pub link_bandwidth: Option<BytesPerSecond>,
    pub link_domain: u32,
    /// Bandwidth of a GPU's network port between nodes, per direction.
    pub network_bandwidth: Option<BytesPerSecond>,
    pub power: Option<Watts>,
    /// An on-demand list price per hour.
    pub price: Option<Dollars>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EngineFacts {
    pub id: String,
    pub name: String,
    pub version: String,
    /// Architectures with known default kernels.
    pub archs: Vec<Arch>,
    /// Defaults on GPUs with much memory: tokens per step, sequences at once, and the memory share, if it does not follow from the rest.
    pub token_budget: Option<f64>,
    pub max_seqs: Option<f64>,
    pub memory_share: Option<f64>,
}

pub fn models() -> Vec<ModelFacts> {
    catalog().models.models.iter().map(model).collect()
}

pub fn gpus() -> Vec<GpuFacts> {
    catalog().gpus.gpus.iter().map(gpu).collect()
}

pub fn engines() -> Vec<EngineFacts> {
    catalog().engines.engines.iter().map(engine).collect()
}

fn model(model: &Model) -> ModelFacts {
    ModelFacts {
        id: model.id.clone(),
        name: model.name.clone(),
        parameters: model.parameters(),
        active_parameters: model.active_parameters(),
        layers: model.layers(),
        max_context: model.max_context,
        weights: model.weights,
        notes: model.notes_in(model.weights).cloned().collect(),
    }
}

fn gpu(gpu: &Gpu) -> GpuFacts {
    let peak = |dtype| gpu.peak(dtype).ok();
    GpuFacts {
        id: gpu.id.clone(),
        name: gpu.name.clone(),
        arch: gpu.arch,
        memory: gpu.memory().ok(),
        shares_memory: gpu.host_bytes.is_some(),
        bandwidth: gpu.bandwidth().ok(),
        peak_bf16: peak(Dtype::Bf16),
        peak_fp8: peak(Dtype::Fp8),
        peak_fp4: peak(Dtype::Nvfp4),
        peak_int8: peak(Dtype::W8a8),
        link: gpu.link.kind,
        pcie: gpu.link.pcie,
        link_bandwidth: gpu.link_bandwidth().ok(),
        link_domain: gpu.link.domain,
        network_bandwidth: gpu.network_bandwidth().ok(),
        power: gpu.power().ok(),
        price: gpu.dollars_per_hour.0.map(Dollars),
    }
}

fn engine(engine: &Engine) -> EngineFacts {
    let scheduler = &engine.scheduler;
    EngineFacts {
        id: engine.id.clone(),
        name: engine.name.clone(),
        version: engine.version.to_string(),
        archs: engine.kernels.iter().map(|choice| choice.arch).collect(),
        token_budget: scheduler.token_budget.0,
        max_seqs: scheduler.max_seqs.0,
        memory_share: scheduler.memory_share.0.filter(|_| scheduler.memory_share_of != MemoryShareOf::Static),
    }
}
