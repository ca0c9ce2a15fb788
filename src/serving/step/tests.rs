//! Every call without a model is reported.

use super::layout;
use crate::config::catalog::catalog;
use crate::config::check::{KV_FORMATS, weight_formats};
use crate::config::model::Attention;
use crate::config::{Arch, Dtype, Model, ModelChoice, Scenario, check};
use crate::graph::{Batch, pass};
use crate::kernels::Op;

/// Batches that cover prompts longer and shorter than sparse attention's top k, and decode.
fn batches() -> [Batch; 3] {
    [Batch::prefill(&[8192]), Batch::prefill(&[512]), Batch::decode(8, 4096)]
}

/// A model for each combination of attention kinds, with and without experts.
fn models() -> Vec<&'static Model> {
    let kinds = |model: &Model| {
        let kind = |attention: &Attention| match attention {
            Attention::Gqa(_) => "heads",
            Attention::Mla(mla) if mla.indexer.is_some() => "sparse",
            Attention::Mla(_) => "latent",
            Attention::Delta(_) => "delta",
            Attention::Compressed(_) => "compressed",
            Attention::Mamba(_) => "scan",
        };
        let mut kinds: Vec<&str> = model.attentions().map(kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        (kinds, model.has_experts())
    };
    let mut seen = Vec::new();
    let is_new = |model: &&Model| {
        let own = kinds(model);
        let is_new = !seen.contains(&own);
        seen.extend(is_new.then_some(own));
        is_new
    };
    catalog().models.models.iter().filter(is_new).collect()
}

/// Calls of `scenario` that no model covers and no warning reports.
fn silent(scenario: &Scenario) -> Vec<String> {
    let (Some(setup), issues) = check(scenario, catalog()) else { return Vec::new() };
    let warned = |experts: bool| {
        let mut texts = issues.iter().filter(|issue| !issue.is_error()).map(|issue| &issue.text);
        texts
            .any(|text| text.contains("were not measured on") && text.contains(" for experts in ") == experts)
    };
    let mut silent = Vec::new();
    for batch in batches() {
        let calls = pass(&setup.model, &layout(&setup), &batch);
        // Some element-wise kinds were not measured with any engine: they are timed by their bytes.
        for call in calls.into_iter().filter(|call| !matches!(call.op, Op::Elementwise(_))) {
            // If the GPU's record lacks a figure the kernel needs, planning is refused with its name.
            let vector = call.op.served_vector(&setup.gpu, &setup.engine);
            let Ok(vector) = vector else { return Vec::new() };
            let timed = call.op.closed_form(&setup.gpu, &setup.engine).unwrap().is_some();
            if call.op.family().is_some()
                && vector.is_none()
                && !timed
                && !warned(matches!(call.op, Op::Moe(_)))
            {
                silent.push(format!("{} ({})", call.name, call.op.shape()));
            }
        }
    }
    silent
}

#[test]
fn every_call_has_a_learned_kernel_or_a_warning() {
    let mut found = Vec::new();
    let mut asked = 0;
    let nvidia = [Arch::Ampere, Arch::Ada, Arch::Hopper, Arch::Blackwell, Arch::BlackwellRtx];
    for arch in nvidia.into_iter().chain([Arch::Cdna3, Arch::Cdna4]) {
        let gpu = catalog().gpus.gpus.iter().find(|gpu| gpu.arch == arch && gpu.sustained_clock.0.is_some());
        for (engine, model) in catalog()
            .engines
            .engines
            .iter()
            .flat_map(|engine| models().into_iter().map(move |model| (engine, model)))
        {
            for (&weights, kv) in weight_formats(model).iter().flat_map(|of| KV_FORMATS.map(|kv| (of, kv))) {
                let scenario = Scenario {
                    model: ModelChoice::Catalog(model.id.clone()),
                    gpu: gpu.unwrap().id.clone(),
                    engine: engine.id.clone(),
                    weights: Some(weights),
                    kv,
                    ..Scenario::default()
                };
                asked += 1;
                let silent = silent(&scenario);
                let at = [&model.id, &engine.id, &scenario.gpu, weights.id(), Dtype::id(kv)].join(" ");
                found.extend(silent.first().map(|call| format!("{at}: {call}")));
            }
        }
    }
    assert!(asked > 500, "{asked}");
    assert!(found.is_empty(), "{} of {asked}:\n{}", found.len(), found.join("\n"));
}
