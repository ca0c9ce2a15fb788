//! A model's weights: how many, of which class, and how they are sharded.
//!
//! A single list gives both the published parameter counts and the bytes per GPU.

use super::attention::Gates;
use super::{
    Attention, Blocks, Compressed, Delta, Dense, Ffn, Formats, Gqa, GqaTrait, Mamba, Mla, Model, Moe, Norms,
};
use crate::config::Dtype;

/// Which of a checkpoint's formats a tensor uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    Attention,
    Mlp,
    Shared,
    Experts,
    /// 16 bits in every checkpoint: norms, routers, convolutions, gates, biases.
    Kept,
}

/// How a tensor is sharded over GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharding {
    /// Sharded over the tensor parallel ranks.
    Tp,
    /// Sharded over the tensor parallel ranks, in whole heads of this number.
    Heads(u32),
    /// Sharded over all ranks that share the experts.
    Experts,
    /// A whole copy on every rank.
    Replicated,
}

/// The weights of one block with the same class and sharding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tensor {
    pub class: Class,
    pub sharding: Sharding,
    pub elements: f64,
    /// Fraction of the elements multiplied with each token.
    pub active: f64,
}

impl Class {
    pub fn dtype(self, formats: &Formats) -> Dtype {
        match self {
            Self::Attention => formats.attention,
            Self::Mlp => formats.mlp,
            Self::Shared => formats.shared,
            Self::Experts => formats.weights,
            Self::Kept => Dtype::Bf16,
        }
    }
}

struct Tensors(Vec<Tensor>);

impl Tensors {
    /// `rows` by `columns` elements.
    fn add(&mut self, class: Class, sharding: Sharding, rows: u32, columns: u32) {
        let elements = f64::from(rows) * f64::from(columns);
        self.0.push(Tensor { class, sharding, elements, active: 1.0 });
    }

    fn kept(&mut self, elements: u32) {
        self.add(Class::Kept, Sharding::Replicated, elements, 1);
    }
}

impl Model {
    /// All parameters: embedding, head, blocks, norms, biases.
    pub fn parameters(&self) -> f64 {
        self.tables() + self.of_blocks(|tensor| tensor.elements)
    }

    /// Parameters used per token: all but those of experts it does not visit.
    pub fn active_parameters(&self) -> f64 {
        self.tables() + self.of_blocks(|tensor| tensor.elements * tensor.active)
    }

    /// Embedding, positions, head and final norm.
    fn tables(&self) -> f64 {
        let tables = if self.tied_embeddings { 1.0 } else { 2.0 };
        let positions = f64::from(self.positions.unwrap_or(0));
        (tables * f64::from(self.vocab) + positions + 1.0) * f64::from(self.hidden)
    }

    fn of_blocks(&self, of: impl Fn(&Tensor) -> f64) -> f64 {
        let one = |blocks: &Blocks| blocks.tensors(self.hidden).iter().map(&of).sum::<f64>();
        self.blocks.iter().map(|blocks| f64::from(blocks.count) * one(blocks)).sum()
    }
}

impl Blocks {
    /// The weights of one block.
    pub fn tensors(&self, hidden: u32) -> Vec<Tensor> {
        let mut tensors = Tensors(Vec::new());
        let sides = u32::from(self.attention.is_some()) + u32::from(self.ffn.is_some());
        let each = match self.norms {
            Norms::Pre => 1,
            Norms::Sandwich => 2,
        };
        tensors.add(Class::Kept, Sharding::Replicated, sides * each, hidden);
        match &self.attention {
            Some(Attention::Gqa(gqa)) => tensors.gqa(gqa, hidden),
            Some(Attention::Mla(mla)) => tensors.mla(mla, hidden),
            Some(Attention::Delta(delta)) => tensors.delta(delta, hidden),
            Some(Attention::Mamba(mamba)) => tensors.mamba(mamba, hidden),
            Some(Attention::Compressed(compressed)) => tensors.compressed(compressed, hidden),
            None => {}
        }
        match &self.ffn {
            Some(Ffn::Dense(dense)) => tensors.dense(Class::Mlp, dense, hidden),
            Some(Ffn::Moe(moe)) => tensors.moe(moe, hidden),
            None => {}
        }
        if let Some(streams) = self.streams {
            // For each part: collapse of the streams, spread of the result, and their mixing.
            let weights = (streams + 2) * streams;
            (0..sides)
                .for_each(|_| tensors.add(Class::Kept, Sharding::Replicated, weights, streams * hidden + 1));
        }
        tensors.0
    }
}

