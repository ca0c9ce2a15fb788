//! The architecture: groups of identical decoder blocks between an embedding and a head.

use serde::{Deserialize, Serialize};

use super::{Attention, Ffn, GqaTrait, Vision};
use crate::config::Dtype;
use crate::units::BF16_BYTES;

/// A decoder-only language model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Stable id, as used in links.
    pub id: String,
    /// Organisation and name under which it is published.
    pub name: String,
    pub hidden: u32,
    pub vocab: u32,
    /// Longest supported context, in tokens.
    pub max_context: u32,
    /// The LM head reuses the embedding's weights.
    pub tied_embeddings: bool,
    /// The format the published checkpoint is named by: that of the experts, or of all linear layers.
    pub weights: Dtype,
    pub blocks: Vec<Blocks>,
    /// Formats within checkpoints that deviate from the rule of [`Formats::usual`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<_>", optional))]
    pub checkpoints: Vec<Formats>,
    /// INT4 weights of the published checkpoint that share a scale, if fewer than 128.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub int4_group: Option<u32>,
    /// Parts of the published model that are not counted (a vision encoder ...), one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<_>", optional))]
    pub notes: Vec<String>,
    /// Approximations in the formats of the published checkpoint, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<_>", optional))]
    pub format_notes: Vec<String>,
    /// The published checkpoint has scales for an FP8 KV cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(as = "Option<_>", optional))]
    pub scaled_cache: bool,
    /// Multi-token prediction (MTP) layers, which can draft; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtp: Option<u32>,
    /// Parameters of the vision encoder and its projector, which engines load beside the language model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoder: Option<u32>,
    /// The shape of that encoder, with which images have a time; `None` if only its size is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vision: Option<Vision>,
    /// Rows of the learned position table; `None` if positions are rotary or biases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positions: Option<u32>,
}

impl Model {
    /// What is not counted of a checkpoint in the format `weights`.
    pub fn notes_in(&self, weights: Dtype) -> impl Iterator<Item = &String> {
        let of_format = self.format_notes.iter().filter(move |_| weights == self.weights);
        self.notes.iter().chain(of_format)
    }
}

/// `count` identical decoder blocks, anywhere in the model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Blocks {
    pub count: u32,
    /// `None` in MLP-only blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attention: Option<Attention>,
    /// `None` in mixer-only blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ffn: Option<Ffn>,
    pub norms: Norms,
    /// Residual streams that the block mixes before and after each part (hyper-connections); `None` for a single
    /// stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<u32>,
}

/// Where a block applies norms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Norms {
    /// Before attention and before the MLP.
    #[default]
    Pre,
    /// Before and after each (Gemma).
    Sandwich,
}

/// Formats of a checkpoint's linear layers, by class. Embedding, head, router, norms and convolutions stay in 16
/// bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Formats {
    /// The format the checkpoint is named by, and that of the experts.
    pub weights: Dtype,
    /// Projections of attention and its alternatives.
    pub attention: Dtype,
    /// Dense MLPs.
    pub mlp: Dtype,
    /// Shared experts.
    pub shared: Dtype,
}

impl Formats {
    /// One format for all classes of weights.
    pub fn uniform(weights: Dtype) -> Self {
        Self { weights, attention: weights, mlp: weights, shared: weights }
    }

    /// With another format in the place of `from`.
    pub fn replacing(self, from: Dtype, to: Dtype) -> Self {
        let of = |own| if own == from { to } else { own };
        let Self { weights, attention, mlp, shared } = self;
        Self { weights: of(weights), attention: of(attention), mlp: of(mlp), shared: of(shared) }
    }

    /// Formats of the draft layer: 4-bit checkpoints keep it in 16 bits (NVIDIA's DeepSeek-V3.1, DeepSeek-V4 and
    /// Qwen3.5 exclude it by name).
    pub fn of_drafting(self) -> Self {
        if self.weights.bytes() < 1.0 { Self::uniform(Dtype::Bf16) } else { self }
    }

    /// The usual formats of checkpoints in `weights`: 4-bit checkpoints of a mixture of experts quantise the
    /// experts and keep attention and shared experts in 16 bits (gpt-oss, Kimi K2.5, and NVIDIA's DeepSeek, MiniMax
    /// and Qwen3.5); all others quantise every linear layer.
    pub fn usual(weights: Dtype, experts: bool) -> Self {
        let uniform = Self::uniform(weights);
        match weights {
            Dtype::Nvfp4 if experts => Self { attention: Dtype::Bf16, shared: Dtype::Bf16, ..uniform },
            Dtype::Mxfp4 | Dtype::Mxfp4Mxfp8 | Dtype::Int4 if experts => {
                Self { attention: Dtype::Bf16, mlp: Dtype::Bf16, shared: Dtype::Bf16, ..uniform }
            }
            _ => uniform,
        }
    }
}

impl Model {
    pub fn layers(&self) -> u32 {
        self.blocks.iter().fold(0, |sum, blocks| sum.saturating_add(blocks.count))
    }

    /// Bytes of a weight in `dtype` as stored, scales included.
    pub fn stored_bytes(&self, dtype: Dtype) -> f64 {
        match self.int4_group {
            Some(group) if dtype == Dtype::Int4 && self.weights == Dtype::Int4 => {
                0.5 + BF16_BYTES / f64::from(group.max(1))
            }
            _ => dtype.bytes(),
        }
    }

    /// Whether any block is a mixture of experts.
    pub fn has_experts(&self) -> bool {
        self.blocks.iter().any(|blocks| matches!(blocks.ffn, Some(Ffn::Moe(_))))
    }

    /// The formats of a checkpoint named by `weights`.
    pub fn formats(&self, weights: Dtype) -> Formats {
        let own = self.checkpoints.iter().find(|formats| formats.weights == weights);
        own.copied().unwrap_or_else(|| Formats::usual(weights, self.has_experts()))
    }

    /// The layer that drafts tokens, if any: like the model's last, per the DeepSeek-V3 Technical Report (2.2). It
    /// has regular attention even if most layers are recurrent (Qwen3.5, Nemotron 3), and no compressed entries (the last of
    /// DeepSeek-V4's `compress_ratios` is 0).
    pub fn drafting_layer(&self) -> Option<Blocks> {
        self.mtp?;
        let last = self.blocks.last()?;
        let mut attention = self.attentions().filter(|attention| !attention.recurs()).last().cloned();
        if let Some(Attention::Compressed(compressed)) = &mut attention {
            (compressed.ratio, compressed.indexer) = (None, None);
        }
        Some(Blocks {
            count: 1,
            attention,
            ffn: self.blocks.iter().filter_map(|blocks| blocks.ffn.as_ref()).next_back().cloned(),
            norms: last.norms,
            streams: last.streams,
        })
    }

    /// Whether any block's attention has this trait.
    pub fn has(&self, wanted: GqaTrait) -> bool {
        self.blocks.iter().any(|blocks| blocks.has(wanted))
    }

    /// The attentions of all blocks.
    pub fn attentions(&self) -> impl Iterator<Item = &Attention> {
        self.blocks.iter().filter_map(|blocks| blocks.attention.as_ref())
    }
}

impl Blocks {
    pub fn has(&self, wanted: GqaTrait) -> bool {
        matches!(&self.attention, Some(Attention::Gqa(gqa)) if gqa.has(wanted))
    }
}
