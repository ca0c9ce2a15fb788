//! Memory of the fullest GPU, as engines measure it at start-up: weights, activations, KV cache, and the rest.

use crate::config::catalog::numbers::memory::constants;
use crate::config::catalog::physics;
use crate::config::model::{
    Attention, Blocks, Class, Compressed, Ffn, Formats, GqaTrait, Model, Moe, Sharding, Tensor,
};
use crate::config::{Budget, Dtype, MemoryShareOf, MissingFigure, Setup, StateCopies, Support};
use crate::kernels::latent::INDEX_SCALE_BYTES;
use crate::units::{BF16_BYTES, Bytes, F32_BYTES, GIB, MIB};

use super::fit::Demand;
use super::report::Memory;

/// Memory of `setup` under `demand`, by part.
pub fn memory(setup: &Setup, demand: &Demand) -> Result<Memory, MissingFigure> {
    let total = setup.gpu.memory()?;
    let engine = &setup.engine;
    let budget = engine.budget().ok_or_else(|| MissingFigure {
        gpu: engine.name.clone(),
        figure: "rules of memory",
        reason: format!("none of version {}", engine.version),
    })?;
    let communication = if setup.parallel.gpus() > 1 {
        budget.need(&budget.communication_gib, "memory of communication", engine)?
    } else {
        0.0
    };
    let context = if budget.holds_context { physics().context } else { Bytes::ZERO };
    let before = context + Bytes(communication * GIB);
    let libraries = budget.need(&budget.libraries_gib, "memory of libraries", engine)?;
    let graphs = match setup.largest_graph {
        0 => 0.0,
        _ => budget.need(&budget.graphs_gib, "memory of CUDA graphs", engine)?,
    };
    let reserve = before + Bytes((libraries + graphs) * GIB);
    let weights = weights(setup);
    let logit_bytes = budget.need(&budget.logit_bytes, "memory of sampling", engine)?;
    let activations = activations(setup, budget, demand, logit_bytes);
    let share = setup.memory_share;
    let free = setup.gpu.free_memory()?;
    let (usable, room) = match engine.scheduler.memory_share_of {
        MemoryShareOf::Total => {
            let usable = (total * share).min(free);
            (usable, usable - weights - activations - reserve)
        }
        MemoryShareOf::Static => {
            let usable = (free - before) * share;
            (usable, (usable - weights).min(free - weights - activations - reserve))
        }
        MemoryShareOf::Free => (free, (free - weights - activations - reserve) * share),
    };
    let sequence_tokens = demand.sequence_tokens.max(1.0);
    let kv_per_token = kv_per_sequence(setup, sequence_tokens) / sequence_tokens;
    let groups = f64::from(setup.parallel.dp);
    let kv_tokens = (room / kv_per_token * groups).max(0.0).floor();
    Ok(Memory {
        total,
        usable,
        weights,
        activations,
        reserve,
        kv_needed: kv_per_token * (demand.kv_tokens / groups),
        kv_room: room.max(Bytes::ZERO),
        missing: (Bytes::ZERO - room).max(Bytes::ZERO),
        margin: (room * constants().margin_share).max(Bytes(constants().margin_gib * GIB)),
        kv_per_token,
        kv_tokens,
        max_concurrency: kv_tokens / sequence_tokens,
    })
}

/// Fraction of the layers on the fullest pipeline stage; stages have equal numbers of layers, whatever their
/// shapes.
fn fullest_stage(model: &Model, pp: u32) -> f64 {
    f64::from(model.layers().div_ceil(pp.max(1))) / f64::from(model.layers().max(1))
}

