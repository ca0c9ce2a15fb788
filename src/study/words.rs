//! Names of the core's enums, and of a setup, as people read them.

use crate::config::{Arch, Dtype, Load, Setup};
use crate::graph::{Block, Phase};
use crate::latency::{Provenance, Resource};
use crate::units::count;

/// What is predicted, in a few words.
pub fn title(setup: &Setup) -> String {
    let gpus = setup.gpus();
    format!("{} on {gpus} x {} with {}", setup.model.name, setup.gpu.name, setup.engine.name)
}

pub fn dtype(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Bf16 => "BF16",
        Dtype::Fp8 => "FP8",
        Dtype::Fp8Block => "FP8, 128×128 blocks",
        Dtype::Nvfp4 => "NVFP4",
        Dtype::Mxfp4 => "MXFP4",
        Dtype::Mxfp4Mxfp8 => "MXFP4, MXFP8 activations",
        Dtype::Int8 => "INT8, weights only",
        Dtype::Int4 => "INT4, weights only",
        Dtype::W8a8 => "INT8",
    }
}

pub fn load(load: Load) -> String {
    let amount = count(load.amount());
    let many = |one: &str| if load.amount() == 1.0 { format!("1 {one}") } else { format!("{amount} {one}s") };
    match load {
        Load::Concurrency(_) => many("client"),
        Load::Rate(_) => format!("{amount} requests/s"),
        Load::ConstantRate(_) => format!("{amount} requests/s, equal gaps"),
        Load::Burst(_) => format!("burst of {amount}"),
        Load::Offline(_) => format!("queue of {amount}"),
        Load::Batch(_) => format!("batch of {amount}"),
        Load::Sessions(_) => format!("{} at once", many("session")),
        Load::SessionRate(_) => format!("{amount} sessions/s"),
    }
}

pub fn arch(arch: Arch) -> &'static str {
    match arch {
        Arch::Volta => "Volta",
        Arch::Turing => "Turing",
        Arch::Ampere => "Ampere",
        Arch::Ada => "Ada",
        Arch::Hopper => "Hopper",
        Arch::Blackwell => "Blackwell",
        Arch::BlackwellRtx => "Blackwell RTX",
        Arch::Cdna3 => "CDNA 3",
        Arch::Cdna4 => "CDNA 4",
    }
}

pub fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Prefill => "Prefill",
        Phase::Decode => "Decode",
    }
}

pub fn block(block: Block) -> &'static str {
    match block {
        Block::Embedding => "Embedding",
        Block::Attention => "Attention",
        Block::Mlp => "MLP",
        Block::Experts => "Experts",
        Block::Head => "Head",
        Block::Drafting => "Drafting",
        Block::Communication => "Links",
    }
}

pub fn resource(resource: Resource) -> &'static str {
    match resource {
        Resource::Compute => "Compute",
        Resource::Memory => "Memory",
        Resource::Network => "Links",
        Resource::Launch => "Launch",
    }
}

pub fn provenance(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Learned => "Learned",
        Provenance::Extrapolated => "Extrapolated",
        Provenance::Measured => "Measured",
        Provenance::Fixed => "Fixed share",
        Provenance::Beside => "Beside others",
        Provenance::Roofline => "Ideal",
    }
}

/// What a provenance means, for a tip.
pub fn provenance_help(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Learned => "Learned efficiency, on a GPU whose measurements trained the model",
        Provenance::Extrapolated => "Learned efficiency, on a GPU the model was not trained on",
        Provenance::Measured => "Interpolated between measured points",
        Provenance::Fixed => "Counted work over fixed shares of the peaks, and a launch floor",
        Provenance::Beside => "Runs beside a longer kernel: what it adds at full speed",
        Provenance::Roofline => "The ideal: no kernel is faster than this",
    }
}
