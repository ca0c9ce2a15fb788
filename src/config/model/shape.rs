//! The architecture: groups of alike decoder blocks between an embedding and a head.

use serde::Serialize;

use crate::config::Dtype;
use crate::config::record::{names, record, variants};

/// A decoder-only language model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Model {
    /// Stable id, as used in links.
    pub id: String,
    /// Organisation and name where it is published.
    pub name: String,
    pub hidden: u32,
    pub vocab: u32,
    /// Longest sequence the model is made for, in tokens.
    pub max_context: u32,
    /// The head reuses the embedding's weights.
    pub tied_embeddings: bool,
    /// The format of the published linear layers' weights.
    pub weights: Dtype,
    pub blocks: Vec<Blocks>,
    /// What of the published model is not counted (a vision encoder ...), one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// `count` consecutive decoder blocks of the same shape.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Blocks {
    pub count: u32,
    pub attention: Attention,
    pub ffn: Ffn,
    pub norms: Norms,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Attention {
    Gqa(Gqa),
}

/// Grouped-query attention; MHA where `kv_heads == heads`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Gqa {
    pub heads: u32,
    pub kv_heads: u32,
    pub head_dim: u32,
    /// RMSNorm on each head of Q and K (Qwen3).
    pub qk_norm: bool,
    /// Bias on the QKV projection (Qwen2).
    pub qkv_bias: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ffn {
    Dense(Dense),
}

/// A gated MLP: `down(silu(gate(x)) * up(x))`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Dense {
    pub intermediate: u32,
}

/// Where a block normalises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Norms {
    /// Before attention and before the MLP.
    Pre,
}

impl Model {
    pub fn layers(&self) -> u32 {
        self.blocks.iter().map(|blocks| blocks.count).sum()
    }

    /// All parameters: embedding, head, blocks, norms, biases.
    pub fn parameters(&self) -> f64 {
        let (hidden, vocab) = (f64::from(self.hidden), f64::from(self.vocab));
        let tables = if self.tied_embeddings { 1.0 } else { 2.0 };
        tables * vocab * hidden
            + hidden
            + self.blocks.iter().map(|blocks| blocks.parameters(hidden)).sum::<f64>()
    }

    /// Parameters of the linear layers in the blocks: what a weight format applies to.
    pub fn linear_parameters(&self) -> f64 {
        let hidden = f64::from(self.hidden);
        self.blocks.iter().map(|blocks| blocks.linear_parameters(hidden)).sum()
    }
}

impl Blocks {
    fn linear_parameters(&self, hidden: f64) -> f64 {
        let Attention::Gqa(gqa) = &self.attention;
        let Ffn::Dense(dense) = &self.ffn;
        let attention = hidden * f64::from(gqa.qkv_width()) + f64::from(gqa.q_width()) * hidden;
        f64::from(self.count) * (attention + 3.0 * hidden * f64::from(dense.intermediate))
    }

    fn parameters(&self, hidden: f64) -> f64 {
        let Attention::Gqa(gqa) = &self.attention;
        let qk_norm = if gqa.qk_norm { 2.0 * f64::from(gqa.head_dim) } else { 0.0 };
        let bias = if gqa.qkv_bias { f64::from(gqa.qkv_width()) } else { 0.0 };
        self.linear_parameters(hidden) + f64::from(self.count) * (2.0 * hidden + qk_norm + bias)
    }
}

impl Gqa {
    /// Columns of Q.
    pub fn q_width(&self) -> u32 {
        self.heads * self.head_dim
    }

    /// Columns of the fused QKV projection.
    pub fn qkv_width(&self) -> u32 {
        (self.heads + 2 * self.kv_heads) * self.head_dim
    }
}

record!(Model: id, name, hidden, vocab, max_context, tied_embeddings, weights, blocks, notes);
record!(Blocks: count, attention, ffn, norms);
record!(Gqa: heads, kv_heads, head_dim, qk_norm, qkv_bias);
record!(Dense: intermediate);
names!(Norms: Pre = "pre");

variants!(Attention: Gqa(Gqa) = "gqa");
variants!(Ffn: Dense(Dense) = "dense");
