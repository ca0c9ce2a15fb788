//! Kernels that older engine versions used. Predictions are of the versions in the catalog; only measured runs need these.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use crate::config::kernels::{ExpertKernel, KernelName, MoeKernel, UntunedExperts};
use crate::config::{Arch, Dtype, Engine, Version};

static OLDER: LazyLock<Result<OlderVersions, String>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../static/catalog/older.json"))
        .map_err(|error| format!("static/catalog/older.json: {error}"))
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OlderVersions {
    #[serde(rename = "sources")]
    _sources: Value,
    engines: BTreeMap<String, OlderKernels>,
}

/// The kernels of an engine's older versions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OlderKernels {
    /// Expert kernels that were launched by default.
    #[serde(default)]
    experts: Vec<OlderExperts>,
    /// Expert kernels that were not tuned.
    #[serde(default)]
    untuned: Vec<OlderUntuned>,
    /// The end of the older way to compute delta rules, and of the versions whose host waited for them.
    delta_rules: Option<LastVersion>,
    delta_rules_wait: Option<LastVersion>,
    /// The end of the versions that admitted a request once its first chunk fitted.
    admits_by_chunk: Option<LastVersion>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OlderExperts {
    /// The first version that launches what the catalog says.
    before: Version,
    arch: Arch,
    weights: Dtype,
    kernel: KernelName<ExpertKernel>,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OlderUntuned {
    /// The first version that tunes them.
    before: Version,
    #[serde(flatten)]
    experts: UntunedExperts,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LastVersion {
    before: Version,
    #[serde(rename = "source")]
    _source: String,
}

/// Sets what `version` ran apart from the experts it launched. A version without a number is treated as the current one.
///
/// # Errors
/// If the file cannot be read.
pub fn compute_as(engine: &mut Engine, version: &Version) -> Result<(), String> {
    let Some(older) = of(engine, version)? else { return Ok(()) };
    let holds = |last: &Option<LastVersion>| last.as_ref().is_some_and(|last| *version < last.before);
    engine.computes_older_delta_rules = holds(&older.delta_rules);
    engine.waits_for_delta_rules = holds(&older.delta_rules_wait);
    engine.admits_by_chunk = holds(&older.admits_by_chunk);
    let untuned = older.untuned.iter().filter(|of| *version < of.before);
    engine.untuned = untuned.map(|of| of.experts.clone()).collect();
    Ok(())
}

/// Switches to the expert kernels that `version` launched, according to the last record that applies to it.
///
/// # Errors
/// If the file cannot be read.
pub fn launch_experts_of(engine: &mut Engine, version: &Version) -> Result<(), String> {
    let Some(older) = of(engine, version)? else { return Ok(()) };
    for of in older.experts.iter().filter(|of| *version < of.before) {
        let kernel = MoeKernel { weights: of.weights, kernel: of.kernel.clone(), ..MoeKernel::default() };
        let choices = engine.kernels.iter_mut().filter(|choice| choice.arch == of.arch);
        choices.for_each(|choice| choice.moe.insert(0, kernel.clone()));
    }
    Ok(())
}

fn of(engine: &Engine, version: &Version) -> Result<Option<&'static OlderKernels>, String> {
    let all = OLDER.as_ref().map_err(String::clone)?;
    Ok(all.engines.get(&engine.id).filter(|_| version.is_numbered()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    fn engine(id: &str, version: &str) -> Engine {
        let mut engine = catalog().engine(id).expect("in the catalog").clone();
        compute_as(&mut engine, &version.into()).expect("sound");
        launch_experts_of(&mut engine, &version.into()).expect("sound");
        engine
    }

    #[test]
    fn older_versions_launch_other_experts() {
        let kernel = |version: &str, weights| {
            engine("vllm", version)
                .kernels_on(Arch::Blackwell)
                .unwrap()
                .moe(weights, 1, 8)
                .map(|named| named.name().to_owned())
        };
        let newest = kernel("0.24.0", Dtype::Bf16);
        assert_eq!(kernel("0.11.1", Dtype::Bf16).as_deref(), Some("sglang_fused_moe_triton"));
        assert_eq!(
            kernel("0.11.1", Dtype::Fp8Block).as_deref(),
            Some("vllm_fp8moe_deepgemm_deepgemmexperts")
        );
        assert_eq!([kernel("0.16.0", Dtype::Bf16), kernel("nightly", Dtype::Bf16)], [newest.clone(), newest]);
    }

    #[test]
    fn older_sglang_does_not_tune_block_scaled_experts() {
        let untuned = |version: &str| engine("sglang", version).untuned.len();
        assert_eq!(["0.5.9", "0.5.10", "nightly"].map(untuned), [1, 0, 0]);
    }

    #[test]
    fn delta_rules_follow_the_version() {
        let older = |version: &str| engine("sglang", version).computes_older_delta_rules;
        assert_eq!(["0.5.9", "0.5.10", "0.5.14", "nightly-dev"].map(older), [true, false, false, false]);
        let waits = |version: &str| engine("vllm", version).waits_for_delta_rules;
        assert_eq!(["0.19.0", "0.20.0"].map(waits), [true, false]);
    }

    #[test]
    fn vllm_admits_whole_prompts_from_0_19_on() {
        let by_chunk = |version: &str| engine("vllm", version).admits_by_chunk;
        assert_eq!(["0.18.0", "0.19.0", "0.24.0"].map(by_chunk), [true, false, false]);
    }

    #[test]
    fn vllm_0_14_to_0_16_run_flashinfer_experts_on_hopper_without_ep_too() {
        let kernel = |version: &str| {
            engine("vllm", version)
                .kernels_on(Arch::Hopper)
                .unwrap()
                .moe(Dtype::Fp8Block, 1, 1)
                .unwrap()
                .name()
                .to_owned()
        };
        let triton = "vllm_fp8moe_triton_tritonexperts";
        assert_eq!([kernel("0.11.0"), kernel("0.18.0"), kernel("0.24.0")], [triton; 3]);
        let deepgemm = "vllm_fp8moe_deepgemm_deepgemmexperts";
        assert_eq!([kernel("0.11.1"), kernel("0.13.0")], [deepgemm; 2]);
        let flashinfer = "vllm_fp8moe_flashinfer_cutlass_flashinferexperts";
        assert_eq!([kernel("0.14.0"), kernel("0.16.0")], [flashinfer; 2]);
    }
}
