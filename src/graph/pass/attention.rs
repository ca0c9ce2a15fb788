//! Attention over keys and values, and over latents.

use super::{Calls, ElementwiseKind, as_sequences, as_tokens, phases, with_drafts};
use crate::config::model::{self, GqaTrait};
use crate::graph::{Batch, Block, Scope};
use crate::kernels::{
    Attention, BatchedGemm, Collective, Gemm, LatentAttention, LatentHeads, LatentModule, Op, Phase,
    Sequences, SparseModule, tokens,
};
use crate::units::Bytes;

/// A token's sums of squares over Q and K, in f32.
const SUMS_BYTES: f64 = 2.0 * 4.0;

impl Calls<'_> {
    pub(super) fn gqa(&mut self, gqa: &model::Gqa, count: u64, batch: &Batch) {
        let (rows, tp) = (self.tokens, u64::from(self.layout.parallel.tp));
        let heads = u64::from(gqa.heads).div_ceil(tp);
        let kv_heads = u64::from(gqa.kv_heads).div_ceil(tp);
        let (head_dim, value_dim) = (u64::from(gqa.head_dim), u64::from(gqa.value_dim()));
        let qk_width = (heads + kv_heads) * head_dim;
        let gate = if gqa.has(GqaTrait::OutputGate) { heads * head_dim } else { 0 };
        let values = if gqa.has(GqaTrait::ValuesFromKeys) { 0 } else { kv_heads * value_dim };
        let weights = self.formats.attention;

        let index = gqa
            .blocks
            .map_or(0, |blocks| (u64::from(blocks.heads).div_ceil(tp) + 1) * u64::from(blocks.head_dim));
        let columns = qk_width + values + gate + index;
        self.gemm(Block::Attention, "qkv_proj", count, columns, self.hidden, weights);
        if gqa.qk_norm {
            self.element(Block::Attention, "qk_norm", count, ElementwiseKind::QkNorm, qk_width + index);
            if gqa.has(GqaTrait::NormOverHeads) && self.layout.parallel.tp > 1 {
                let bytes = Bytes(rows as f64 * SUMS_BYTES);
                let ranks = self.layout.parallel.tp;
                self.collective("qk_norm_all_reduce", count, Collective::AllReduce { ranks, bytes });
            }
        }
        if !self.layout.rope_in_attention {
            self.element(Block::Attention, "rope", count, ElementwiseKind::Rope, qk_width + index);
        }
        // Where all queries of a sequence see the same keys, these are read once.
        let drafts: fn(&mut Sequences, u64) = if gqa.blocks.is_some() { as_sequences } else { as_tokens };
        for (phase, sequences) in with_drafts(batch, drafts) {
            self.scope = Scope::Lengths(phase);
            self.block_scores(gqa, count, phase, &sequences);
            let attention = Attention {
                phase,
                sequences,
                heads,
                kv_heads,
                // The same work and bytes as with separate key and value widths.
                head_dim: (head_dim + value_dim) / 2,
                kv: self.layout.kv,
                window: gqa.visible().map(u64::from),
            };
            let name = phase.choose("attention_prefill", "attention_decode");
            self.add(Block::Attention, name, count, attention);
        }
        self.scope = self.base;
        if gate > 0 {
            self.element(Block::Attention, "output_gate", count, ElementwiseKind::SiluMul, gate);
        }
        self.gemm(Block::Attention, "o_proj", count, self.hidden, heads * value_dim, weights);
    }

    pub(super) fn mla(&mut self, mla: &model::Mla, count: u64, batch: &Batch) {
        let heads = LatentHeads::of(mla, u64::from(mla.heads).div_ceil(u64::from(self.layout.parallel.tp)));
        if self.layout.latent_blocks || mla.indexer.is_some() {
            self.latent_blocks(mla, heads, count, batch);
        } else {
            self.latent_kernels(mla, heads, count, batch);
        }
        if mla.gated() {
            let width = heads.heads * heads.value;
            let weights = self.formats.attention;
            self.gemm(Block::Attention, "gate_proj", count, width, self.hidden, weights);
            self.element(Block::Attention, "output_gate", count, ElementwiseKind::SiluMul, width);
        }
    }

    fn latent_blocks(&mut self, mla: &model::Mla, heads: LatentHeads, count: u64, batch: &Batch) {
        // Where all queries of a sequence see the same keys, these are read once.
        let drafts: fn(&mut Sequences, u64) = if mla.indexer.is_some() { as_sequences } else { as_tokens };
        for (phase, sequences) in with_drafts(batch, drafts) {
            let module = LatentModule {
                phase,
                sequences,
                heads,
                hidden: self.hidden,
                query_rank: mla.query_rank.map(u64::from),
                weights: self.formats.attention,
                kv: self.layout.kv,
            };
            let block: Op = match mla.indexer {
                Some(indexer) => {
                    let indexes = indexer.borrowed != Some(true);
                    SparseModule { module, indexer: indexer.into(), indexes }.into()
                }
                None => module.into(),
            };
            let name = match mla.indexer {
                None => phase.choose("latent_block_prefill", "latent_block_decode"),
                Some(_) => phase.choose("sparse_block_prefill", "sparse_block_decode"),
            };
            self.scope = Scope::Lengths(phase);
            self.add(Block::Attention, name, count, block);
        }
        self.scope = self.base;
    }

    fn latent_kernels(&mut self, mla: &model::Mla, heads: LatentHeads, count: u64, batch: &Batch) {
        let hidden = self.hidden;
        let weights = self.formats.attention;
        let of = Block::Attention;
        let queries = heads.heads * heads.key();
        match mla.query_rank.map(u64::from) {
            Some(rank) => {
                self.gemm(of, "qkv_a_proj", count, rank + heads.cached(), hidden, weights);
                self.element(of, "q_a_norm", count, ElementwiseKind::Norm, rank);
                self.gemm(of, "q_b_proj", count, queries, rank, weights);
            }
            None => {
                self.gemm(of, "q_proj", count, queries, hidden, weights);
                self.gemm(of, "kv_a_proj", count, heads.cached(), hidden, weights);
            }
        }
        self.element(of, "kv_a_norm", count, ElementwiseKind::Norm, heads.latent);
        self.element(of, "rope", count, ElementwiseKind::Rope, (heads.heads + 1) * heads.rope);
        for (phase, sequences) in phases(batch) {
            self.scope = Scope::Lengths(phase);
            let drafted = phase.choose(0, batch.drafted);
            self.latent_phase(phase, sequences, (heads, drafted), count);
        }
        self.scope = self.base;
        self.gemm(of, "o_proj", count, hidden, heads.heads * heads.value, weights);
    }

    /// The attention kernel of one phase, with the GEMMs that expand or absorb the latents.
    fn latent_phase(
        &mut self,
        phase: Phase,
        sequences: Vec<Sequences>,
        (heads, drafted): (LatentHeads, u64),
        count: u64,
    ) {
        let of = Block::Attention;
        let weights = self.formats.attention;
        let m = tokens(&sequences) * (1 + drafted);
        let absorbed = phase == Phase::Decode || self.layout.absorbed_prompts;
        let batched = |n, k| BatchedGemm { count: heads.heads, m, n, k, weights };
        let (before, name, after) = match phase {
            Phase::Prefill => ("q_absorb_prefill", "mla_prefill", "v_absorb_prefill"),
            Phase::Decode => ("q_absorb", "mla_decode", "v_absorb"),
        };
        if absorbed {
            self.add(of, before, count, batched(heads.latent, heads.nope));
        } else {
            // Keys and values of the cached past are expanded too.
            let m = sequences.iter().map(|group| group.count * (group.new + group.past)).sum();
            let n = heads.heads * (heads.nope + heads.value);
            self.gemm_of(of, "kv_b_proj", count, Gemm { m, n, k: heads.latent, weights });
        }
        // All queries of a sequence share its latents, as all heads of a query do.
        let of_queries = LatentHeads { heads: heads.heads * (1 + drafted), ..heads };
        let attention =
            LatentAttention { phase, sequences, heads: of_queries, kv: self.layout.kv, reach: None };
        self.add(of, name, count, attention);
        if absorbed {
            self.add(of, after, count, batched(heads.value, heads.latent));
        }
    }
}
