//! How large an architecture may be, and whether its parts fit together. The same checks serve a
//! pasted `config.json` and a custom model that came in a link.

use super::{Attention, Compressed, Ffn, Gqa, Indexer, Mla, Model};
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
        (!inside).then(|| self.against(&decimal(value)))
    }

    /// That what is given is no such number.
    pub fn against(&self, given: &str) -> String {
        format!("`{}` is {given}: a whole number from {} to {} is right", self.key, self.min, self.max)
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
/// FlashAttention's kernels end at 256; Gemma 4's global layers have heads of 512.
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
pub const MAMBA_HEADS: Limit = Limit::new("mamba_num_heads", 4_096);
pub const MAMBA_DIM: Limit = Limit::new("mamba_head_dim", 1_024);
pub const MAMBA_GROUPS: Limit = Limit::new("n_groups", 1_024);
pub const MAMBA_STATE: Limit = Limit::new("ssm_state_size", 4_096);
pub const TAPS: Limit = Limit::new("conv_kernel", 64);
pub const EXPERTS: Limit = Limit::new("num_experts", 8_192);
pub const TOPK: Limit = Limit::new("num_experts_per_tok", 1_024);
pub const EXPERT_WIDTH: Limit = Limit::new("moe_intermediate_size", 262_144);
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
        self.mtp.into_iter().for_each(|layers| check(MTP, layers));
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
            format!(
                "`num_experts_per_tok` is {} and `num_experts` {}: a token cannot visit more experts than there are",
                moe.topk, moe.experts
            )
        }));
        if self.id.len() > NAME_BYTES || self.name.len() > NAME_BYTES {
            found.push(format!("the model's id or name is longer than {NAME_BYTES} bytes"));
        }
        found
    }
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

/// What does not divide or exceeds the other. Called with every count within its limits.
fn misfits(attention: &Attention) -> Vec<String> {
    match attention {
        Attention::Gqa(gqa) => gqa_misfits(gqa),
        Attention::Mla(mla) => mla_misfits(mla),
        Attention::Delta(delta) if !delta.value_heads.is_multiple_of(delta.key_heads) => vec![format!(
            "`linear_num_value_heads` is {} and `linear_num_key_heads` {}: the second has to divide the first",
            delta.value_heads, delta.key_heads
        )],
        Attention::Mamba(mamba) if !mamba.heads.is_multiple_of(mamba.groups) => vec![format!(
            "`mamba_num_heads` is {} and `n_groups` {}: the second has to divide the first",
            mamba.heads, mamba.groups
        )],
        Attention::Compressed(compressed) => compressed_misfits(compressed),
        Attention::Delta(_) | Attention::Mamba(_) => Vec::new(),
    }
}

fn mla_misfits(mla: &Mla) -> Vec<String> {
    let odd = [("qk_rope_head_dim", mla.rope), ("qk_nope_head_dim", mla.nope), ("v_head_dim", mla.value)];
    let odd = odd.into_iter().filter(|(_, width)| !width.is_multiple_of(HEAD_DIM_STEP));
    odd.map(|(key, width)| format!("`{key}` is {width}: attention kernels take multiples of {HEAD_DIM_STEP}"))
        .collect()
}

fn compressed_misfits(compressed: &Compressed) -> Vec<String> {
    let &Compressed { heads, head_dim, rope, groups, .. } = compressed;
    let mut found = Vec::new();
    if !heads.is_multiple_of(groups) {
        found.push(format!(
            "`num_attention_heads` is {heads} and `o_groups` {groups}: the second has to divide the first"
        ));
    }
    if rope > head_dim {
        found.push(format!(
            "`qk_rope_head_dim` is {rope} and `head_dim` {head_dim}: the first is a part of the second"
        ));
    }
    if !head_dim.is_multiple_of(HEAD_DIM_STEP) {
        found.push(format!("`head_dim` is {head_dim}: attention kernels take multiples of {HEAD_DIM_STEP}"));
    }
    if compressed.indexer.is_some() && compressed.ratio.is_none() {
        found.push("`index_topk` chooses among compressed keys, and `compress_ratios` has none".into());
    }
    found
}

fn gqa_misfits(gqa: &Gqa) -> Vec<String> {
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
