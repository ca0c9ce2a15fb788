//! Limits on an architecture's size, and consistency of its parts. The same checks apply to a pasted `config.json`
//! and to a custom model from a link.

use super::{Attention, Ffn, Indexer, Model, Vision};
use crate::units::decimal;

/// The allowed range of one count, under its name in `config.json`.
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
        (!inside).then(|| format!("`{}` is {}: expected {}", self.key, decimal(value), self.range()))
    }

    /// The valid range in words.
    pub fn range(&self) -> String {
        format!("a whole number from {} to {}", self.min, self.max)
    }
}

// Each bound is several times the largest published model (Llama 3.1 405B: 126 layers, hidden size 16 384,
// intermediate size 53 248; Gemma's vocabulary: 262 144; Llama 4 Scout's context: 10 M), and small enough that no
// work count overflows.
pub const LAYERS: Limit = Limit::new("num_hidden_layers", 1_000);
pub const HIDDEN: Limit = Limit::new("hidden_size", 65_536);
pub const INTERMEDIATE: Limit = Limit::new("intermediate_size", 524_288);
pub const VOCAB: Limit = Limit::new("vocab_size", 4_194_304);
pub const HEADS: Limit = Limit::new("num_attention_heads", 1_024);
pub const KV_HEADS: Limit = Limit::new("num_key_value_heads", 1_024);
/// FlashAttention supports up to 256; Gemma 4's global layers have heads of 512.
pub const HEAD_DIM: Limit = Limit::new("head_dim", 512);
pub const VALUE_DIM: Limit = Limit::new("v_head_dim", 512);
pub const WINDOW: Limit = Limit::new("sliding_window", 100_000_000);
pub const QUERY_RANK: Limit = Limit::new("q_lora_rank", 65_536);
pub const LATENT: Limit = Limit::new("kv_lora_rank", 8_192);
pub const ROPE: Limit = Limit::new("qk_rope_head_dim", 512);
pub const NOPE: Limit = Limit::new("qk_nope_head_dim", 512);
pub const INDEX_HEADS: Limit = Limit::new("index_n_heads", 1_024);
pub const INDEX_DIM: Limit = Limit::new("index_head_dim", 512);
pub const INDEX_TOPK: Limit = Limit::new("index_topk", 1_048_576);
pub const OUTPUT_GROUPS: Limit = Limit::new("o_groups", 1_024);
pub const OUTPUT_RANK: Limit = Limit::new("o_lora_rank", 65_536);
pub const RATIO: Limit = Limit::new("compress_ratios", 65_536);
pub const MTP: Limit = Limit::new("num_nextn_predict_layers", 64);
pub const STREAMS: Limit = Limit::new("hc_mult", 64);
pub const BLOCK_HEADS: Limit = Limit::new("sparse_attention_config.sparse_num_index_heads", 1_024);
pub const BLOCK_DIM: Limit = Limit::new("sparse_attention_config.sparse_index_dim", 512);
pub const BLOCK_SIZE: Limit = Limit::new("sparse_attention_config.sparse_block_size", 65_536);
pub const BLOCK_TOPK: Limit = Limit::new("sparse_attention_config.sparse_topk_blocks", 65_536);
pub const LINEAR_KEY_HEADS: Limit = Limit::new("linear_num_key_heads", 1_024);
pub const LINEAR_VALUE_HEADS: Limit = Limit::new("linear_num_value_heads", 1_024);
pub const LINEAR_KEY_DIM: Limit = Limit::new("linear_key_head_dim", 1_024);
pub const LINEAR_VALUE_DIM: Limit = Limit::new("linear_value_head_dim", 1_024);
/// Channels, where each is a head: Jamba 1.5 Large has 16 384.
pub const MAMBA_HEADS: Limit = Limit::new("mamba_num_heads", 131_072);
pub const MAMBA_EXPAND: Limit = Limit::new("mamba_expand", 64);
pub const RANK: Limit = Limit::new("mamba_dt_rank", 65_536);
pub const MAMBA_DIM: Limit = Limit::new("mamba_head_dim", 1_024);
pub const MAMBA_GROUPS: Limit = Limit::new("n_groups", 1_024);
pub const MAMBA_STATE: Limit = Limit::new("ssm_state_size", 4_096);
pub const TAPS: Limit = Limit::new("conv_kernel", 64);
pub const EXPERTS: Limit = Limit::new("num_experts", 8_192);
pub const TOPK: Limit = Limit::new("num_experts_per_tok", 1_024);
pub const EXPERT_WIDTH: Limit = Limit::new("moe_intermediate_size", 262_144);
/// Of an encoder: its patch's side in pixels, the frames of one, and the patches of a token or window.
pub const PATCH: Limit = Limit::new("patch_size", 1_024);
pub const PATCHES: Limit = Limit::new("spatial_merge_size", 65_536);
pub const CONTEXT: Limit = Limit::new("max_position_embeddings", 100_000_000);

