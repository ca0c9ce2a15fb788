//! Which model of the catalog a published name stands for, and the format that the name gives its weights.
//!
//! A checkpoint is named by its publisher, its base, the tuning, the release and the format of its weights. Tuning and
//! release change neither shapes nor work, so they are left out until a base is found.

use super::Model;
use crate::config::Dtype;

/// A published name, resolved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolved<'a> {
    pub model: &'a Model,
    /// The format that the name gives: none if it gives none, and the model's own holds.
    pub weights: Option<Dtype>,
}

/// Endings of names, without case, that give a format.
const FORMATS: [(&str, Dtype); 12] = [
    ("-fp8-kv", Dtype::Fp8),
    ("-fp8-dynamic", Dtype::Fp8),
    ("-fp8", Dtype::Fp8),
    ("-fp4-v2", Dtype::Nvfp4),
    ("-nvfp4-v2", Dtype::Nvfp4),
    ("-fp4", Dtype::Nvfp4),
    ("-nvfp4", Dtype::Nvfp4),
    ("-gptq-int4", Dtype::Int4),
    ("-awq", Dtype::Int4),
    ("-w4a16", Dtype::Int4),
    ("-int4", Dtype::Int4),
    ("-bf16", Dtype::Bf16),
];

/// Endings that name a tuning or a release.
const TUNINGS: [&str; 14] = [
    "-instruct",
    "-thinking",
    "-chat",
    "-base",
    "-it",
    "-hf",
    "-2507",
    "-0528",
    "-0324",
    "-0905",
    "-2501",
    "-v0.1",
    "-v0.2",
    "-v0.3",
];

/// Names whose architecture is published under another: later trainings, and the text part of models that also see
/// or hear. The left one is a name without format and tuning.
const SAME: [(&str, &str); 12] = [
    ("deepseek-v3.1", "deepseek-v3"),
    ("deepseek-v3.1-terminus", "deepseek-v3"),
    ("glm-4.7", "glm-4.6"),
    ("kimi-k2.6", "kimi-k2.5"),
    ("llama-3-8b", "llama-3.1-8b"),
    ("llama-3-70b", "llama-3.1-70b"),
    ("llama-3.3-70b", "llama-3.1-70b"),
    ("minimax-m2", "minimax-m2.5"),
    ("minimax-m2.1", "minimax-m2.5"),
    ("qwen3-coder-30b-a3b", "qwen3-30b-a3b"),
    ("qwen3-coder-next", "qwen3-next-80b-a3b"),
    ("qwen3-omni-30b-a3b", "qwen3-30b-a3b"),
];

/// The model that `name` stands for among `models`: the one of that very name, then one of the same base in the
/// format that the name gives, then one of the same base.
pub fn resolve<'a>(models: &'a [Model], name: &str) -> Option<Resolved<'a>> {
    if let Some(model) = models.iter().find(|model| model.name.eq_ignore_ascii_case(name)) {
        return Some(Resolved { model, weights: None });
    }
    let (wanted, format) = base(name);
    let wanted =
        SAME.iter().find(|(known, _)| *known == wanted).map_or(wanted, |(_, same)| (*same).to_owned());
    // Publishers of a model scale its FP8 checkpoints by block where they publish it so at all.
    let fits = |model: &&Model| format.is_some_and(|format| alike(format, model.weights));
    let of_base: Vec<(&Model, Option<Dtype>)> = models
        .iter()
        .filter_map(|model| {
            let (own, format) = base(&model.name);
            (own == wanted).then_some((model, format))
        })
        .collect();
    let published = of_base.iter().map(|(model, _)| *model).find(fits);
    if let Some(model) = published {
        return Some(Resolved { model, weights: None });
    }
    let plain = of_base.iter().find(|(_, format)| format.is_none()).or(of_base.first())?.0;
    Some(Resolved { model: plain, weights: format })
}

/// Whether a name's format may be that of a checkpoint.
fn alike(named: Dtype, weights: Dtype) -> bool {
    named == weights || (named == Dtype::Fp8 && weights == Dtype::Fp8Block)
}

/// A name in lower case without publisher, format and tuning, and the format.
fn base(name: &str) -> (String, Option<Dtype>) {
    let name = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let mut name = name.strip_prefix("meta-").or(name.strip_prefix("nvidia-")).unwrap_or(&name).to_owned();
    let mut format = None;
    loop {
        if let Some((rest, found)) =
            FORMATS.iter().find_map(|(end, found)| Some((name.strip_suffix(end)?, *found)))
        {
            (name, format) = (rest.to_owned(), format.or(Some(found)));
        } else if let Some(rest) = TUNINGS.iter().find_map(|end| name.strip_suffix(end)) {
            name = rest.to_owned();
        } else {
            return (name, format);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;

    fn found(name: &str) -> Option<(&'static str, Option<Dtype>)> {
        let found = resolve(&catalog().models.models, name)?;
        Some((found.model.id.as_str(), found.weights))
    }

    #[test]
    fn published_names_stand_for_their_architecture() {
        for (name, id, weights) in [
            ("meta-llama/Meta-Llama-3.1-70B", "llama-3.1-70b", None),
            ("Meta-Llama/Llama-3.1-70B", "llama-3.1-70b", None),
            ("meta-llama/Llama-3.1-405B-FP8", "llama-3.1-405b", Some(Dtype::Fp8)),
            ("amd/Llama-3.1-70B-Instruct-FP8-KV", "llama-3.1-70b-instruct-fp8", None),
            ("nvidia/Llama-3.3-70B-Instruct-FP4", "llama-3.1-70b", Some(Dtype::Nvfp4)),
            ("deepseek-ai/DeepSeek-R1-0528", "deepseek-r1", None),
            ("nvidia/DeepSeek-R1-0528-FP4-v2", "deepseek-r1", Some(Dtype::Nvfp4)),
            ("deepseek-ai/DeepSeek-V3.1", "deepseek-v3", None),
            ("Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-235b-a22b", None),
            ("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "qwen3-235b-a22b-fp8", None),
            ("nvidia/Qwen3-235B-A22B-FP4", "qwen3-235b-a22b-nvfp4", None),
            ("Qwen/Qwen3-14B-AWQ", "qwen3-14b", Some(Dtype::Int4)),
            ("Qwen/Qwen3-14B-GPTQ-Int4", "qwen3-14b", Some(Dtype::Int4)),
            ("Qwen/Qwen3-32B-FP8", "qwen3-32b-fp8", None),
            ("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", "qwen3-coder-480b-a35b-instruct", Some(Dtype::Fp8)),
            (
                "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16",
                "nemotron-3-super-120b-a12b-fp8",
                Some(Dtype::Bf16),
            ),
            ("moonshotai/Kimi-K2-Instruct-0905", "kimi-k2-instruct", None),
            ("MiniMaxAI/MiniMax-M2", "minimax-m2.5", None),
            ("mistralai/Mistral-7B-v0.1", "mistral-7b-instruct-v0.3", None),
        ] {
            assert_eq!(found(name), Some((id, weights)), "{name}");
        }
        assert_eq!(found("some/Model-7B"), None);
    }

    #[test]
    fn every_model_of_the_catalog_is_found_by_its_name() {
        for model in &catalog().models.models {
            assert_eq!(found(&model.name), Some((model.id.as_str(), None)));
        }
    }
}
