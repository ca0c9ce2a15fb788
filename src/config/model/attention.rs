//! The token mixer of a block: attention, or a recurrence in its place.

use serde::{Deserialize, Serialize};

use super::{Compressed, KeyBlocks};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Attention {
    Gqa(Gqa),
    Mla(Mla),
    Delta(Delta),
    Mamba(Mamba),
    Compressed(Compressed),
}

impl Attention {
    /// Whether a recurrence takes its place: its state does not grow.
    pub fn recurs(&self) -> bool {
        matches!(self, Self::Delta(_) | Self::Mamba(_))
    }
}

/// Grouped-query attention; MHA where `kv_heads == heads`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Gqa {
    pub heads: u32,
    pub kv_heads: u32,
    /// Width of a query or key.
    pub head_dim: u32,
    /// RMSNorm on Q and K (Qwen3).
    pub qk_norm: bool,
    /// Bias on the QKV projection (Qwen2).
    pub qkv_bias: bool,
    /// Width of a value, if different from that of a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_dim: Option<u32>,
    /// Sliding window: keys visible to a query, its own included; `None` if it sees all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<_>", optional))]
    pub traits: Vec<GqaTrait>,
    /// Queries attend only to selected blocks of keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<KeyBlocks>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum GqaTrait {
    /// A learned logit per head that takes part in the softmax (gpt-oss).
    #[default]
    Sinks,
    /// The output is gated by a projection as wide as Q (Qwen3.5).
    OutputGate,
    /// Q and K are normalised over all heads together: ranks all-reduce their sums of squares (MiniMax).
    NormOverHeads,
    /// Values are the keys before norm and rotary embedding, without their own projection (Gemma 4).
    ValuesFromKeys,
    /// Trained to see the newest blocks of keys and every n-th of the others (Phi-3-small). Counted with all keys, as the engines
    /// that serve it today compute it.
    Strided,
    /// Keys and values are those of an image: steps without images skip the layer, MLP included (Llama 3.2 Vision).
    Cross,
}

/// Multi-head latent attention (DeepSeek).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Mla {
    pub heads: u32,
    /// Width of the compressed queries; `None` if Q is projected directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_rank: Option<u32>,
    /// Width of the latent vector cached per token for keys and values.
    pub latent: u32,
    /// Width of the part of queries and keys with rotary embedding; its key is shared by all heads.
    pub rope: u32,
    /// Width of the part of queries and keys without rotary embedding.
    pub nope: u32,
    pub value: u32,
    /// Sparse: attends to the tokens an indexer selects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexer: Option<Indexer>,
    /// The output is gated by a projection of its width.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<bool>,
}

/// The lightning indexer of sparse attention.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Indexer {
    pub heads: u32,
    pub head_dim: u32,
    /// Tokens each query attends to at most.
    pub topk: u32,
    /// This layer reuses the selection of an earlier one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub borrowed: Option<bool>,
}

/// A gated delta rule after a short convolution: a constant-size state instead of keys and values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Delta {
    pub key_heads: u32,
    pub value_heads: u32,
    pub key_dim: u32,
    pub value_dim: u32,
    /// Kernel width of the convolution in tokens, the newest included.
    pub taps: u32,
    pub gates: Gates,
    /// The output gate is projected directly, not through a bottleneck (Kimi K3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_gate: Option<bool>,
    /// The checkpoint joins the projections of queries, keys, values and gates (Qwen3-Next).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joined: Option<bool>,
}

/// How a delta rule's decay is gated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Gates {
    /// One decay per head; the output gate is as wide as the values (gated delta net, Qwen3.5).
    #[default]
    PerHead,
    /// One decay per key channel; decay and output gate come through a bottleneck one head wide (Kimi delta
    /// attention).
    PerChannel,
}

/// A Mamba mixer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Mamba {
    pub heads: u32,
    pub head_dim: u32,
    /// Groups of heads that share their input and output matrices.
    pub groups: u32,
    /// State per channel.
    pub state: u32,
    /// Tokens that the convolution covers, the newest included; 1 means no convolution.
    pub taps: u32,
    /// Mamba-1 only: each channel is a head. Its step is computed from the convolution's output through a bottleneck of this
    /// width, as are the input and output matrices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
}

impl Gqa {
    /// Columns of Q.
    pub fn q_width(&self) -> u32 {
        self.heads * self.head_dim
    }

    /// Width of a value.
    pub fn value_dim(&self) -> u32 {
        self.value_dim.unwrap_or(self.head_dim)
    }

    pub fn has(&self, wanted: GqaTrait) -> bool {
        self.traits.contains(&wanted)
    }

    /// Number of keys visible to a query; `None` if it sees all.
    pub fn visible(&self) -> Option<u32> {
        self.window.or(self.blocks.map(|blocks| blocks.keys()))
    }

    /// Elements cached per token and KV head.
    pub fn cached_per_head(&self) -> u32 {
        self.head_dim + self.value_dim()
    }
}

impl Mla {
    /// Elements cached per token on every rank.
    pub fn cached(&self) -> u32 {
        self.latent + self.rope
    }

    pub fn gated(&self) -> bool {
        self.gate == Some(true)
    }
}

impl Delta {
    pub fn key_width(&self) -> u32 {
        self.key_heads * self.key_dim
    }

    pub fn value_width(&self) -> u32 {
        self.value_heads * self.value_dim
    }

    /// Channels of the convolution: queries, keys and values.
    pub fn channels(&self) -> u32 {
        2 * self.key_width() + self.value_width()
    }

    /// State elements per sequence.
    pub fn state(&self) -> f64 {
        f64::from(self.value_heads) * f64::from(self.key_dim) * f64::from(self.value_dim)
    }
}

impl Mamba {
    pub fn width(&self) -> u32 {
        self.heads * self.head_dim
    }

    /// Channels of the convolution: values, and before Mamba-1 the input and output matrices of all groups.
    pub fn channels(&self) -> u32 {
        self.width() + if self.rank.is_some() { 0 } else { 2 * self.groups * self.state }
    }

    /// What Mamba-1 projects the convolution's result to: the bottleneck of its steps, and the matrices.
    pub fn selected(&self, rank: u32) -> u32 {
        rank + 2 * self.state
    }

    /// State elements per sequence.
    pub fn state(&self) -> f64 {
        f64::from(self.width()) * f64::from(self.state)
    }
}