/// Attention kernels need head dimensions in multiples of this (16-byte loads of 16-bit values).
pub const HEAD_DIM_STEP: u32 = 8;

/// Longest model id or name, in bytes.
pub const NAME_BYTES: usize = 200;

impl Model {
    /// Everything that makes this architecture impossible to count; empty if it is valid.
    pub fn objections(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut check = |limit: Limit, value: u32| found.extend(limit.objection(f64::from(value)));
        check(HIDDEN, self.hidden);
        check(VOCAB, self.vocab);
        check(CONTEXT, self.max_context);
        // Saturating: a hostile link may claim any count in each group.
        let layers = self.blocks.iter().fold(0u32, |sum, blocks| sum.saturating_add(blocks.count));
        check(LAYERS, layers);
        self.mtp.into_iter().for_each(|layers| check(MTP, layers));
        self.positions.into_iter().for_each(|rows| check(CONTEXT, rows));
        self.vision.iter().for_each(|vision| vision_counts(vision, &mut check));
        for blocks in &self.blocks {
            blocks.attention.iter().for_each(|attention| attention_counts(attention, &mut check));
            blocks.ffn.iter().for_each(|ffn| ffn_counts(ffn, &mut check));
            blocks.streams.into_iter().for_each(|streams| check(STREAMS, streams));
        }
        if found.is_empty() {
            found.extend(self.attentions().flat_map(misfits));
        }
        let choosing = self.blocks.iter().filter_map(|blocks| match &blocks.ffn {
            Some(Ffn::Moe(moe)) if moe.topk > moe.experts => Some(moe),
            _ => None,
        });
        found.extend(choosing.map(|moe| {
            format!("`num_experts_per_tok` ({}) is larger than `num_experts` ({})", moe.topk, moe.experts)
        }));
        if self.id.len() > NAME_BYTES || self.name.len() > NAME_BYTES {
            found.push(format!("the model's id or name is longer than {NAME_BYTES} bytes"));
        }
        found
    }
}

fn vision_counts(vision: &Vision, check: &mut dyn FnMut(Limit, u32)) {
    check(LAYERS, vision.layers);
    check(HIDDEN, vision.hidden);
    check(HEADS, vision.heads);
    check(INTERMEDIATE, vision.intermediate);
    check(PATCH, vision.patch);
    check(PATCH, vision.frames);
    check(PATCHES, vision.merge);
    check(LAYERS, vision.projectors);
    vision.projector.iter().for_each(|&width| check(INTERMEDIATE, width));
    vision.window.into_iter().for_each(|patches| check(CONTEXT, patches));
    vision.tokens.into_iter().for_each(|tokens| check(CONTEXT, tokens));
}

