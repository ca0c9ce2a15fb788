//! Where a configuration stands among others.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};
use strum::{EnumCount, VariantArray};

use super::{Label, Place};
use crate::config::model::{Attention, Blocks, Ffn, Model};
use crate::config::{Arch, Setup};
use crate::units::Order;

/// The properties by which configurations share the error of a prediction, from general to specific, and the sizes with
/// which it varies smoothly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigPoint {
    pub engine: String,
    /// Release of the engine ([`crate::config::Engine::release`]).
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

impl ConfigPoint {
    /// The point of a setup with `in_flight` requests in flight per replica.
    pub fn of(setup: &Setup, in_flight: f64) -> Self {
        Self {
            engine: setup.engine.id.clone(),
            version: setup.engine.release(&setup.engine.version),
            kind: Self::kind_of(&setup.model),
            shape: Self::shape_of(&setup.model),
            arch: setup.gpu.arch,
            gpu: setup.gpu.id.clone(),
            format: setup.weights.id().to_owned(),
            tp: f64::from(setup.parallel.tp),
            ep: f64::from(setup.parallel.ep),
            dp: f64::from(setup.parallel.dp),
            pp: f64::from(setup.parallel.pp),
            drafted: f64::from(setup.workload.drafts.drafted),
            in_flight,
            prompt: setup.mean_prompt(),
            output: f64::from(setup.workload.osl),
        }
    }

    /// The blocks of a model, by name.
    pub fn kind_of(model: &Model) -> String {
        let mut kinds: Vec<&str> = model.blocks.iter().flat_map(kinds).collect();
        kinds.order_by(|one, other| one.cmp(other));
        kinds.dedup();
        kinds.join("+")
    }

    /// The sizes of those blocks.
    pub fn shape_of(model: &Model) -> String {
        let layers: u32 = model.blocks.iter().map(|blocks| blocks.count).sum();
        format!("{}x{layers}", model.hidden)
    }

    /// Labels are hashed: a posterior compares many thousands of pairs.
    pub fn place(&self) -> Place {
        let mut labels = [0; Label::COUNT];
        Label::VARIANTS.iter().for_each(|&label| labels[label as usize] = self.number(label));
        // The sizes that errors change with smoothly: GPUs that share a layer, EP, requests under way, prompt and output.
        let sizes = [self.tp * self.dp, self.ep, self.in_flight, self.prompt, self.output];
        Place { labels, sizes: sizes.map(|size| size.max(1.0).log2()) }
    }

    pub fn agrees(&self, other: &Self, label: Label) -> bool {
        self.number(label) == other.number(label)
    }

    fn number(&self, label: Label) -> u64 {
        let mut hasher = DefaultHasher::new();
        match label {
            Label::Engine => self.engine.hash(&mut hasher),
            Label::Version => self.version.hash(&mut hasher),
            Label::Kind => self.kind.hash(&mut hasher),
            Label::Shape => (&self.shape, &self.kind).hash(&mut hasher),
            Label::Arch => self.arch.hash(&mut hasher),
            Label::Gpu => self.gpu.hash(&mut hasher),
            Label::Format => self.format.hash(&mut hasher),
            Label::Drafts => (self.drafted > 0.0).hash(&mut hasher),
            Label::Layout => [self.tp, self.ep, self.dp, self.pp].map(f64::to_bits).hash(&mut hasher),
        }
        hasher.finish()
    }
}

impl Default for ConfigPoint {
    fn default() -> Self {
        Self {
            engine: String::new(),
            version: String::new(),
            kind: String::new(),
            shape: String::new(),
            arch: Arch::default(),
            gpu: String::new(),
            format: String::new(),
            tp: 1.0,
            ep: 1.0,
            dp: 1.0,
            pp: 1.0,
            drafted: 0.0,
            in_flight: 1.0,
            prompt: 1.0,
            output: 1.0,
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
