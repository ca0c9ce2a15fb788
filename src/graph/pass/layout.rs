//! How a model is laid out over GPUs, in which formats, and what the engine decides.

use crate::config::model::Formats;
use crate::config::{Dtype, Parallelism};
use crate::kernels::Routing;

/// The layout of a model over GPUs, and the engine's choices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    pub parallel: Parallelism,
    /// Stages whose successor is on another node.
    pub crossings: u32,
    pub formats: Formats,
    pub kv: Dtype,
    /// The engine's attention kernel applies the rotary embedding itself.
    pub rope_in_attention: bool,
    /// Shared experts run concurrently with the routed ones.
    pub shared_beside_routed: bool,
    /// Ranks that share the LM head: those of one attention DP group, or of all.
    pub head_ranks: u32,
    /// Between stages each rank sends its share of the states, and the next stage gathers them.
    pub shards_states: bool,
    /// The norm after an all-reduce is fused into it.
    pub norm_in_all_reduce: bool,
    /// The engine computes delta rules as its older versions did.
    pub older_delta_rules: bool,
    /// Latent attention is counted and timed as a whole block, because the engine's kernel alone was not measured.
    pub latent_blocks: bool,
    /// The engine's latent kernel attends to latents in prefill too, instead of expanding keys.
    pub absorbed_prompts: bool,
    /// Tokens drafted per sequence and decode step, by the model's own layer if it has one.
    pub drafted: u32,
    /// The time of the experts' kernel includes their choice.
    pub chosen_inside: bool,
    /// How tokens choose experts.
    pub routing: Routing,
}
