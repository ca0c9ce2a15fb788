//! What choosing a model, GPU or kind of load rules out in the rest of a scenario, and what it keeps.

use super::{Field, INPUTS, Input};
use crate::config::catalog::Offered;
use crate::config::check::{check_kv, check_weights};
use crate::config::{Dtype, Issue, Lengths, Load, Scenario, catalog};
use crate::units::decimal;

/// Resets what the new value of `chosen` rules out. Notes on `chosen` say what was reset and why; warnings, where a format is, since
/// it changes all numbers.
pub fn reset(scenario: &mut Scenario, chosen: Field) -> Vec<Issue> {
    let mut texts = match chosen {
        Field::Model => numbers(scenario, "model"),
        Field::Load => numbers(scenario, "kind of load"),
        Field::Gpu | Field::Engine => {
            let before = (scenario.spec.clone(), scenario.overrides.clone());
            match chosen {
                Field::Gpu => scenario.put_on(&scenario.gpu.clone()),
                _ => scenario.run_by(&scenario.engine.clone()),
            }
            let is_same = before == (scenario.spec.clone(), scenario.overrides.clone());
            let text = || "Settings for the previous one were reset, such as a price or limits".to_owned();
            (!is_same).then(text).into_iter().collect()
        }
        _ => Vec::new(),
    };
    let mut issues = Vec::new();
    match chosen {
        Field::Model | Field::Gpu => {
            let ruled_out = formats(scenario).into_iter();
            issues.extend(ruled_out.map(|text| Issue::warning(chosen, text)));
            texts.extend(kept_format(scenario).filter(|_| chosen == Field::Model));
        }
        Field::Load => texts.extend(lengths(scenario)),
        _ => {}
    }
    issues.extend(texts.into_iter().map(|text| Issue::note(chosen, text)));
    issues
}

/// Numbers that no longer apply.
fn numbers(scenario: &mut Scenario, chosen: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let unused: Vec<&Input> = INPUTS.iter().filter(|input| !(input.applies)(scenario)).collect();
    for input in unused {
        let Some(number) = &input.number else { continue };
        let default = input.default_number();
        if let Some(value) = (number.read)(scenario).filter(|value| Some(*value) != default) {
            (number.write)(scenario, default);
            let (label, value) = (input.label, decimal(value));
            let to = default.map_or("none".to_owned(), decimal);
            texts.push(format!("{label} was reset from {value} to {to}: it does not apply to this {chosen}"));
        }
    }
    texts
}

/// Formats that the GPU or the engine does not support, or without kernels for the model.
fn formats(scenario: &mut Scenario) -> Vec<String> {
    let (mut texts, mut found) = (Vec::new(), Vec::new());
    let Some(gpu) = catalog().gpu(&scenario.gpu) else { return texts };
    if let (Some(weights), Some(model)) = (scenario.weights, scenario.model.record()) {
        let rules = Offered::of(&scenario.engine).map(|engine| (&*engine.name, &*engine.weight_rules));
        check_weights(weights, model, gpu, rules, &mut found);
        if let Some(issue) = found.pop().filter(Issue::is_error) {
            texts.push(format!("Weights were reset to the published format: {}", issue.text));
            scenario.weights = None;
        }
    }
    check_kv(scenario.kv, gpu, &mut found);
    if let Some(issue) = found.pop() {
        texts.push(format!("The KV cache was reset to {}: {}", Dtype::Bf16.id(), issue.text));
        scenario.kv = Dtype::Bf16;
    }
    texts
}

/// A format chosen for the model before, or by a pasted command, which is not what this model is published in.
fn kept_format(scenario: &Scenario) -> Option<String> {
    let (weights, published) = (scenario.weights?, scenario.model.record()?.weights);
    let text =
        || format!("Weights are in {}; this model is published in {}", weights.name(), published.name());
    (weights != published).then(text)
}

/// Lengths that this load's requests cannot have.
fn lengths(scenario: &mut Scenario) -> Option<String> {
    let workload = &mut scenario.workload;
    let is_batch = matches!(workload.load, Load::Batch(_));
    if is_batch && !workload.histogram.is_empty() {
        workload.leave_histogram();
        return Some("The length histogram was reset to its means: a static batch takes none".into());
    }
    if !is_batch && matches!(workload.isl, Lengths::Each(_)) {
        let mean = workload.mean_prompt();
        workload.set_mean_prompt(mean);
        return Some(
            "The list of prompt lengths was reset to its mean: only a static batch takes a list".into(),
        );
    }
    None
}