impl Tensors {
    fn gqa(&mut self, gqa: &Gqa, hidden: u32) {
        let of = Class::Attention;
        let queries = if gqa.has(GqaTrait::OutputGate) { 2 } else { 1 };
        self.add(of, Sharding::Tp, hidden, queries * gqa.q_width());
        let per_head = if gqa.has(GqaTrait::ValuesFromKeys) { gqa.head_dim } else { gqa.cached_per_head() };
        self.add(of, Sharding::Heads(gqa.kv_heads), hidden, gqa.kv_heads * per_head);
        self.add(of, Sharding::Tp, hidden, gqa.heads * gqa.value_dim());
        if gqa.qk_norm {
            self.kept(2 * gqa.head_dim);
        }
        if gqa.qkv_bias {
            self.kept(gqa.q_width() + gqa.kv_heads * gqa.cached_per_head());
        }
        if gqa.has(GqaTrait::Sinks) {
            self.kept(gqa.heads);
        }
        if let Some(blocks) = gqa.blocks {
            self.add(of, Sharding::Heads(blocks.heads), hidden, blocks.heads * blocks.head_dim);
            self.add(of, Sharding::Replicated, hidden, blocks.head_dim);
            self.kept(2 * blocks.head_dim);
        }
    }

    fn compressed(&mut self, compressed: &Compressed, hidden: u32) {
        let of = Class::Attention;
        let &Compressed { heads, head_dim, query_rank, groups, output_rank, .. } = compressed;
        self.add(of, Sharding::Replicated, hidden, query_rank + head_dim);
        self.add(of, Sharding::Tp, query_rank, compressed.q_width());
        // Each group of heads with its own matrix, then all groups together.
        self.add(of, Sharding::Tp, compressed.q_width(), output_rank);
        self.add(of, Sharding::Tp, groups * output_rank, hidden);
        self.kept(query_rank + head_dim + heads);
        if let Some(ratio) = compressed.ratio {
            let width = compressed.compressor() + compressed.index_compressor();
            self.add(Class::Kept, Sharding::Replicated, hidden, width);
            // A bias for each position in a group of tokens, on the gates alone.
            self.add(Class::Kept, Sharding::Replicated, ratio, width / 2);
            self.kept(head_dim);
        }
        if let Some(indexer) = compressed.indexer {
            self.add(of, Sharding::Replicated, query_rank, indexer.heads * indexer.head_dim);
            self.add(Class::Kept, Sharding::Replicated, hidden, indexer.heads);
            self.kept(indexer.head_dim);
        }
    }

    fn mla(&mut self, mla: &Mla, hidden: u32) {
        let of = Class::Attention;
        let queries = mla.heads * (mla.nope + mla.rope);
        match mla.query_rank {
            Some(rank) => {
                self.add(of, Sharding::Replicated, hidden, rank);
                self.add(of, Sharding::Tp, rank, queries);
                self.kept(rank);
            }
            None => self.add(of, Sharding::Tp, hidden, queries),
        }
        self.add(of, Sharding::Replicated, hidden, mla.cached());
        self.kept(mla.latent);
        self.add(of, Sharding::Tp, mla.latent, mla.heads * (mla.nope + mla.value));
        self.add(of, Sharding::Tp, hidden, mla.heads * mla.value);
        if mla.gated() {
            self.add(of, Sharding::Tp, hidden, mla.heads * mla.value);
        }
        if let Some(indexer) = mla.indexer.filter(|indexer| indexer.borrowed != Some(true)) {
            // Queries from the compressed ones, a single key, and a weight per head.
            let from = mla.query_rank.unwrap_or(hidden);
            self.add(of, Sharding::Replicated, from, indexer.heads * indexer.head_dim);
            self.add(of, Sharding::Replicated, hidden, indexer.head_dim);
            self.add(Class::Kept, Sharding::Replicated, hidden, indexer.heads);
            self.kept(2 * indexer.head_dim);
        }
    }

