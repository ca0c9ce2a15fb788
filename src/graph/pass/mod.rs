//! The calls of one forward pass through the whole model, as one rank of each stage launches them.

mod attention;
mod compressed;
mod drafts;
mod encoder;
mod ffn;
mod layout;
mod linear;

use super::{Batch, Block, Call, Scope};
use crate::config::model::Formats;
use crate::config::{Dtype, Model, model};
use crate::kernels::{
    ACTIVATION_BYTES, Collective, Elementwise, ElementwiseKind, Gemm, Op, Phase, Sequences,
};
use crate::units::Bytes;

pub use encoder::encoder;
pub use layout::Layout;

/// All calls of one pass of `batch`, in order, all pipeline stages one after another.
///
/// `batch` and all shapes are those of one rank, the busiest if they differ. Attention heads, MLP columns and the
/// vocabulary are divided by TP, KV heads down to one per rank; experts over the ranks of all attention data
/// parallel groups. Embedding and head stay bf16, as in published checkpoints.
pub fn pass(model: &Model, layout: &Layout, batch: &Batch) -> Vec<Call> {
    calls(model, layout, batch, None)
}

/// The calls of a pass whose time depends on `scope`.
pub fn pass_of(model: &Model, layout: &Layout, batch: &Batch, scope: Scope) -> Vec<Call> {
    calls(model, layout, batch, Some(scope))
}

/// The calls per kind of layer, in the order of the model's kinds.
pub fn layers(model: &Model, layout: &Layout, batch: &Batch) -> Vec<Vec<Call>> {
    let mut calls = Calls::new(model, layout, batch, None);
    calls.embed();
    let kind = |blocks| {
        calls.list.clear();
        calls.blocks(blocks, batch);
        calls.list.clone()
    };
    model.blocks.iter().map(kind).collect()
}

fn calls(model: &Model, layout: &Layout, batch: &Batch, only: Option<Scope>) -> Vec<Call> {
    let mut calls = Calls::new(model, layout, batch, only);
    calls.embed();
    for blocks in &model.blocks {
        calls.blocks(blocks, batch);
    }
    calls.head(model, batch);
    calls.drafts(model, batch);
    calls.list
}

struct Calls<'a> {
    list: Vec<Call>,
    layout: &'a Layout,
    /// Formats of the current layers.
    formats: Formats,
    tokens: u64,
    /// Tokens of all ranks that share the experts.
    pooled: u64,
    hidden: u64,
    /// Calls of other scopes are left out.
    only: Option<Scope>,
    /// For calls that depend on neither lengths nor experts.
    base: Scope,
    /// For the next calls added.
    scope: Scope,
    overlapped: bool,
    /// The previous part ended in an all-reduce.
    reduced: bool,
    /// What the next calls added belong to as a whole: the drafting layer, or the encoder.
    within: Option<Block>,
}

impl<'a> Calls<'a> {
    fn new(model: &Model, layout: &'a Layout, batch: &Batch, only: Option<Scope>) -> Self {
        let tokens = batch.tokens();
        let pooled = batch.pooled.unwrap_or(tokens * u64::from(layout.parallel.dp));
        Self {
            list: Vec::new(),
            layout,
            formats: layout.formats,
            tokens,
            pooled,
            hidden: u64::from(model.hidden),
            only,
            base: Scope::Tokens,
            scope: Scope::Tokens,
            overlapped: false,
            reduced: false,
            within: None,
        }
    }
}

