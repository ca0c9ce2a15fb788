//! How versions of an engine differ from the one the catalog describes.

use serde::{Deserialize, Serialize};

use super::kernels::{ExpertKernel, KernelName, MoeKernel};
use super::{Arch, Dtype, Engine, Figure, Version};

/// A server's defaults, from some version on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionDefaults {
    /// The first version that has them.
    pub from: Version,
    /// The same for AMD GPUs, if it is a later version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amd_from: Option<Version>,
    /// Prompts may be split over steps.
    pub chunked: bool,
    pub prefix_cache: bool,
    /// The host prepares a step while the GPU runs the last one.
    pub async_scheduling: bool,
    /// `None` if the engine derives it from the GPU's memory.
    pub memory_share: Option<Figure>,
    /// Id of a source.
    pub source: String,
}

/// A server's work on each chat request, on the event loop that also forwards requests: those that arrive meanwhile are
/// forwarded together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatTemplate {
    /// The first version that does it.
    pub from: Version,
    /// The first version that no longer does.
    pub before: Version,
    /// In µs per request.
    pub request_us: Figure,
}

/// The fused-MoE kernel that older versions launch by default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OlderExperts {
    /// The first version that launches what [`KernelChoice`](super::kernels::KernelChoice) says.
    pub before: Version,
    pub arch: Arch,
    pub weights: Dtype,
    pub kernel: KernelName<ExpertKernel>,
    /// Id of a source.
    pub source: String,
}

/// A fused-MoE kernel that older versions ran with its default tiles where newer ones look up tuned ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UntunedExperts {
    /// The first version that tunes it.
    pub before: Version,
    pub weights: Dtype,
    pub kernel: KernelName<ExpertKernel>,
    /// Mean rows per active expert from which the default tiles are too small.
    pub rows: u32,
    /// Its time there, as a multiple of the tuned kernel's.
    pub times: Figure,
}

/// The end of an older way to compute delta rules. For `older_delta_rules`: rules with a decay per head read copies of
/// queries, keys and values, and gates and output gates were projected separately from these unless the checkpoint
/// joins them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OlderDeltaRules {
    /// The first version that no longer computes them in this way.
    pub before: Version,
    /// Id of a source.
    pub source: String,
}

impl VersionDefaults {
    fn since(&self, arch: Arch) -> &Version {
        match &self.amd_from {
            Some(later) if arch.is_amd() => later,
            _ => &self.from,
        }
    }
}

impl Engine {
    /// The defaults of a version on `arch`; none if they are not recorded.
    pub fn version_defaults(&self, version: &Version, arch: Arch) -> Option<&VersionDefaults> {
        self.versions.iter().rev().find(|defaults| defaults.since(arch) <= version)
    }

    /// The time a server of this version spends on the chat template of each request; `None` if it is negligible.
    pub fn chat_template(&self, version: &Version) -> Option<&ChatTemplate> {
        let does = |one: &&ChatTemplate| one.from <= *version && *version < one.before;
        self.chat_templates.iter().find(does)
    }

    /// Switches to the expert kernels that `version` launched, according to the last record that applies to it. A version
    /// without a number keeps the present ones.
    pub fn launch_experts_of(&mut self, version: &Version) {
        for older in self.older_experts.iter().filter(|_| version.is_numbered()) {
            if *version < older.before {
                let kernel = MoeKernel {
                    weights: older.weights,
                    kernel: older.kernel.clone(),
                    ..MoeKernel::default()
                };
                let choices = self.kernels.iter_mut().filter(|choice| choice.arch == older.arch);
                choices.for_each(|choice| choice.moe.insert(0, kernel.clone()));
            }
        }
    }

    /// Runs the expert kernels untuned that `version` did not tune. A version without a number tunes all.
    pub fn tune_experts_of(&mut self, version: &Version) {
        let untuned = |record: &&UntunedExperts| version.is_numbered() && *version < record.before;
        self.untuned = self.untuned_experts.iter().filter(untuned).cloned().collect();
    }

    /// Switches to the kernels around delta rules that `version` launched. A version without a number keeps the present ones.
    pub fn compute_delta_rules_of(&mut self, version: &Version) {
        let holds = |record: &Option<OlderDeltaRules>| {
            version.is_numbered() && record.as_ref().is_some_and(|older| *version < older.before)
        };
        self.computes_older_delta_rules = holds(&self.older_delta_rules);
        self.waits_for_delta_rules = holds(&self.delta_rules_wait);
    }

    /// Whether its version is before this one; always true for `None`.
    pub(super) fn is_before(&self, version: Option<&Version>) -> bool {
        version.is_none_or(|version| self.version < *version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    #[test]
    fn defaults_follow_the_version() {
        let vllm = catalog().engine("vllm").expect("in the catalog");
        let cached =
            |version: &str, arch| vllm.version_defaults(&version.into(), arch).map(|of| of.prefix_cache);
        assert_eq!(cached("0.9.0.1", Arch::Hopper), Some(true));
        assert_eq!(cached("0.9.0.1", Arch::Cdna3), Some(false));
        assert_eq!(cached("0.9.1", Arch::Cdna3), Some(true));
        assert_eq!(cached("0.5", Arch::Cdna3), None);
    }

    #[test]
    fn one_release_parses_each_template_anew() {
        let vllm = catalog().engine("vllm").expect("in the catalog");
        let parses = |version: &str| vllm.chat_template(&version.into()).is_some();
        assert!(parses("0.11.0") && parses("0.11"));
        assert!(!parses("0.10.2") && !parses("0.11.1") && !parses("0.24.0"));
    }

    #[test]
    fn older_versions_launch_other_experts() {
        let kernel = |version: &str, weights| {
            let mut vllm = catalog().engine("vllm").unwrap().clone();
            vllm.launch_experts_of(&version.into());
            vllm.kernels_on(Arch::Blackwell).unwrap().moe(weights, 1, 8).map(|named| named.name().to_owned())
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
        let untuned = |version: &str| {
            let mut sglang = catalog().engine("sglang").unwrap().clone();
            sglang.tune_experts_of(&version.into());
            sglang.untuned.len()
        };
        assert_eq!(["0.5.9", "0.5.10", "nightly"].map(untuned), [1, 0, 0]);
        assert!(catalog().engine("sglang").unwrap().untuned.is_empty());
    }

    #[test]
    fn vllm_0_14_to_0_16_run_flashinfer_experts_on_hopper_without_ep_too() {
        let kernel = |version: &str| {
            let mut vllm = catalog().engine("vllm").unwrap().clone();
            vllm.launch_experts_of(&version.into());
            vllm.kernels_on(Arch::Hopper).unwrap().moe(Dtype::Fp8Block, 1, 1).unwrap().name().to_owned()
        };
        let triton = "vllm_fp8moe_triton_tritonexperts";
        assert_eq!([kernel("0.11.0"), kernel("0.18.0"), kernel("0.24.0")], [triton; 3]);
        let deepgemm = "vllm_fp8moe_deepgemm_deepgemmexperts";
        assert_eq!([kernel("0.11.1"), kernel("0.13.0")], [deepgemm; 2]);
        let flashinfer = "vllm_fp8moe_flashinfer_cutlass_flashinferexperts";
        assert_eq!([kernel("0.14.0"), kernel("0.16.0")], [flashinfer; 2]);
    }
}
