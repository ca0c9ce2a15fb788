//! Checks that the engine serves the model, and has a measured kernel for each kind of layer on this GPU architecture.

use crate::config::catalog::Catalog;
use crate::config::kernels::VariantChoice;
use crate::config::model::{Attention, Formats};
use crate::config::{Dtype, Engine, Field, Gpu, Issue, Model, Support};

/// Refuses GPUs and models that this version of the engine does not serve, and says what slows those it serves otherwise.
pub fn served(engine: &Engine, gpu: &Gpu, model: Option<&Model>, catalog: &Catalog, issues: &mut Vec<Issue>) {
    let able = catalog.engines.engines.iter().filter(|other| other.kernels_on(gpu.arch).is_some());
    let able = able.filter(|other| {
        model.is_none_or(|model| !matches!(other.support(model), Support::No | Support::UpTo(_)))
    });
    let able: Vec<&str> = able.map(|engine| engine.name.as_str()).collect();
    let instead = match able[..] {
        [] => "no engine is known to".into(),
        _ => format!("choose {}", able.join(" or ")),
    };
    if engine.kernels_on(gpu.arch).is_none() {
        let text = format!("{} has no known kernels for {}: {instead}", engine.name, gpu.name);
        issues.push(Issue::error(Field::Engine, text));
    }
    let Some(model) = model else { return };
    let before = match engine.support(model) {
        Support::No => String::new(),
        Support::UpTo(last) => format!(" ({last} was the last version that did)"),
        Support::TextEagerly => {
            let text = format!(
                "{} launches decode steps of {} kernel by kernel: its CUDA graphs cover only requests with images",
                engine.name, model.name
            );
            return issues.push(Issue::note(Field::Engine, text));
        }
        Support::Full | Support::TextAlone => return,
    };
    let text = format!("{} {} does not serve {}{before}: {instead}", engine.name, engine.version, model.name);
    issues.push(Issue::error(Field::Engine, text));
}

/// Warns about each layer for which the engine has no measured kernel: its time is estimated from bytes or peak
/// rates. If the formats cannot be served at all, that is enough said.
pub fn measured(
    engine: &Engine,
    gpu: &Gpu,
    model: &Model,
    formats: &Formats,
    ep: u32,
    issues: &mut Vec<Issue>,
) {
    let Some(choice) = engine.kernels_on(gpu.arch) else { return };
    if issues.iter().any(|issue| issue.is_error() && issue.field == Field::Weights) {
        return;
    }
    let experts = model.has_experts();
    let caution = choice.caution(formats.weights).filter(|_| experts);
    issues.extend(caution.map(|text| Issue::warning(Field::Weights, text)));
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
    if experts && choice.moe(formats.weights, u64::MAX, u64::from(ep)).is_none() {
        missing(Field::Weights, &format!("experts in {}", formats.weights.id()));
    }
    let variants = engine.variants_on(gpu.arch);
    let lacks = |kernel: fn(&VariantChoice) -> bool| variants.is_none_or(kernel);
    for attention in model.attentions() {
        match attention {
            Attention::Mla(mla)
                if mla.indexer.is_some()
                    && lacks(|of| of.sparse_short.is_empty() || of.sparse.is_empty()) =>
            {
                missing(Field::Engine, "sparse attention");
            }
            Attention::Mla(mla) if mla.indexer.is_none() => {
                let no_kernel = lacks(|of| of.latent_prefill.is_empty() || of.latent_decode.is_empty());
                if no_kernel && lacks(|of| of.block_prefill.is_empty() || of.block_decode.is_empty()) {
                    missing(Field::Engine, "latent attention");
                } else if !no_kernel
                    && formats.attention.math() == Dtype::Fp8
                    && lacks(|of| of.bmm_fp8.is_empty())
                {
                    missing(Field::Weights, "the FP8 GEMMs around latent attention");
                }
            }
            Attention::Compressed(_) if lacks(|of| of.latent_decode.is_empty()) => {
                missing(Field::Engine, "attention over compressed keys");
            }
            Attention::Delta(_) if lacks(|of| of.delta_prefill.is_empty() || of.delta_decode.is_empty()) => {
                missing(Field::Engine, "delta rules");
            }
            Attention::Mamba(_) => missing(Field::Model, "the Mamba scan"),
            _ => {}
        }
    }
}
