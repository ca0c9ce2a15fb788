//! The calls of one forward pass through the whole model, as one rank of each stage launches them.

use super::{Attention, Batch, Block, Call, Collective, Elementwise, Gemm, Op, Phase, Sequences};
use crate::config::{Dtype, Model, model};
use crate::units::Bytes;

/// How the model lies over GPUs, and the formats it is held in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    pub tp: u32,
    pub pp: u32,
    pub weights: Dtype,
    pub kv: Dtype,
    /// The engine's attention kernel applies the rotary embedding itself.
    pub rope_in_attention: bool,
}

/// Hidden states travel as bf16.
const ACTIVATION_BYTES: f64 = 2.0;

/// All calls of one pass of `batch`, in order, all pipeline stages one after another.
///
/// Shapes are those of one rank: heads, the MLP's width and the vocabulary are divided by TP, KV heads
/// down to one per rank. Linear layers hold `layout.weights`; embedding and head stay bf16, as the
/// published FP8 checkpoints keep them.
pub fn pass(model: &Model, layout: &Layout, batch: &Batch) -> Vec<Call> {
    let tokens = batch.tokens();
    let hidden = u64::from(model.hidden);
    let mut calls = Calls { list: Vec::new(), layout, tokens, hidden };
    calls.add(
        Block::Embedding,
        "embedding",
        1,
        elementwise(Elementwise::Embedding { rows: tokens, width: hidden }),
    );
    calls.all_reduce(1);
    for blocks in &model.blocks {
        calls.blocks(blocks, batch);
    }
    calls.head(model, batch);
    calls.list
}

struct Calls<'a> {
    list: Vec<Call>,
    layout: &'a Layout,
    tokens: u64,
    hidden: u64,
}

fn elementwise(op: Elementwise) -> Op {
    Op::Elementwise(op)
}

impl Calls<'_> {
    fn add(&mut self, block: Block, name: &'static str, count: u64, op: Op) {
        self.list.push(Call { block, name, op, count });
    }

    fn gemm(&mut self, block: Block, name: &'static str, count: u64, n: u64, k: u64) {
        let op = Op::Gemm(Gemm { m: self.tokens, n, k, weights: self.layout.weights });
        self.add(block, name, count, op);
    }

    fn all_reduce(&mut self, count: u64) {
        let ranks = self.layout.tp;
        if ranks > 1 {
            let bytes = Bytes((self.tokens * self.hidden) as f64 * ACTIVATION_BYTES);
            let op = Op::Collective(Collective::AllReduce { ranks, bytes });
            self.add(Block::Communication, "all_reduce", count, op);
        }
    }

    fn blocks(&mut self, blocks: &model::Blocks, batch: &Batch) {
        let count = u64::from(blocks.count);
        let (rows, hidden, tp) = (self.tokens, self.hidden, u64::from(self.layout.tp));
        let model::Attention::Gqa(gqa) = &blocks.attention;
        let model::Ffn::Dense(dense) = &blocks.ffn;
        let model::Norms::Pre = blocks.norms;
        let heads = u64::from(gqa.heads).div_ceil(tp);
        let kv_heads = u64::from(gqa.kv_heads).div_ceil(tp);
        let head_dim = u64::from(gqa.head_dim);
        let qk_width = (heads + kv_heads) * head_dim;

        let norm = elementwise(Elementwise::AddNorm { rows, width: hidden });
        self.add(Block::Attention, "input_norm", count, norm.clone());
        self.gemm(Block::Attention, "qkv_proj", count, (heads + 2 * kv_heads) * head_dim, hidden);
        if gqa.qk_norm {
            self.add(
                Block::Attention,
                "qk_norm",
                count,
                elementwise(Elementwise::QkNorm { rows, width: qk_width }),
            );
        }
        if !self.layout.rope_in_attention {
            self.add(
                Block::Attention,
                "rope",
                count,
                elementwise(Elementwise::Rope { rows, width: qk_width }),
            );
        }
        for (phase, name) in [(Phase::Prefill, "attention_prefill"), (Phase::Decode, "attention_decode")] {
            let sequences = of_phase(batch, phase);
            if !sequences.is_empty() {
                let kv = self.layout.kv;
                let attention = Attention { phase, sequences, heads, kv_heads, head_dim, kv, window: None };
                let op = Op::Attention(attention);
                self.add(Block::Attention, name, count, op);
            }
        }
        self.gemm(Block::Attention, "o_proj", count, hidden, heads * head_dim);
        self.all_reduce(count);

        let width = u64::from(dense.intermediate).div_ceil(tp);
        self.add(Block::Mlp, "post_norm", count, norm);
        self.gemm(Block::Mlp, "gate_up_proj", count, 2 * width, hidden);
        self.add(Block::Mlp, "silu_and_mul", count, elementwise(Elementwise::SiluMul { rows, width }));
        self.gemm(Block::Mlp, "down_proj", count, hidden, width);
        self.all_reduce(count);
    }

    /// Between stages, then the norm, the vocabulary's rows of the last token of each sequence, sampling.
    fn head(&mut self, model: &Model, batch: &Batch) {
        let (rows, tp) = (batch.count(), self.layout.tp);
        if self.layout.pp > 1 {
            // Hidden state and residual.
            let bytes = Bytes(2.0 * (self.tokens * self.hidden) as f64 * ACTIVATION_BYTES);
            let stages = u64::from(self.layout.pp - 1);
            self.add(
                Block::Communication,
                "send_recv",
                stages,
                Op::Collective(Collective::SendRecv { bytes }),
            );
        }
        let norm = elementwise(Elementwise::AddNorm { rows: self.tokens, width: self.hidden });
        self.add(Block::Head, "final_norm", 1, norm);
        let vocab = u64::from(model.vocab);
        let gemm = Gemm { m: rows, n: vocab.div_ceil(u64::from(tp)), k: self.hidden, weights: Dtype::Bf16 };
        self.add(Block::Head, "lm_head", 1, Op::Gemm(gemm));
        if tp > 1 {
            let bytes = Bytes((rows * vocab) as f64 * ACTIVATION_BYTES);
            let op = Op::Collective(Collective::AllGather { ranks: tp, bytes });
            self.add(Block::Communication, "all_gather", 1, op);
        }
        self.add(Block::Head, "sampling", 1, elementwise(Elementwise::Sampling { rows, width: vocab }));
    }
}

fn of_phase(batch: &Batch, phase: Phase) -> Vec<Sequences> {
    let decodes = phase == Phase::Decode;
    batch.sequences.iter().copied().filter(|group| group.decodes() == decodes && group.count > 0).collect()
}
