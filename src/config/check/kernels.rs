//! Checks that the engine has a measured kernel for each kind of layer on this GPU architecture.

use crate::config::model::{Attention, Ffn, Formats};
use crate::config::{Dtype, Engine, Field, Gpu, Issue, Model, VariantChoice};

/// Warns about each layer for which the engine has no measured kernel: its time is estimated from bytes or peak
/// rates.
pub fn measured(
    engine: &Engine,
    gpu: &Gpu,
    model: &Model,
    formats: &Formats,
    ep: u32,
    issues: &mut Vec<Issue>,
) {
    let mut missing = |field, layers: &str| {
        let text = format!(
            "{} kernels for {layers} were not measured on {}'s architecture: their time is estimated from bytes and \
            peak rates",
            engine.name, gpu.name
        );
        let issue = Issue::warning(field, text);
        if !issues.contains(&issue) {
            issues.push(issue);
        }
    };
    let Some(choice) = engine.kernels_on(gpu.arch) else { return };
    let experts = model.blocks.iter().any(|blocks| matches!(blocks.ffn, Some(Ffn::Moe(_))));
    if experts && choice.moe(formats.weights, u64::MAX, u64::from(ep)).is_none() {
        missing(Field::Weights, &format!("experts in {}", formats.weights.id()));
    }
    let variants = engine.variants_on(gpu.arch);
    let named = |names: &[fn(&VariantChoice) -> &String]| {
        variants.is_some_and(|choice| names.iter().all(|name| !name(choice).is_empty()))
    };
    for attention in model.attentions() {
        match attention {
            Attention::Mla(mla) if mla.indexer.is_some() => {
                let known = named(&[|choice| &choice.sparse_short, |choice| &choice.sparse]);
                if !known {
                    missing(Field::Engine, "sparse attention");
                }
            }
            Attention::Mla(_) => {
                let kernel = named(&[|choice| &choice.latent_prefill, |choice| &choice.latent_decode]);
                if !kernel && !named(&[|choice| &choice.block_prefill, |choice| &choice.block_decode]) {
                    missing(Field::Engine, "latent attention");
                } else if kernel
                    && formats.attention.math() == Dtype::Fp8
                    && !named(&[|choice| &choice.bmm_fp8])
                {
                    missing(Field::Weights, "the FP8 GEMMs around latent attention");
                }
            }
            Attention::Compressed(_) if !named(&[|choice| &choice.latent_decode]) => {
                missing(Field::Engine, "attention over compressed keys");
            }
            Attention::Delta(_)
                if !named(&[|choice| &choice.delta_prefill, |choice| &choice.delta_decode]) =>
            {
                missing(Field::Engine, "delta rules");
            }
            Attention::Mamba(_) => missing(Field::Model, "the Mamba scan"),
            _ => {}
        }
    }
}