    fn delta(&mut self, delta: &Delta, hidden: u32) {
        let of = Class::Attention;
        self.add(of, Sharding::Tp, hidden, delta.channels());
        match delta.gates {
            Gates::PerHead => {
                // The output gate, and decay and step of each value head.
                self.add(of, Sharding::Tp, hidden, delta.value_width());
                self.add(Class::Kept, Sharding::Tp, hidden, 2 * delta.value_heads);
                self.kept(2 * delta.value_heads);
            }
            Gates::PerChannel => {
                // Decay and, unless projected directly, the output gate through a one-head bottleneck, and the step
                // of each head.
                self.add(of, Sharding::Replicated, hidden, delta.key_dim);
                self.add(of, Sharding::Tp, delta.key_dim, delta.key_width());
                if delta.full_gate == Some(true) {
                    self.add(of, Sharding::Tp, hidden, delta.value_width());
                } else {
                    self.add(of, Sharding::Replicated, hidden, delta.value_dim);
                    self.add(of, Sharding::Tp, delta.value_dim, delta.value_width());
                }
                self.add(Class::Kept, Sharding::Tp, hidden, delta.value_heads);
                self.kept(delta.key_width() + delta.value_heads);
            }
        }
        self.add(Class::Kept, Sharding::Tp, delta.channels(), delta.taps);
        self.kept(delta.value_dim);
        self.add(of, Sharding::Tp, hidden, delta.value_width());
    }

    fn mamba(&mut self, mamba: &Mamba, hidden: u32) {
        let (of, width) = (Class::Attention, mamba.width());
        if let Some(rank) = mamba.rank {
            self.add(of, Sharding::Tp, hidden, 2 * width);
            self.add(of, Sharding::Tp, width, mamba.selected(rank));
            self.add(of, Sharding::Tp, rank, width);
            // Decay of each channel's states, bias of its step, what it passes on as it is; norms of what is selected.
            self.add(Class::Kept, Sharding::Tp, width, mamba.state + 2);
            self.kept(mamba.selected(rank));
        } else {
            // Gate and values, input and output matrices, and a step per head.
            self.add(of, Sharding::Tp, hidden, width + mamba.channels() + mamba.heads);
            self.kept(3 * mamba.heads + width);
        }
        self.add(Class::Kept, Sharding::Tp, mamba.channels(), mamba.taps + 1);
        self.add(of, Sharding::Tp, hidden, width);
    }

    fn dense(&mut self, class: Class, dense: &Dense, hidden: u32) {
        self.add(class, Sharding::Tp, hidden, dense.columns());
        self.add(class, Sharding::Tp, hidden, dense.intermediate);
    }

    fn moe(&mut self, moe: &Moe, hidden: u32) {
        let width = moe.width(hidden);
        self.add(Class::Kept, Sharding::Replicated, hidden, moe.experts);
        let columns = moe.intermediate * if moe.gated() { 3 } else { 2 };
        let mut expert = f64::from(width) * f64::from(columns);
        if moe.bias == Some(true) {
            expert += f64::from(columns - moe.intermediate) + f64::from(width);
        }
        self.0.push(Tensor {
            class: Class::Experts,
            sharding: Sharding::Experts,
            elements: expert * f64::from(moe.experts),
            active: f64::from(moe.topk) / f64::from(moe.experts.max(1)),
        });
        if moe.latent.is_some() {
            self.add(Class::Shared, Sharding::Replicated, hidden, 2 * width);
        }
        if let Some(shared) = moe.shared() {
            self.dense(Class::Shared, &shared, hidden);
        }
        if moe.shared_gate == Some(true) {
            self.kept(hidden);
        }
        if let Some(intermediate) = moe.beside {
            self.dense(Class::Mlp, &Dense { intermediate, ungated: moe.ungated }, hidden);
            // The norms after both branches, and before the experts.
            self.kept(3 * hidden);
        }
    }
}
