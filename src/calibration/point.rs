//! Where a configuration stands among others.

use serde::{Deserialize, Serialize};

use crate::config::{Arch, Setup};
use crate::config::model::{Attention, Blocks, Ffn};

/// What the error of a prediction is shared by, from general to particular, and the sizes it changes with smoothly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub engine: String,
    /// Major and minor version of the engine.
    pub version: String,
    /// The blocks a model is made of, by name.
    pub kind: String,
    /// The sizes of those blocks: checkpoints of one architecture have the same.
    pub shape: String,
    pub arch: Arch,
    pub gpu: String,
    pub format: String,
    pub tp: f64,
    pub ep: f64,
    pub dp: f64,
    pub pp: f64,
    /// Tokens drafted for each verified one.
    pub drafted: f64,
    /// Requests under way in one replica, on average.
    pub in_flight: f64,
    /// Tokens of a prompt and of an answer, on average.
    pub prompt: f64,
    pub output: f64,
}

impl Point {
    /// Of a setup whose replicas each have so many requests under way.
    pub fn of(setup: &Setup, in_flight: f64) -> Self {
        let blocks = &setup.model.blocks;
        let mut kinds: Vec<&str> = blocks.iter().flat_map(kinds).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let layers: u32 = blocks.iter().map(|blocks| blocks.count).sum();
        Self {
            engine: setup.engine.id.clone(),
            version: minor(&setup.engine.version),
            kind: kinds.join("+"),
            shape: format!("{}x{layers}", setup.model.hidden),
            arch: setup.gpu.arch,
            gpu: setup.gpu.id.clone(),
            format: setup.weights.id().to_owned(),
            tp: f64::from(setup.tp),
            ep: f64::from(setup.ep),
            dp: f64::from(setup.dp),
            pp: f64::from(setup.pp),
            drafted: f64::from(setup.drafts.drafted),
            in_flight,
            prompt: setup.mean_prompt(),
            output: f64::from(setup.osl),
        }
    }
}

/// The attention and the feed-forward layer of a block, by name.
fn kinds(blocks: &Blocks) -> impl Iterator<Item = &'static str> {
    let attention = blocks.attention.as_ref().map(|attention| match attention {
        Attention::Gqa(gqa) if gqa.window.is_some() => "window",
        Attention::Gqa(_) => "gqa",
        Attention::Mla(_) => "mla",
        Attention::Delta(_) => "delta",
        Attention::Mamba(_) => "mamba",
        Attention::Compressed(_) => "compressed",
    });
    let ffn = blocks.ffn.as_ref().map(|ffn| match ffn {
        Ffn::Dense(_) => "mlp",
        Ffn::Moe(_) => "moe",
    });
    attention.into_iter().chain(ffn)
}

/// `0.11.1rc2` is of 0.11.
pub fn minor(version: &str) -> String {
    version.split('.').take(2).collect::<Vec<_>>().join(".")
}