fn attention_counts(attention: &Attention, check: &mut dyn FnMut(Limit, u32)) {
    match attention {
        Attention::Gqa(gqa) => {
            check(HEADS, gqa.heads);
            check(KV_HEADS, gqa.kv_heads);
            check(HEAD_DIM, gqa.head_dim);
            check(VALUE_DIM, gqa.value_dim());
            gqa.window.into_iter().for_each(|window| check(WINDOW, window));
            if let Some(blocks) = gqa.blocks {
                check(BLOCK_HEADS, blocks.heads);
                check(BLOCK_DIM, blocks.head_dim);
                check(BLOCK_SIZE, blocks.size);
                check(BLOCK_TOPK, blocks.topk);
            }
        }
        Attention::Mla(mla) => {
            check(HEADS, mla.heads);
            mla.query_rank.into_iter().for_each(|rank| check(QUERY_RANK, rank));
            check(LATENT, mla.latent);
            check(ROPE, mla.rope);
            check(NOPE, mla.nope);
            check(VALUE_DIM, mla.value);
            mla.indexer.iter().for_each(|indexer| indexer_counts(indexer, check));
        }
        Attention::Delta(delta) => {
            check(LINEAR_KEY_HEADS, delta.key_heads);
            check(LINEAR_VALUE_HEADS, delta.value_heads);
            check(LINEAR_KEY_DIM, delta.key_dim);
            check(LINEAR_VALUE_DIM, delta.value_dim);
            check(TAPS, delta.taps);
        }
        Attention::Mamba(mamba) => {
            check(MAMBA_HEADS, mamba.heads);
            check(MAMBA_DIM, mamba.head_dim);
            check(MAMBA_GROUPS, mamba.groups);
            check(MAMBA_STATE, mamba.state);
            check(TAPS, mamba.taps);
            mamba.rank.into_iter().for_each(|rank| check(RANK, rank));
        }
        Attention::Compressed(compressed) => {
            check(HEADS, compressed.heads);
            check(HEAD_DIM, compressed.head_dim);
            check(ROPE, compressed.rope);
            check(QUERY_RANK, compressed.query_rank);
            check(WINDOW, compressed.window);
            check(OUTPUT_GROUPS, compressed.groups);
            check(OUTPUT_RANK, compressed.output_rank);
            compressed.ratio.into_iter().for_each(|ratio| check(RATIO, ratio));
            compressed.indexer.iter().for_each(|indexer| indexer_counts(indexer, check));
        }
    }
}

fn indexer_counts(indexer: &Indexer, check: &mut dyn FnMut(Limit, u32)) {
    check(INDEX_HEADS, indexer.heads);
    check(INDEX_DIM, indexer.head_dim);
    check(INDEX_TOPK, indexer.topk);
}

fn ffn_counts(ffn: &Ffn, check: &mut dyn FnMut(Limit, u32)) {
    match ffn {
        Ffn::Dense(dense) => check(INTERMEDIATE, dense.intermediate),
        Ffn::Moe(moe) => {
            check(EXPERTS, moe.experts);
            check(TOPK, moe.topk);
            check(EXPERT_WIDTH, moe.intermediate);
            for width in [moe.shared, moe.latent, moe.beside].into_iter().flatten() {
                check(INTERMEDIATE, width);
            }
        }
    }
}

/// Divisibility and ordering violations. Every count must be within its limits.
fn misfits(attention: &Attention) -> Vec<String> {
    let (heads, head_dim, rope) = (HEADS.key, HEAD_DIM.key, ROPE.key);
    // A count and its required divisor; widths that kernels must support.
    let (quotient, widths) = match attention {
        Attention::Gqa(gqa) => {
            (Some((heads, gqa.heads, KV_HEADS.key, gqa.kv_heads)), vec![(head_dim, gqa.head_dim)])
        }
        Attention::Mla(mla) => {
            (None, vec![(rope, mla.rope), (NOPE.key, mla.nope), (VALUE_DIM.key, mla.value)])
        }
        Attention::Delta(delta) => {
            let (values, keys) = (LINEAR_VALUE_HEADS.key, LINEAR_KEY_HEADS.key);
            (Some((values, delta.value_heads, keys, delta.key_heads)), Vec::new())
        }
        Attention::Mamba(mamba) => {
            (Some((MAMBA_HEADS.key, mamba.heads, MAMBA_GROUPS.key, mamba.groups)), Vec::new())
        }
        Attention::Compressed(one) => {
            (Some((heads, one.heads, OUTPUT_GROUPS.key, one.groups)), vec![(head_dim, one.head_dim)])
        }
    };
    let indivisible = quotient.filter(|(_, count, _, by)| !count.is_multiple_of(*by));
    let mut found: Vec<String> = indivisible
        .map(|(key, count, by_key, by)| {
            format!("`{key}` must be a multiple of `{by_key}`: {count} is not divisible by {by}")
        })
        .into_iter()
        .collect();
    let odd = widths.into_iter().filter(|(_, width)| !width.is_multiple_of(HEAD_DIM_STEP));
    found.extend(odd.map(|(key, width)| {
        format!("`{key}` is {width}: attention kernels need a multiple of {HEAD_DIM_STEP}")
    }));
    if let Attention::Compressed(one) = attention {
        if one.rope > one.head_dim {
            found.push(format!("`{rope}` ({}) is larger than `{head_dim}` ({})", one.rope, one.head_dim));
        }
        if one.indexer.is_some() && one.ratio.is_none() {
            found.push("`index_topk` selects compressed keys, but `compress_ratios` has none".into());
        }
    }
    found
}