impl Calls<'_> {
    /// The part before the first layer.
    fn embed(&mut self) {
        self.element(Block::Embedding, "embedding", 1, ElementwiseKind::Embedding, self.hidden);
        self.all_reduce(1);
    }

    fn add(&mut self, block: Block, name: &'static str, count: u64, op: impl Into<Op>) {
        let block = self.within.unwrap_or(block);
        if self.wanted() {
            self.list.push(Call {
                block,
                name,
                op: op.into(),
                count,
                scope: self.scope,
                overlapped: self.overlapped,
            });
        }
    }

    /// Whether calls of the current scope are wanted.
    fn wanted(&self) -> bool {
        self.only.is_none_or(|only| only == self.scope)
    }

    /// Adds an element-wise kernel over all tokens of the step.
    fn element(&mut self, block: Block, name: &'static str, count: u64, kind: ElementwiseKind, width: u64) {
        self.add(block, name, count, Elementwise { kind, rows: self.tokens, width });
    }

    fn gemm(&mut self, block: Block, name: &'static str, count: u64, n: u64, k: u64, weights: Dtype) {
        self.gemm_of(block, name, count, Gemm { m: self.tokens, n, k, weights });
    }

    fn gemm_of(&mut self, block: Block, name: &'static str, count: u64, gemm: Gemm) {
        if gemm.m > 0 {
            self.add(block, name, count, gemm);
        }
    }

    fn collective(&mut self, name: &'static str, count: u64, collective: Collective) {
        self.add(Block::Communication, name, count, collective);
    }

    fn all_reduce(&mut self, count: u64) {
        let ranks = self.layout.parallel.tp;
        self.reduced = ranks > 1;
        if ranks > 1 {
            let bytes = Bytes((self.tokens * self.hidden) as f64 * ACTIVATION_BYTES);
            self.collective("all_reduce", count, Collective::AllReduce { ranks, bytes });
        }
    }

    fn blocks(&mut self, blocks: &model::Blocks, batch: &Batch) {
        if blocks.has(model::GqaTrait::Cross) {
            // No image, no keys: the layer is skipped.
            return;
        }
        let count = u64::from(blocks.count);
        // Within a block type, every layer but the first follows one of the same type: with data-parallel
        // attention, that one ended in a reduce-scatter.
        let scatters = matches!(blocks.ffn, Some(model::Ffn::Moe(_))) && self.layout.parallel.dp > 1;
        let mut unreduced = u64::from(!self.reduced) + if scatters { count.saturating_sub(1) } else { 0 };
        if let Some(attention) = &blocks.attention {
            let block = if attention.recurs() { Block::Recurrence } else { Block::Attention };
            self.before(block, ["mhc_pre", "input_norm"], [count, unreduced], blocks.streams);
            match attention {
                model::Attention::Gqa(gqa) => self.gqa(gqa, count, batch),
                model::Attention::Mla(mla) => self.mla(mla, count, batch),
                model::Attention::Delta(delta) => self.delta(delta, count, batch),
                model::Attention::Mamba(mamba) => self.mamba(mamba, count, batch),
                model::Attention::Compressed(compressed) => self.compressed(compressed, count, batch),
            }
            self.all_reduce(count);
            unreduced = 0;
            self.after(block, ["mhc_post", "attention_output_norm"], count, blocks);
        }
        if let Some(ffn) = &blocks.ffn {
            let block = if matches!(ffn, model::Ffn::Moe(_)) { Block::Experts } else { Block::Mlp };
            self.before(block, ["mhc_mlp_pre", "post_norm"], [count, unreduced], blocks.streams);
            match ffn {
                model::Ffn::Dense(dense) => {
                    self.dense(dense, count, self.formats.mlp);
                    self.all_reduce(count);
                }
                model::Ffn::Moe(moe) => self.moe(moe, count),
            }
            self.after(block, ["mhc_mlp_post", "mlp_output_norm"], count, blocks);
        }
    }

    /// The norm before a part of a block; a stream collapsed from several has no residual to add.
    fn before(
        &mut self,
        block: Block,
        [collapse, norm]: [&'static str; 2],
        [count, unreduced]: [u64; 2],
        streams: Option<u32>,
    ) {
        match streams {
            Some(streams) => {
                self.collapse(block, collapse, count, streams);
                self.plain_norm(block, norm, count);
            }
            None => self.norm(block, norm, count, unreduced),
        }
    }

    /// What follows a part of a block: its result spread over the streams, and a norm if the block has one there.
    fn after(&mut self, block: Block, [spread, norm]: [&'static str; 2], count: u64, blocks: &model::Blocks) {
        if let Some(streams) = blocks.streams {
            self.spread(block, spread, count, streams);
        }
        if blocks.norms == model::Norms::Sandwich {
            self.plain_norm(block, norm, count);
        }
    }

    /// Norm with the residual added. A preceding all-reduce may fuse it, except for `unreduced` of them, which
    /// follow none.
    fn norm(&mut self, block: Block, name: &'static str, count: u64, unreduced: u64) {
        let fused = self.layout.norm_in_all_reduce && self.layout.parallel.tp > 1;
        let count = if fused { unreduced } else { count };
        if count > 0 {
            self.element(block, name, count, ElementwiseKind::AddNorm, self.hidden);
        }
    }

    fn plain_norm(&mut self, block: Block, name: &'static str, count: u64) {
        self.element(block, name, count, ElementwiseKind::Norm, self.hidden);
    }

    /// Stage transfers, then the final norm, the logits of each position, and sampling.
    fn head(&mut self, model: &Model, batch: &Batch) {
        let rows = batch.logits();
        if self.layout.parallel.pp > 1 {
            // Hidden state and residual, or all residual streams.
            let states = model.blocks.iter().filter_map(|blocks| blocks.streams).max().unwrap_or(2);
            let bytes = Bytes(f64::from(states) * (self.tokens * self.hidden) as f64 * ACTIVATION_BYTES);
            let ranks = if self.layout.shards_states { self.layout.parallel.tp } else { 1 };
            let sent = bytes / f64::from(ranks);
            let crossings = self.layout.crossings.min(self.layout.parallel.pp - 1);
            let inside = self.layout.parallel.pp - 1 - crossings;
            for (name, count, across) in
                [("send_recv", inside, false), ("network_send_recv", crossings, true)]
            {
                if count > 0 {
                    self.collective(name, u64::from(count), Collective::SendRecv { bytes: sent, across });
                }
            }
            if ranks > 1 {
                let gather = Collective::AllGather { ranks, bytes };
                self.collective("stage_all_gather", u64::from(self.layout.parallel.pp - 1), gather);
            }
        }
        self.norm(Block::Head, "final_norm", 1, u64::from(!self.reduced));
        self.scope = Scope::Logits;
        self.choose(model, rows, 1);
    }

    /// Logits and sampling of this many positions.
    fn choose(&mut self, model: &Model, rows: u64, count: u64) {
        let (ranks, tp) = (self.layout.head_ranks, self.layout.parallel.tp);
        let vocab = u64::from(model.vocab);
        let groups = u64::from(ranks / tp.max(1)).max(1);
        let all = rows * groups;
        let gather = |width: u64| {
            let bytes = Bytes((all * width) as f64 * ACTIVATION_BYTES);
            Collective::AllGather { ranks, bytes }
        };
        if groups > 1 {
            self.collective("states_all_gather", count, gather(self.hidden));
        }
        let gemm = Gemm { m: all, n: vocab.div_ceil(u64::from(ranks)), k: self.hidden, weights: Dtype::Bf16 };
        self.gemm_of(Block::Head, "lm_head", count, gemm);
        if ranks > 1 {
            self.collective("all_gather", count, gather(vocab));
        }
        self.add(
            Block::Head,
            "sampling",
            count,
            Elementwise { kind: ElementwiseKind::Sampling, rows, width: vocab },
        );
    }
}

/// The sequences of a batch in one phase.
fn of_phase(batch: &Batch, phase: Phase) -> Vec<Sequences> {
    let decodes = phase == Phase::Decode;
    batch.sequences.iter().copied().filter(|group| group.decodes() == decodes && group.count > 0).collect()
}

/// The phases present in a batch.
fn phases(batch: &Batch) -> impl Iterator<Item = (Phase, Vec<Sequences>)> {
    Phase::ALL
        .iter()
        .map(|&phase| (phase, of_phase(batch, phase)))
        .filter(|(_, sequences)| !sequences.is_empty())
}

/// The phases of a batch, with each draft as a sequence of its own: its query may attend to other keys.
fn by_query(batch: &Batch) -> impl Iterator<Item = (Phase, Vec<Sequences>)> {
    with_drafts(batch, as_sequences)
}

/// The phases of a batch, with drafts as new tokens of their decoding sequences.
fn verified(batch: &Batch) -> impl Iterator<Item = (Phase, Vec<Sequences>)> {
    with_drafts(batch, as_tokens)
}

fn as_sequences(group: &mut Sequences, drafted: u64) {
    group.count *= 1 + drafted;
}

fn as_tokens(group: &mut Sequences, drafted: u64) {
    group.new += drafted;
}

/// The phases of a batch after `add`, which adds so many drafts to a group of decoding sequences.
fn with_drafts(batch: &Batch, add: fn(&mut Sequences, u64)) -> impl Iterator<Item = (Phase, Vec<Sequences>)> {
    phases(batch).map(move |(phase, mut sequences)| {
        let drafted = phase.choose(0, batch.drafted);
        sequences.iter_mut().for_each(|group| add(group, drafted));
        (phase, sequences)
    })
}