/// Weights on the fullest GPU: its share of a stage's layers, plus embedding or head, which are on the first and
/// last stage (on a single stage both, counted once if tied).
fn weights(setup: &Setup) -> Bytes {
    let model = &setup.model;
    let text_alone = setup.engine.support(model) == Support::TextAlone;
    let loaded = model.blocks.iter().filter(|blocks| !(text_alone && blocks.has(GqaTrait::Cross)));
    let blocks: f64 = loaded.map(|blocks| block_bytes(blocks, setup, &setup.formats)).sum();
    let table = f64::from(model.vocab) * f64::from(model.hidden) * BF16_BYTES;
    let [embedding, head] = [setup.parallel.tp, setup.head_ranks()].map(|ranks| table / f64::from(ranks));
    let tables = match setup.parallel.pp {
        1 if !model.tied_embeddings => embedding + head,
        _ => embedding.max(head),
    };
    // Position tables are replicated on all ranks.
    let positions = f64::from(model.positions.unwrap_or(0)) * f64::from(model.hidden) * BF16_BYTES;
    // The encoder is sharded like the layers and belongs to the first stage.
    let encoder = f64::from(model.encoder.filter(|_| !text_alone).unwrap_or(0)) * BF16_BYTES
        / f64::from(setup.parallel.tp);
    Bytes(
        blocks * fullest_stage(model, setup.parallel.pp)
            + tables
            + positions
            + encoder
            + drafting_bytes(setup),
    )
}

/// The drafting layers that a server holds: no more than it drafts tokens with.
fn drafting_layers(setup: &Setup) -> Option<Blocks> {
    let count = setup.model.mtp?.min(setup.workload.drafts.drafted);
    setup.drafting_layer().map(|layer| Blocks { count, ..layer })
}

/// Bytes per rank of the drafting layers, each with its input projection. They share the model's embedding and
/// head.
fn drafting_bytes(setup: &Setup) -> f64 {
    let Some(layers) = drafting_layers(setup) else { return 0.0 };
    let hidden = f64::from(setup.model.hidden);
    let formats = setup.formats.of_drafting();
    let joined = 2.0 * hidden * hidden * BF16_BYTES;
    block_bytes(&layers, setup, &formats) + f64::from(layers.count) * joined
}

/// Bytes per rank of all layers in a group; KV projections are replicated below one head per rank, and experts are
/// padded for their kernel. Engines keep a second, 16-bit copy of the latent expansion for the GEMMs of absorbed
/// attention.
fn block_bytes(blocks: &Blocks, setup: &Setup, formats: &Formats) -> f64 {
    let grown = match &blocks.ffn {
        Some(Ffn::Moe(moe)) => padding(moe, setup, formats.weights),
        _ => 1.0,
    };
    let one = |tensor: &Tensor| {
        let parts = match tensor.sharding {
            Sharding::Replicated => 1.0,
            Sharding::Tp => f64::from(setup.parallel.tp),
            Sharding::Heads(heads) => f64::from(heads) / f64::from(heads.div_ceil(setup.parallel.tp)),
            Sharding::Experts => f64::from(setup.parallel.gpus_per_stage()),
        };
        let grown = if tensor.class == Class::Experts { grown } else { 1.0 };
        grown * tensor.elements / parts * setup.model.stored_bytes(tensor.class.dtype(formats))
    };
    let absorbed = match &blocks.attention {
        Some(Attention::Mla(mla)) => {
            f64::from(mla.heads) / f64::from(setup.parallel.tp)
                * f64::from((mla.nope + mla.value) * mla.latent)
                * BF16_BYTES
        }
        _ => 0.0,
    };
    f64::from(blocks.count) * (blocks.tensors(setup.model.hidden).iter().map(one).sum::<f64>() + absorbed)
}

/// Columns of an expert per rank.
fn inner(moe: &Moe, setup: &Setup) -> u32 {
    moe.intermediate / setup.parallel.expert_tp()
}

/// Size of a rank's experts relative to the published ones.
fn padding(moe: &Moe, setup: &Setup, weights: Dtype) -> f64 {
    let padding = setup.engine.padding(weights, setup.gpu.arch);
    padding.map_or(1.0, |padding| padding.growth(moe.width(setup.model.hidden), inner(moe, setup).max(1)))
}

