//! The layer that drafts tokens (MTP): its input joins the embedding of the token before with the model's last hidden
//! state, and it shares embedding and head with the model (DeepSeek-V3 Technical Report, 2.2).
//!
//! It first runs over all tokens of the step, which writes their keys and gives every sequence's first draft; each
//! further draft is a pass over one token per sequence. Prompts get their first drafts one step later. Engines
//! reuse one layer for all drafts; models with several have identical ones.

use super::{Calls, ElementwiseKind, of_phase};
use crate::config::model::Blocks;
use crate::config::{Dtype, Model};
use crate::graph::{Batch, Block, Scope};
use crate::kernels::{Phase, tokens};

impl Calls<'_> {
    /// The last calls of a pass.
    pub(super) fn drafts(&mut self, model: &Model, batch: &Batch) {
        let drafted = u64::from(self.layout.drafted);
        if drafted == 0 {
            return;
        }
        let Some(layer) = model.drafting_layer() else { return };
        self.within = Some(Block::Drafting);
        self.formats = self.layout.formats.of_drafting();
        self.scope = self.base;
        self.predict(&layer, batch, 1);

        let sequences = of_phase(batch, Phase::Decode);
        self.tokens = tokens(&sequences);
        if self.tokens > 0 {
            self.pooled = self.tokens * u64::from(self.layout.parallel.dp);
            (self.base, self.scope) = (Scope::Drafts, Scope::Drafts);
            self.choose(model, self.tokens, drafted);
            if drafted > 1 {
                let one_each = Batch { sequences, ..Batch::default() };
                self.predict(&layer, &one_each, drafted - 1);
            }
        }
    }

    /// `count` passes of the layer.
    fn predict(&mut self, layer: &Blocks, batch: &Batch, count: u64) {
        let width = self.hidden;
        let of = Block::Drafting;
        self.element(of, "embedding", count, ElementwiseKind::Embedding, width);
        self.all_reduce(count);
        self.plain_norm(of, "embedding_norm", count);
        self.plain_norm(of, "hidden_norm", count);
        self.gemm(of, "joined_proj", count, width, 2 * width, Dtype::Bf16);
        self.blocks(&Blocks { count: count as u32, ..layer.clone() }, batch);
        self.norm(of, "final_norm", count, if self.reduced { 0 } else { count });
    }
}
