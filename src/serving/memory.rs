//! Device memory of the fullest GPU: weights, activations, KV cache, and what is left.

use crate::config::catalog::Physics;
use crate::config::model::{Attention, Blocks, Ffn, Model};
use crate::config::{MemoryShareOf, MissingFigure, Setup};
use crate::units::Bytes;

use super::report::Memory;

const BF16_BYTES: f64 = 2.0;
/// Logits are kept once as bf16 and once as f32 for sampling.
const LOGIT_BYTES: f64 = 6.0;

/// Sequences whose logits a step holds at once; more are sampled in turns.
const SAMPLED_SEQUENCES: f64 = 256.0;

/// Memory by part for `setup`, with `tokens` tokens of KV cache asked of each replica and steps of up to
/// `step_tokens` tokens.
///
/// # Errors
/// Where the GPU's record lacks its memory size.
pub fn memory(
    setup: &Setup,
    physics: &Physics,
    tokens: f64,
    step_tokens: f64,
    sequence_tokens: f64,
) -> Result<Memory, MissingFigure> {
    let total = setup.gpu.memory()?;
    let communication = if setup.tp * setup.pp > 1 { physics.communication } else { Bytes::ZERO };
    let reserve = physics.context + communication;
    let weights = weights(setup);
    let activations = activations(&setup.model, setup.tp, step_tokens);
    let share = setup.memory_share;
    let kv_room = match setup.engine.scheduler.memory_share_of {
        MemoryShareOf::Total => total * share - weights - activations - reserve,
        MemoryShareOf::Static => (total * share - weights).min(total - weights - activations - reserve),
        MemoryShareOf::Free => (total - weights - activations - reserve) * share,
    };
    let usable = match setup.engine.scheduler.memory_share_of {
        MemoryShareOf::Total | MemoryShareOf::Static => total * share,
        MemoryShareOf::Free => total,
    };
    let kv_per_token = kv_per_token(setup);
    let kv_tokens = (kv_room / kv_per_token).max(0.0).floor();
    Ok(Memory {
        total,
        usable,
        weights,
        activations,
        reserve,
        kv_needed: kv_per_token * tokens,
        kv_room: kv_room.max(Bytes::ZERO),
        kv_per_token,
        kv_tokens,
        max_concurrency: kv_tokens / sequence_tokens.max(1.0),
    })
}

/// Layers on the fullest pipeline stage: `(blocks, how many of them)`, dealt in order.
fn fullest_stage(model: &Model, pp: u32) -> u32 {
    model.layers().div_ceil(pp.max(1))
}

/// Weights on the fullest GPU: its share of a stage's layers, and of the embedding or the head, which sit
/// on the first and the last stage (on one GPU: both, once if tied).
fn weights(setup: &Setup) -> Bytes {
    let model = &setup.model;
    let tp = f64::from(setup.tp);
    let share = f64::from(fullest_stage(model, setup.pp)) / f64::from(model.layers().max(1));
    let blocks: f64 = model.blocks.iter().map(|blocks| block_bytes(model, blocks, setup)).sum();
    let table = f64::from(model.vocab) * f64::from(model.hidden) * BF16_BYTES / tp;
    let tables = if setup.pp == 1 && !model.tied_embeddings { 2.0 } else { 1.0 };
    Bytes(blocks * share + tables * table)
}

/// One rank's bytes of all layers of a group; KV projections are replicated below one head per rank.
fn block_bytes(model: &Model, blocks: &Blocks, setup: &Setup) -> f64 {
    let Attention::Gqa(gqa) = &blocks.attention;
    let Ffn::Dense(dense) = &blocks.ffn;
    let (hidden, tp) = (f64::from(model.hidden), f64::from(setup.tp));
    let heads = f64::from(gqa.heads) / tp;
    let kv_heads = f64::from(gqa.kv_heads.div_ceil(setup.tp));
    let head_dim = f64::from(gqa.head_dim);
    let attention = hidden * (2.0 * heads + 2.0 * kv_heads) * head_dim;
    let ffn = 3.0 * hidden * f64::from(dense.intermediate) / tp;
    f64::from(blocks.count) * ((attention + ffn) * setup.weights.bytes() + 2.0 * hidden * BF16_BYTES)
}

/// KV bytes of one token on one GPU: `2 layers kv_heads head_dim bytes`, of a stage's layers, KV heads
/// divided by TP down to one per rank.
pub fn kv_per_token(setup: &Setup) -> Bytes {
    let model = &setup.model;
    let share = f64::from(fullest_stage(model, setup.pp)) / f64::from(model.layers().max(1));
    let per_layer = |blocks: &Blocks| {
        let Attention::Gqa(gqa) = &blocks.attention;
        let kv_heads = f64::from(gqa.kv_heads.div_ceil(setup.tp));
        f64::from(blocks.count) * 2.0 * kv_heads * f64::from(gqa.head_dim) * setup.kv.bytes()
    };
    Bytes(model.blocks.iter().map(per_layer).sum::<f64>() * share)
}

/// Peak activations of one step: residual, hidden state and the widest layer's intermediate results of
/// all its tokens, and the logits of its sequences.
fn activations(model: &Model, tp: u32, step_tokens: f64) -> Bytes {
    let hidden = f64::from(model.hidden);
    let widest = model.blocks.iter().map(|blocks| {
        let Attention::Gqa(gqa) = &blocks.attention;
        let Ffn::Dense(dense) = &blocks.ffn;
        let mlp = 3.0 * f64::from(dense.intermediate) / f64::from(tp);
        let attention = f64::from(gqa.qkv_width() + gqa.q_width()) / f64::from(tp);
        mlp.max(attention)
    });
    let per_token = (2.0 * hidden + widest.fold(0.0, f64::max)) * BF16_BYTES;
    let logits = f64::from(model.vocab) / f64::from(tp) * LOGIT_BYTES;
    Bytes(step_tokens * per_token + SAMPLED_SEQUENCES.min(step_tokens) * logits)
}