/// Bytes cached on one GPU of a stage for a sequence of `tokens`. Per layer:
///
/// - GQA: `2 kv_heads head_dim bytes` per token, KV heads divided by TP down to one per rank; window layers only
///   cache the window;
/// - MLA: `(kv_lora_rank + rope) bytes` per token on every rank, plus the indexer's FP8 key with its scale;
/// - compressed keys: an entry per window token and one per `ratio` tokens, with the indexer's key of that entry,
///   on every rank; key blocks: additionally a 16-bit index key per token;
/// - the drafting layer: like its attention;
/// - recurrences: a state and the last tokens of the convolution in bf16, at any length; with drafts, one for each
///   token after which the sequence may have to go on.
pub fn kv_per_sequence(setup: &Setup, tokens: f64) -> Bytes {
    let model = &setup.model;
    let tp = setup.parallel.tp;
    let room = setup.engine.window_room(model);
    let of = |attention: &Attention| match attention {
        Attention::Gqa(gqa) => {
            let visible = match (gqa.window, room) {
                (None, _) => tokens,
                (Some(window), None) => tokens.min(f64::from(window)),
                // Both kinds of layers have room for as many tokens as the scarcer one lets in.
                (Some(window), Some(room)) => (tokens * room).max(tokens.min(f64::from(window))),
            };
            let heads = f64::from(gqa.kv_heads.div_ceil(tp));
            let index = gqa.blocks.map_or(0.0, |blocks| f64::from(blocks.head_dim) * BF16_BYTES);
            visible * (heads * f64::from(gqa.cached_per_head()) * setup.kv.bytes() + index)
        }
        Attention::Mla(mla) => {
            let own = mla.indexer.filter(|indexer| indexer.borrowed != Some(true));
            let index = own.map_or(0.0, |indexer| f64::from(indexer.head_dim) + INDEX_SCALE_BYTES);
            tokens * (f64::from(mla.cached()) * setup.kv.bytes() + index)
        }
        Attention::Compressed(compressed) => compressed_cache(compressed, setup.kv, tokens),
        Attention::Delta(delta) => recurrent(delta.state(), delta.channels(), delta.taps, setup),
        Attention::Mamba(mamba) => recurrent(mamba.state(), mamba.channels(), mamba.taps, setup),
    };
    let per_layer = |blocks: &Blocks| f64::from(blocks.count) * blocks.attention.as_ref().map_or(0.0, of);
    let drafting = drafting_layers(setup).as_ref().map_or(0.0, per_layer);
    Bytes(
        model.blocks.iter().map(per_layer).sum::<f64>() * fullest_stage(model, setup.parallel.pp) + drafting,
    )
}

/// A sequence's entries in one layer. In FP8 the rotary part of an entry stays in 16 bits and 8 bytes of scales are
/// added: 584 bytes for 512 elements, in vLLM and SGLang. Tokens of incomplete groups are kept in f32.
fn compressed_cache(compressed: &Compressed, kv: Dtype, tokens: f64) -> f64 {
    let (rope, plain) = (f64::from(compressed.rope), f64::from(compressed.head_dim - compressed.rope));
    let scales = if kv.math() == Dtype::Fp8 { constants().entry_scale_bytes } else { 0.0 };
    let entry = rope * BF16_BYTES + plain * kv.bytes() + scales;
    let index = compressed.indexer.map_or(0.0, |indexer| f64::from(indexer.head_dim) + INDEX_SCALE_BYTES);
    let window = tokens.min(f64::from(compressed.window)) * entry;
    let Some(ratio) = compressed.ratio else { return window };
    let width = f64::from(compressed.compressor() + compressed.index_compressor());
    let waiting = tokens.min(f64::from(ratio * compressed.overlap())) * width * F32_BYTES;
    window + waiting + tokens / f64::from(ratio) * (entry + index)
}

/// Bytes per rank of a recurrence's states and its convolution's last tokens.
fn recurrent(state: f64, channels: u32, taps: u32, setup: &Setup) -> f64 {
    let convolution = f64::from(channels) * f64::from(taps.saturating_sub(1)) * BF16_BYTES;
    let one = state * f64::from(setup.state_bytes) + convolution;
    states_kept(setup) * one / f64::from(setup.parallel.tp)
}

/// States that engines reserve for a sequence: one after each token verified (vLLM's `num_speculative_blocks`), beside the sequence's own
/// where the accepted one is copied (SGLang's `intermediate_ssm`).
fn states_kept(setup: &Setup) -> f64 {
    let copied = setup.workload.drafts.drafted > 0 && setup.engine.copies_states == StateCopies::Verified;
    f64::from(setup.tokens_verified() + u32::from(copied))
}

