//! How large an architecture may be, and whether its parts fit together. The same checks serve a
//! pasted `config.json` and a custom model that came in a link.

use super::{Attention, Ffn, Model};
use crate::units::decimal;

/// The range one count of the architecture may take, under its name in `config.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub key: &'static str,
    pub min: u32,
    pub max: u32,
}

impl Limit {
    const fn new(key: &'static str, max: u32) -> Self {
        Self { key, min: 1, max }
    }

    /// What is wrong with `value`, if anything.
    pub fn objection(&self, value: f64) -> Option<String> {
        let inside = value.fract() == 0.0 && (f64::from(self.min)..=f64::from(self.max)).contains(&value);
        (!inside).then(|| {
            let given = decimal(value);
            format!("`{}` is {given}: a whole number from {} to {} is right", self.key, self.min, self.max)
        })
    }
}

// Each bound is several times the largest published model (Llama 3.1 405B: 126 layers, hidden size
// 16 384, intermediate size 53 248; Gemma's vocabulary: 262 144; Llama 4 Scout's context: 10 M), and
// small enough that no count of work overflows.
pub const LAYERS: Limit = Limit::new("num_hidden_layers", 1_000);
pub const HIDDEN: Limit = Limit::new("hidden_size", 65_536);
pub const INTERMEDIATE: Limit = Limit::new("intermediate_size", 524_288);
pub const VOCAB: Limit = Limit::new("vocab_size", 4_194_304);
pub const HEADS: Limit = Limit::new("num_attention_heads", 1_024);
pub const KV_HEADS: Limit = Limit::new("num_key_value_heads", 1_024);
/// FlashAttention's kernels end at 256.
pub const HEAD_DIM: Limit = Limit::new("head_dim", 256);
pub const CONTEXT: Limit = Limit::new("max_position_embeddings", 100_000_000);

/// Head dimensions that attention kernels take are multiples of this (16-byte loads of 16-bit values).
pub const HEAD_DIM_STEP: u32 = 8;

/// Longest id and name of a model, in bytes.
pub const NAME_BYTES: usize = 200;

impl Model {
    /// Everything that makes this architecture impossible to count; empty for a sound one.
    pub fn objections(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut check = |limit: Limit, value: u32| found.extend(limit.objection(f64::from(value)));
        check(HIDDEN, self.hidden);
        check(VOCAB, self.vocab);
        check(CONTEXT, self.max_context);
        // Saturating: a hostile link may claim any count in each group.
        let layers = self.blocks.iter().fold(0u32, |sum, blocks| sum.saturating_add(blocks.count));
        check(LAYERS, layers);
        for blocks in &self.blocks {
            let Attention::Gqa(gqa) = &blocks.attention;
            let Ffn::Dense(dense) = &blocks.ffn;
            check(HEADS, gqa.heads);
            check(KV_HEADS, gqa.kv_heads);
            check(HEAD_DIM, gqa.head_dim);
            check(INTERMEDIATE, dense.intermediate);
        }
        if found.is_empty() {
            found.extend(self.blocks.iter().flat_map(|blocks| misfits(&blocks.attention)));
        }
        if self.id.len() > NAME_BYTES || self.name.len() > NAME_BYTES {
            found.push(format!("the model's id or name is longer than {NAME_BYTES} bytes"));
        }
        found
    }
}

/// Heads that do not divide. Called with every count at least 1.
fn misfits(attention: &Attention) -> Vec<String> {
    let Attention::Gqa(gqa) = attention;
    let mut found = Vec::new();
    if !gqa.heads.is_multiple_of(gqa.kv_heads) {
        found.push(format!(
            "`num_attention_heads` is {} and `num_key_value_heads` {}: the second has to divide the first",
            gqa.heads, gqa.kv_heads
        ));
    }
    if !gqa.head_dim.is_multiple_of(HEAD_DIM_STEP) {
        found.push(format!(
            "`head_dim` is {}: attention kernels take multiples of {HEAD_DIM_STEP}",
            gqa.head_dim
        ));
    }
    found
}
