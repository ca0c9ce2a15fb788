//! Attention over keys and values, and over latents.

use super::{Calls, of_phase, tokens};
use crate::config::model::{self, GqaTrait};
use crate::graph::{
    Attention, Batch, BatchedGemm, Block, Collective, Elementwise, Gemm, Indexer, Latent, LatentAttention,
    LatentHeads, LatentModule, Op, Phase, Scope, Sequences, SparseModule,
};
use crate::units::Bytes;

/// A token's sums of squares of Q and of K, in f32.
const SUMS_BYTES: f64 = 2.0 * 4.0;

const PHASES: [(Phase, &str); 2] =
    [(Phase::Prefill, "attention_prefill"), (Phase::Decode, "attention_decode")];

impl Calls<'_> {
    pub(super) fn gqa(&mut self, gqa: &model::Gqa, count: u64, batch: &Batch) {
        let (rows, tp) = (self.tokens, u64::from(self.layout.tp));
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
            self.element(
                Block::Attention,
                "qk_norm",
                count,
                Elementwise::QkNorm { rows, width: qk_width + index },
            );
            if gqa.has(GqaTrait::NormOverHeads) && self.layout.tp > 1 {
                let bytes = Bytes(rows as f64 * SUMS_BYTES);
                let ranks = self.layout.tp;
                self.collective("qk_norm_all_reduce", count, Collective::AllReduce { ranks, bytes });
            }
        }
        if !self.layout.rope_in_attention {
            self.element(
                Block::Attention,
                "rope",
                count,
                Elementwise::Rope { rows, width: qk_width + index },
            );
        }
        for (phase, name) in PHASES {
            let sequences = of_phase(batch, phase);
            if !sequences.is_empty() {
                self.scope = Scope::Lengths(phase);
                self.block_scores(gqa, count, phase, batch);
                let attention = Attention {
                    phase,
                    sequences,
                    heads,
                    kv_heads,
                    // As much work and as many bytes as keys and values of their own widths.
                    head_dim: (head_dim + value_dim) / 2,
                    kv: self.layout.kv,
                    window: gqa.visible().map(u64::from),
                };
                self.add(Block::Attention, name, count, Op::Attention(attention));
            }
        }
        self.scope = self.base;
        if gate > 0 {
            self.element(Block::Attention, "output_gate", count, Elementwise::SiluMul { rows, width: gate });
        }
        self.gemm(Block::Attention, "o_proj", count, self.hidden, heads * value_dim, weights);
    }

    pub(super) fn mla(&mut self, mla: &model::Mla, count: u64, batch: &Batch) {
        let heads = LatentHeads {
            heads: u64::from(mla.heads).div_ceil(u64::from(self.layout.tp)),
            latent: u64::from(mla.latent),
            rope: u64::from(mla.rope),
            nope: u64::from(mla.nope),
            value: u64::from(mla.value),
        };
        if self.layout.latent_blocks || mla.indexer.is_some() {
            self.latent_blocks(mla, heads, count, batch);
        } else {
            self.latent_kernels(mla, heads, count, batch);
        }
        if mla.gated() {
            let width = heads.heads * heads.value;
            let (rows, weights) = (self.tokens, self.formats.attention);
            self.gemm(Block::Attention, "gate_proj", count, width, self.hidden, weights);
            self.element(Block::Attention, "output_gate", count, Elementwise::SiluMul { rows, width });
        }
    }

    fn latent_blocks(&mut self, mla: &model::Mla, heads: LatentHeads, count: u64, batch: &Batch) {
        for (phase, sequences) in phases(batch) {
            let module = LatentModule {
                phase,
                sequences,
                heads,
                hidden: self.hidden,
                query_rank: u64::from(mla.query_rank.unwrap_or(0)),
                weights: self.formats.attention,
                kv: self.layout.kv,
            };
            let latent = match mla.indexer {
                Some(model::Indexer { heads, head_dim, topk, borrowed }) => {
                    let [heads, head_dim, topk] = [heads, head_dim, topk].map(u64::from);
                    let indexer = Indexer { heads, head_dim, topk };
                    Latent::Sparse(SparseModule { module, indexer, indexes: borrowed != Some(true) })
                }
                None => Latent::Module(module),
            };
            let name = match (phase, mla.indexer.is_some()) {
                (Phase::Prefill, false) => "latent_block_prefill",
                (Phase::Decode, false) => "latent_block_decode",
                (Phase::Prefill, true) => "sparse_block_prefill",
                (Phase::Decode, true) => "sparse_block_decode",
            };
            self.scope = Scope::Lengths(phase);
            self.add(Block::Attention, name, count, Op::Latent(latent));
        }
        self.scope = self.base;
    }

    fn latent_kernels(&mut self, mla: &model::Mla, heads: LatentHeads, count: u64, batch: &Batch) {
        let (rows, hidden) = (self.tokens, self.hidden);
        let weights = self.formats.attention;
        let of = Block::Attention;
        let queries = heads.heads * heads.key();
        match mla.query_rank.map(u64::from) {
            Some(rank) => {
                self.gemm(of, "qkv_a_proj", count, rank + heads.cached(), hidden, weights);
                self.element(of, "q_a_norm", count, Elementwise::Norm { rows, width: rank });
                self.gemm(of, "q_b_proj", count, queries, rank, weights);
            }
            None => {
                self.gemm(of, "q_proj", count, queries, hidden, weights);
                self.gemm(of, "kv_a_proj", count, heads.cached(), hidden, weights);
            }
        }
        self.element(of, "kv_a_norm", count, Elementwise::Norm { rows, width: heads.latent });
        let width = (heads.heads + 1) * heads.rope;
        self.element(of, "rope", count, Elementwise::Rope { rows, width });
        for (phase, sequences) in phases(batch) {
            self.scope = Scope::Lengths(phase);
            self.latent_phase(phase, sequences, heads, count);
        }
        self.scope = self.base;
        self.gemm(of, "o_proj", count, hidden, heads.heads * heads.value, weights);
    }

    /// One phase's attention kernel, between the products that expand or absorb the latents.
    fn latent_phase(&mut self, phase: Phase, sequences: Vec<Sequences>, heads: LatentHeads, count: u64) {
        let of = Block::Attention;
        let weights = self.formats.attention;
        let m = tokens(&sequences);
        let absorbed = phase == Phase::Decode || self.layout.absorbed_prompts;
        let batched = |n, k| Op::Latent(Latent::Bmm(BatchedGemm { count: heads.heads, m, n, k, weights }));
        let (before, name, after) = match phase {
            Phase::Prefill => ("q_absorb_prefill", "mla_prefill", "v_absorb_prefill"),
            Phase::Decode => ("q_absorb", "mla_decode", "v_absorb"),
        };
        if absorbed {
            self.add(of, before, count, batched(heads.latent, heads.nope));
        } else {
            // Keys and values of the cached past are expanded as well.
            let m = sequences.iter().map(|group| group.count * (group.new + group.past)).sum();
            let n = heads.heads * (heads.nope + heads.value);
            self.gemm_of(of, "kv_b_proj", count, Gemm { m, n, k: heads.latent, weights });
        }
        let attention = LatentAttention { phase, sequences, heads, kv: self.layout.kv, reach: None };
        self.add(of, name, count, Op::Latent(Latent::Attention(attention)));
        if absorbed {
            self.add(of, after, count, batched(heads.value, heads.latent));
        }
    }
}

/// The phases a batch has sequences of.
pub(super) fn phases(batch: &Batch) -> impl Iterator<Item = (Phase, Vec<Sequences>)> {
    let each = [Phase::Prefill, Phase::Decode].map(|phase| (phase, of_phase(batch, phase)));
    each.into_iter().filter(|(_, sequences)| !sequences.is_empty())
}
