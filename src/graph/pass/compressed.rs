//! Attention over compressed keys, and the mixing of residual streams around it (DeepSeek-V4).
//!
//! The kernels are those that engines launch: projections of queries and entry, the indexer, compression, attention,
//! the result in two steps (`DeepseekV4Attention` in Hugging Face transformers, vLLM's and SGLang's layers).

use super::{Calls, ElementwiseKind, by_query};
use crate::config::{Dtype, model};
use crate::graph::{Batch, Block, Scope};
use crate::kernels::{LatentAttention, LatentHeads, Phase, Reach, Scores, Sequences, tokens};

impl Calls<'_> {
    pub(super) fn compressed(&mut self, compressed: &model::Compressed, count: u64, batch: &Batch) {
        let (hidden, tp) = (self.hidden, u64::from(self.layout.parallel.tp));
        let weights = self.formats.attention;
        let of = Block::Attention;
        let [head_dim, rope, rank] =
            [compressed.head_dim, compressed.rope, compressed.query_rank].map(u64::from);
        let heads = u64::from(compressed.heads).div_ceil(tp);
        let queries = heads * head_dim;
        self.gemm(of, "qkv_a_proj", count, rank + head_dim, hidden, weights);
        self.element(of, "q_a_norm", count, ElementwiseKind::Norm, rank);
        self.gemm(of, "q_b_proj", count, queries, rank, weights);
        self.element(of, "q_norm", count, ElementwiseKind::QkNorm, queries);
        self.element(of, "kv_norm", count, ElementwiseKind::Norm, head_dim);
        self.element(of, "rope", count, ElementwiseKind::Rope, (heads + 1) * rope);
        if compressed.ratio.is_some() {
            self.compression(compressed, count);
        }
        for (phase, sequences) in by_query(batch) {
            self.scope = Scope::Lengths(phase);
            let ratio = compressed.ratio.map(u64::from);
            if let (Some(indexer), Some(ratio)) = (compressed.indexer, ratio) {
                let [heads, head_dim, topk] = [indexer.heads, indexer.head_dim, indexer.topk].map(u64::from);
                let sequences = sequences.clone();
                let call = Scores { sequences, heads, head_dim, ratio, keys: Dtype::Fp8, topk };
                self.add(of, index_scores(phase), count, call);
            }
            let topk = compressed.indexer.map(|indexer| u64::from(indexer.topk));
            let reach = Some(Reach { window: u64::from(compressed.window), ratio, topk });
            // An entry is both key and value of every head, like an absorbed latent.
            let heads = LatentHeads { heads, latent: head_dim, rope: 0, nope: head_dim, value: head_dim };
            let call = LatentAttention { phase, sequences, heads, kv: self.layout.kv, reach };
            self.add(of, phase.choose("attention_prefill", "attention_decode"), count, call);
        }
        self.scope = self.base;
        // Values are keys, rotary part included: the rotation is undone on the output.
        self.element(of, "output_rope", count, ElementwiseKind::Rope, heads * rope);
        let [groups, output_rank] = [compressed.groups, compressed.output_rank].map(u64::from);
        let group = groups.div_ceil(tp);
        let k = (queries / group).max(1);
        // As one GEMM over the weights of all groups: the same multiply-adds and weight bytes.
        self.gemm(of, "o_a_proj", count, group * output_rank, k, weights);
        self.gemm(of, "o_b_proj", count, hidden, group * output_rank, weights);
    }

    /// Projects every token to its contribution to an entry and an index key; gates weight the contributions.
    fn compression(&mut self, compressed: &model::Compressed, count: u64) {
        let (hidden, of) = (self.hidden, Block::Attention);
        let weights = self.formats.attention;
        let width = u64::from(compressed.compressor());
        self.gemm(of, "compressor_proj", count, width, hidden, Dtype::Bf16);
        self.element(of, "compress", count, ElementwiseKind::SiluMul, width / 2);
        let Some(indexer) = compressed.indexer else { return };
        let width = u64::from(compressed.index_compressor());
        self.gemm(of, "index_compressor_proj", count, width, hidden, Dtype::Bf16);
        self.element(of, "index_compress", count, ElementwiseKind::SiluMul, width / 2);
        let queries = u64::from(indexer.heads) * u64::from(indexer.head_dim);
        self.gemm(of, "index_q_proj", count, queries, u64::from(compressed.query_rank), weights);
        self.element(of, "index_rope", count, ElementwiseKind::Rope, queries);
        self.gemm(of, "index_weights_proj", count, u64::from(indexer.heads), hidden, Dtype::Bf16);
    }

    /// Collapses the residual streams into one before a part of a block, weighted by a projection of all of them.
    pub(super) fn collapse(&mut self, block: Block, name: &'static str, count: u64, streams: u32) {
        let streams = u64::from(streams);
        self.gemm(block, "mhc_weights", count, (streams + 2) * streams, streams * self.hidden, Dtype::Bf16);
        // All streams in, one out.
        self.element(block, name, count, ElementwiseKind::Mix, (streams + 1) * self.hidden);
    }

    /// Mixes the streams and adds the part's output to each.
    pub(super) fn spread(&mut self, block: Block, name: &'static str, count: u64, streams: u32) {
        let streams = u64::from(streams);
        // All streams and the result in, all streams out.
        self.element(block, name, count, ElementwiseKind::Mix, (2 * streams + 1) * self.hidden);
    }

    /// The scores MiniMax-M3 uses to select blocks of keys.
    pub(super) fn block_scores(
        &mut self,
        gqa: &model::Gqa,
        count: u64,
        phase: Phase,
        sequences: &[Sequences],
    ) {
        let Some(blocks) = gqa.blocks.filter(|_| tokens(sequences) > 0) else { return };
        let heads = u64::from(blocks.heads).div_ceil(u64::from(self.layout.parallel.tp));
        let (head_dim, topk) = (u64::from(blocks.head_dim), u64::from(blocks.keys()));
        let sequences = sequences.to_vec();
        let call = Scores { sequences, heads, head_dim, ratio: 1, keys: Dtype::Bf16, topk };
        self.add(Block::Attention, index_scores(phase), count, call);
    }
}

fn index_scores(phase: Phase) -> &'static str {
    phase.choose("index_scores_prefill", "index_scores_decode")
}