/// Peak activations: of a step's widest layer or the sampling after it, plus library workspaces.
///
/// vLLM profiles a step of the whole token budget, then samples for all sequences that may run, in f32 with
/// everything that sorting or drawing needs: with many sequences and a large vocabulary that exceeds any layer.
fn activations(setup: &Setup, budget: &Budget, demand: &Demand, logit_bytes: f64) -> Bytes {
    let model = &setup.model;
    let hidden = f64::from(model.hidden) * BF16_BYTES;
    let tokens = if budget.profiles_budget { f64::from(setup.token_budget) } else { demand.step_tokens };
    let of_attention =
        model.attentions().map(|attention| attention_bytes(attention, setup, budget, demand, tokens));
    let of_mlp = model.blocks.iter().filter_map(|blocks| blocks.ffn.as_ref());
    let of_mlp = of_mlp.map(|ffn| mlp_bytes(ffn, setup, tokens));
    let layer = tokens * 2.0 * hidden + of_attention.chain(of_mlp).fold(0.0, f64::max);
    let sequences = budget.sampled.map_or(setup.max_seqs, |most| setup.max_seqs.min(most));
    let logits = tokens.min(f64::from(sequences)) * f64::from(model.vocab) * logit_bytes;
    Bytes(layer.max(tokens * hidden + logits) + constants().workspace_mib * MIB)
}

/// Intermediate tensors of an attention. If steps of the whole budget are profiled, keys and values of cached
/// latent tokens are included.
fn attention_bytes(
    attention: &Attention,
    setup: &Setup,
    budget: &Budget,
    demand: &Demand,
    tokens: f64,
) -> f64 {
    let width = match attention {
        Attention::Gqa(gqa) => {
            2.0 * f64::from(gqa.q_width()) + f64::from(gqa.kv_heads * gqa.cached_per_head())
        }
        Attention::Mla(mla) => f64::from(mla.heads) * f64::from(2 * (mla.nope + mla.rope) + 2 * mla.value),
        Attention::Compressed(compressed) => 2.0 * f64::from(compressed.q_width()),
        Attention::Delta(delta) => f64::from(delta.channels() + 2 * delta.value_width()),
        Attention::Mamba(mamba) => f64::from(mamba.channels() + 2 * mamba.width()),
    };
    let expanded = match attention {
        Attention::Mla(mla) if budget.profiles_budget && mla.indexer.is_none() => {
            let cached =
                constants().latent_context.min(constants().latent_sequences * demand.sequence_tokens);
            cached * f64::from(mla.heads * (mla.nope + mla.value))
        }
        _ => 0.0,
    };
    (tokens * width + expanded) * BF16_BYTES / f64::from(setup.parallel.tp)
}

/// Intermediate tensors of an MLP. For experts they are kept per visited expert, before and after either GEMM, in
/// the full hidden size on every rank, and again where they are quantised. With block scales, each expert's rows
/// are rounded up to a block.
fn mlp_bytes(ffn: &Ffn, setup: &Setup, tokens: f64) -> f64 {
    match ffn {
        Ffn::Dense(dense) => {
            tokens * f64::from(dense.columns() + dense.intermediate) * BF16_BYTES
                / f64::from(setup.parallel.tp)
        }
        Ffn::Moe(moe) => {
            let (inner, hidden) = (inner(moe, setup), moe.width(setup.model.hidden));
            let columns = if moe.gated() { 2 * inner } else { inner };
            let experts = setup.formats.weights;
            let quantised = if experts.math() == Dtype::Fp8 { f64::from(hidden) } else { 0.0 };
            let filled = match experts {
                Dtype::Fp8Block => {
                    f64::from(moe.experts / setup.parallel.ep.max(1)) * (constants().block_rows - 1.0)
                }
                _ => 0.0,
            };
            let row = f64::from(columns.max(hidden) + inner.max(hidden)) * BF16_BYTES + quantised;
            (tokens * f64::from(moe.topk) + filled) * row
        }
    }
}
