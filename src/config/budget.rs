//! The memory that an engine reserves at start-up besides weights and KV cache, by version.

use serde::{Deserialize, Serialize};

use super::kernels::KernelModels;
use super::{Arch, Dtype, Engine, Figure, MissingFigure, Model, Version};

/// The rules of an engine's versions up to one of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// The first version for which they no longer hold; none in the newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Version>,
    /// The default share of these versions, if it differs from the record's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_share: Option<Figure>,
    /// Whether the share includes the CUDA context, or is a share of what that and communication leave.
    pub holds_context: bool,
    /// Whether the profiled load is a step of the whole token budget, whatever requests arrive.
    pub profiles_budget: bool,
    /// Libraries and workspaces on each GPU, in GiB.
    pub libraries_gib: Figure,
    /// What communication adds on each GPU when there is more than one, in GiB.
    pub communication_gib: Figure,
    /// CUDA graphs, if the room for the KV cache is determined after capturing them, in GiB.
    pub graphs_gib: Figure,
    /// What sampling takes for each sequence and entry of the vocabulary, in bytes.
    pub logit_bytes: Figure,
    /// Sequences that are sampled at once; `None` for all that may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<u32>,
}

/// Layers that see a window alone, where an engine does not free what has left it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowPool {
    /// The first version for which it no longer holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Version>,
    /// All models if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<KernelModels>,
    /// Tokens that these layers have room for, per token of the others' room; 1 if they cache all tokens.
    pub per_token: Figure,
}

/// Multiples to which expert kernels pad the sizes of each expert.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Padding {
    /// The first version that pads differently; none for the newest rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Version>,
    pub weights: Dtype,
    pub archs: Vec<Arch>,
    /// Multiple to which the hidden size is padded.
    pub hidden: Figure<u32>,
    /// Multiple to which one rank's width is padded.
    pub inner: Figure<u32>,
    /// Multiple to which the columns of either GEMM are padded.
    pub columns: Figure<u32>,
}

impl Padding {
    /// Ratio of the elements in one rank's part of a gated expert to the published ones, for a part of `inner` columns.
    pub fn growth(&self, hidden: u32, inner: u32) -> f64 {
        let up = |size: u32, multiple: &Figure<u32>| size.next_multiple_of(multiple.checked());
        let (wide, narrow) = (up(hidden, &self.hidden), up(inner, &self.inner));
        let gate_and_up = f64::from(wide) * f64::from(up(2 * narrow, &self.columns));
        let down = f64::from(narrow) * f64::from(up(wide, &self.columns));
        (gate_and_up + down) / (3.0 * f64::from(hidden) * f64::from(inner))
    }
}

impl Budget {
    pub fn need(&self, figure: &Figure, name: &'static str, engine: &Engine) -> Result<f64, MissingFigure> {
        let missing = || MissingFigure { gpu: engine.name.clone(), figure: name, reason: figure.1.clone() };
        figure.0.ok_or_else(missing)
    }
}

impl Engine {
    /// What its version reserves; `None` if the record has no rules.
    pub fn budget(&self) -> Option<&Budget> {
        self.budgets.iter().find(|budget| self.is_before(budget.before.as_ref()))
    }

    /// Tokens that layers with a window have room for per token of the others' room; `None` if what has left the window
    /// is freed.
    pub fn window_room(&self, model: &Model) -> Option<f64> {
        let of_model = |pool: &&WindowPool| {
            self.is_before(pool.before.as_ref())
                && pool.models.as_ref().is_none_or(|models| models.hold(model))
        };
        self.windows.iter().find(of_model)?.per_token.0
    }

    /// How its expert kernels pad weights in this format on `arch`; `None` if they do not.
    pub fn padding(&self, weights: Dtype, arch: Arch) -> Option<&Padding> {
        let pads = |padding: &&Padding| {
            padding.weights == weights
                && padding.archs.contains(&arch)
                && self.is_before(padding.before.as_ref())
        };
        self.paddings.iter().find(pads)
    }
}

#[cfg(test)]
mod tests {
    use super::{Arch, Dtype, Engine, Model};
    use crate::config::catalog;
    use crate::config::model::import::CUSTOM_ID;

    #[test]
    fn memory_budgets_depend_on_the_version() {
        let mut vllm = catalog().engine("vllm").unwrap().clone();
        let newest = vllm.budget().unwrap().clone();
        assert_eq!(newest.before, None);
        vllm.version = "0.8.4".into();
        assert!(vllm.budget().unwrap().holds_context && !newest.holds_context);
    }

    #[test]
    fn a_model_read_from_its_config_has_the_room_for_windows_of_the_catalogs() {
        let known = catalog().model("gemma-3-27b-it").unwrap();
        let own = Model { id: CUSTOM_ID.into(), ..known.clone() };
        let sglang = catalog().engine("sglang").unwrap();
        assert_eq!(sglang.window_room(known), Some(1.0));
        assert_eq!(sglang.window_room(&own), Some(1.0));
    }

    #[test]
    fn experts_are_padded_as_logged() {
        // gpt-oss-120b: 65.97 GiB on Marlin and 64.38 on Triton of 60.77 published, of which 4.04 are not in experts.
        let vllm = catalog().engine("vllm").unwrap();
        let growth = |version: &str| {
            let engine = Engine { version: version.into(), ..vllm.clone() };
            engine.padding(Dtype::Mxfp4, Arch::Hopper).unwrap().growth(2880, 2880)
        };
        for (version, logged) in [("0.10.1", 65.97), ("0.24.0", 64.38)] {
            let found = 4.04 + 56.73 * growth(version);
            assert!((found / logged - 1.0_f64).abs() < 0.005, "{version}: {found}");
        }
    }

    #[test]
    fn the_last_budget_has_no_end() {
        for engine in &catalog().engines.engines {
            let (last, others) = engine.budgets.split_last().unwrap();
            assert_eq!(last.before, None, "{}", engine.id);
            let ends: Vec<_> = others.iter().map(|budget| budget.before.as_ref().unwrap()).collect();
            assert!(ends.is_sorted(), "{}", engine.id);
        }
    }
}
