//! How a model lies over GPUs, in which formats, and what of it the engine decides.

use crate::config::Dtype;
use crate::config::model::Formats;
use crate::kernels::Routing;

/// How the model lies over GPUs, and how the engine runs it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    /// Ranks that share attention heads, MLP columns and vocabulary.
    pub tp: u32,
    pub pp: u32,
    /// Stages whose next one is on another node.
    pub crossings: u32,
    /// Groups of `tp` ranks that each attend to requests of their own and share the experts.
    pub dp: u32,
    /// Ranks that the experts are sharded over, of the `tp * dp` that share them; the others shard each expert.
    pub ep: u32,
    pub formats: Formats,
    pub kv: Dtype,
    /// The engine's attention kernel applies the rotary embedding itself.
    pub rope_in_attention: bool,
    /// Shared experts run beside the routed ones.
    pub shared_beside_routed: bool,
    /// The norm behind an all-reduce is part of it.
    pub norm_in_all_reduce: bool,
    /// Latent attention is counted and timed as one block, for want of the engine's kernel alone.
    pub latent_blocks: bool,
    /// The engine's latent kernel attends to the latents in prompts too, instead of expanding keys.
    pub absorbed_prompts: bool,
    /// Tokens drafted of each sequence in a decode step, by the model's own layer where it has one.
    pub drafted: u32,
    /// How tokens choose experts.
    pub routing: Routing,
}

impl Layout {
    /// Ranks that share the experts of a layer.
    pub fn expert_ranks(&self) -> u32 {
        self.tp * self.dp
    }

    /// Ranks that shard each expert's width.
    pub fn expert_tp(&self) -> u32 {
        (self.expert_ranks() / self.ep.max(1)).max(1)
    }
}
