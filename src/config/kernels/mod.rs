//! The kernels that an engine launches by default, as its record names them. Each name becomes the kernel's id once, when
//! the record is read.

mod experts;
mod names;
mod weights;

use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use experts::{ExpertCode, ExpertKernel, ExpertWrapper};
pub use names::*;
pub use weights::{WeightRule, WeightUse};

use super::catalog::catalog;
use super::model::Formats;
use super::model::import::CUSTOM_ID;
use super::{Arch, Dtype, Engine, Figure, Gpu, Model};

/// A kernel by name, with its id if it has a learned model. The name is empty if no kernel was measured.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String", bound(serialize = "K: Clone", deserialize = "K: FromStr"))]
pub struct KernelName<K> {
    name: String,
    id: Option<K>,
}

impl<K> KernelName<K> {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }
}

impl<K: Copy> KernelName<K> {
    pub fn id(&self) -> Option<K> {
        self.id
    }
}

impl<K> Default for KernelName<K> {
    fn default() -> Self {
        Self { name: String::new(), id: None }
    }
}

impl<K: FromStr> From<&str> for KernelName<K> {
    fn from(name: &str) -> Self {
        name.to_owned().into()
    }
}

impl<K: FromStr> From<String> for KernelName<K> {
    fn from(name: String) -> Self {
        let id = name.parse().ok();
        Self { name, id }
    }
}

impl<K> From<KernelName<K>> for String {
    fn from(named: KernelName<K>) -> Self {
        named.name
    }
}

/// An engine's default kernels on one GPU architecture, named as in the measured tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelChoice {
    pub arch: Arch,
    pub attention_prefill: KernelName<AttentionKernel>,
    pub attention_decode: KernelName<AttentionKernel>,
    /// Fused-MoE kernels by expert format: the first one that fits the call.
    pub moe: Vec<MoeKernel>,
}

/// A fused-MoE kernel for experts in one format.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoeKernel {
    pub weights: Dtype,
    pub kernel: KernelName<ExpertKernel>,
    /// Used up to this many tokens.
    pub most_tokens: Option<u32>,
    /// Used for experts sharded over up to this many ranks.
    pub most_ranks: Option<u32>,
    /// The models it is used for; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<KernelModels>,
    /// What is unusual about its measured times, and what to use instead.
    pub caution: Option<String>,
}

/// The models for which an engine launches a kernel by default, or that another of its rules is for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelModels {
    /// How their ids start.
    pub starts: Vec<String>,
    pub source: String,
}

impl KernelModels {
    /// A model read from its config.json counts as one of the catalog that is as wide and as deep.
    pub fn hold(&self, model: &Model) -> bool {
        let is_like = |known: &&Model| (known.hidden, known.layers()) == (model.hidden, model.layers());
        let known = if model.id == CUSTOM_ID { catalog().models.models.iter().find(is_like) } else { None };
        let model = known.unwrap_or(model);
        self.starts.iter().any(|start| model.id.starts_with(start))
    }
}

/// A fused-MoE kernel that an engine's version runs with its default tiles where newer ones look up tuned ones.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct UntunedExperts {
    pub weights: Dtype,
    pub kernel: KernelName<ExpertKernel>,
    /// Mean rows per active expert from which the default tiles are too small.
    pub rows: u32,
    /// The kernel's time with the default tiles, as a multiple of the tuned kernel's.
    pub times: Figure,
}

/// The GEMM kernel for weights in some formats: the first rule that holds applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GemmChoice {
    pub weights: Vec<Dtype>,
    /// Architectures this holds for; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub archs: Vec<Arch>,
    pub kernel: GemmKernel,
}

/// Which engine's measured GEMMs stand in for those of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GemmSource {
    pub weights: Dtype,
    /// Architectures this holds for; all if empty.
    pub archs: Vec<Arch>,
    pub measured_as: Caller,
}

fn applies(archs: &[Arch], arch: Arch) -> bool {
    archs.is_empty() || archs.contains(&arch)
}

impl KernelChoice {
    /// The fused-MoE kernel for experts in `weights` sharded over `ranks`, for `tokens` over all ranks.
    pub fn moe(&self, weights: Dtype, tokens: u64, ranks: u64) -> Option<&KernelName<ExpertKernel>> {
        let within = |most: Option<u32>, number| most.is_none_or(|most| number <= u64::from(most));
        let fits = |choice: &&MoeKernel| {
            choice.weights == weights
                && within(choice.most_tokens, tokens)
                && within(choice.most_ranks, ranks)
        };
        self.moe.iter().find(fits).map(|choice| &choice.kernel)
    }

    /// A caution about experts in `weights`, if there is one.
    pub fn caution(&self, weights: Dtype) -> Option<&str> {
        self.moe.iter().find(|choice| choice.weights == weights)?.caution.as_deref()
    }
}

impl Engine {
    /// The engine as a caller of kernels, if its launches were measured.
    pub fn caller(&self) -> Option<Caller> {
        Caller::from_id(&self.id)
    }

    /// The engine whose measured GEMMs stand in for this one's with weights in this format; often itself.
    pub fn gemm_source(&self, weights: Dtype, arch: Arch) -> &Self {
        let holds = |choice: &&GemmSource| choice.weights == weights && applies(&choice.archs, arch);
        let other =
            self.gemm_sources.iter().find(holds).and_then(|choice| catalog().engine(choice.measured_as.id()));
        other.unwrap_or(self)
    }

    /// The kernel of its GEMMs with weights in this format; `None` if it was never measured.
    pub fn gemm(&self, weights: Dtype, arch: Arch) -> Option<GemmKernel> {
        let holds = |choice: &&GemmChoice| choice.weights.contains(&weights) && applies(&choice.archs, arch);
        self.gemms.iter().find(holds).map(|choice| choice.kernel)
    }

    /// Whether it serves `model` with weights in this format on `gpu`.
    pub fn serves(&self, weights: Dtype, model: &Model, gpu: &Gpu) -> bool {
        self.weight_use(weights, model, gpu.arch).is_served(weights, model, gpu)
    }

    fn weight_use(&self, weights: Dtype, model: &Model, arch: Arch) -> WeightUse {
        WeightUse::of(&self.weight_rules, weights, model, arch)
    }

    /// The engine without the kernels that it does not use for `model`.
    pub fn running(&self, model: &Model) -> Self {
        let mut engine = self.clone();
        let is_used = |kernel: &MoeKernel| kernel.models.as_ref().is_none_or(|models| models.hold(model));
        engine.kernels.iter_mut().for_each(|choice| choice.moe.retain(is_used));
        engine
    }

    /// The engine's default kernels on `arch`, if it runs there.
    pub fn kernels_on(&self, arch: Arch) -> Option<&KernelChoice> {
        self.kernels.iter().find(|choice| choice.arch == arch)
    }

    /// The format in which experts published in `weights` are multiplied on `arch`: MXFP4 weights use MXFP8
    /// activations if the engine has a kernel for that.
    pub fn experts_as(&self, weights: Dtype, arch: Arch) -> Dtype {
        let narrow = Dtype::Mxfp4Mxfp8;
        let has = |choice: &KernelChoice| choice.moe.iter().any(|kernel| kernel.weights == narrow);
        match weights {
            Dtype::Mxfp4 if self.kernels_on(arch).is_some_and(has) => narrow,
            other => other,
        }
    }

    /// The formats of `model` published in `weights`, as this engine multiplies them on `arch`.
    pub fn formats_of(&self, model: &Model, weights: Dtype, arch: Arch) -> Formats {
        let published = model.formats(weights);
        let held = Formats { weights: self.experts_as(published.weights, arch), ..published };
        match self.weight_use(weights, model, arch) {
            WeightUse::TimedAs(other) => held.replacing(weights, other),
            WeightUse::Own | WeightUse::Refused => held,
        }
    }

    /// The engine's default kernels of the attention variants on `arch`, if it runs there.
    pub fn variants_on(&self, arch: Arch) -> Option<&VariantChoice> {
        self.variants.iter().find(|choice| choice.arch == arch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sglang_generates_experts_on_blackwell_for_some_models_only() {
        let kernel = |model: &str, weights| {
            let model = catalog().model(model).expect("in the catalog");
            let engine = catalog().engine("sglang").expect("in the catalog").running(model);
            let choice = engine.kernels_on(Arch::Blackwell).expect("served");
            choice.moe(weights, 1, 8).map(|named| named.name().to_owned())
        };
        let (generated, triton) = ("sglang_flashinfer_trtllm_moe", "sglang_fused_moe_triton");
        assert_eq!(kernel("deepseek-r1", Dtype::Fp8Block).as_deref(), Some(generated));
        assert_eq!(kernel("minimax-m2.5", Dtype::Fp8Block).as_deref(), Some(triton));
        assert_eq!(kernel("glm-4.7-flash", Dtype::Bf16).as_deref(), Some(triton));
        assert_eq!(kernel("minimax-m2.5", Dtype::Nvfp4).as_deref(), Some(generated));
        assert_eq!(kernel("deepseek-v2", Dtype::Bf16).as_deref(), Some(triton));
        let own =
            Model { id: CUSTOM_ID.into(), ..catalog().model("deepseek-r1").expect("in the catalog").clone() };
        let engine = catalog().engine("sglang").expect("in the catalog").running(&own);
        let choice = engine.kernels_on(Arch::Blackwell).expect("served");
        assert_eq!(choice.moe(Dtype::Fp8Block, 1, 8).map(KernelName::name), Some(generated));
    }

    #[test]
    fn moe_kernels_follow_format_tokens_and_ranks() {
        let kernel = |engine: &str, weights, tokens, ranks| {
            let engine = catalog().engine(engine).expect("in the catalog");
            let choice = engine.kernels_on(Arch::Hopper).expect("served");
            choice.moe(weights, tokens, ranks).map(KernelName::name)
        };
        let weights = Dtype::Nvfp4;
        let few = MoeKernel { weights, kernel: "few".into(), most_tokens: Some(128), ..MoeKernel::default() };
        let any = MoeKernel { weights, kernel: "any".into(), ..MoeKernel::default() };
        let choice = KernelChoice { moe: vec![few, any], ..KernelChoice::default() };
        let chosen = [128, 129].map(|tokens| choice.moe(weights, tokens, 8).map(KernelName::name));
        assert_eq!(chosen, [Some("few"), Some("any")]);
        assert_eq!(kernel("vllm", Dtype::Fp8Block, 1, 1), Some("vllm_fp8moe_triton_tritonexperts"));
        assert_eq!(
            kernel("vllm", Dtype::Fp8Block, 1, 8),
            Some("vllm_fp8moe_flashinfer_cutlass_flashinferexperts")
        );
        assert_eq!(kernel("sglang", Dtype::Int8, 1, 1), None);
    }

    #[test]
    fn every_kernel_of_attention_and_experts_is_known() {
        for engine in &catalog().engines.engines {
            for choice in &engine.kernels {
                let attention = [&choice.attention_prefill, &choice.attention_decode];
                assert!(attention.iter().all(|named| named.id().is_some()), "{} {choice:?}", engine.id);
                assert!(choice.moe.iter().all(|moe| moe.kernel.id().is_some()), "{} {choice:?}", engine.id);
            }
        }
    }

    #[test]
    fn gemms_follow_format_and_architecture() {
        let of = |id: &str, weights, arch| catalog().engine(id).expect("in the catalog").gemm(weights, arch);
        assert_eq!(of("vllm", Dtype::Fp8Block, Arch::Hopper), Some(GemmKernel::DeepGemm));
        assert_eq!(of("vllm", Dtype::Fp8Block, Arch::Ada), Some(GemmKernel::BlockScaled));
        assert_eq!(of("trtllm", Dtype::Fp8Block, Arch::Blackwell), Some(GemmKernel::TrtllmDeepGemm));
        assert_eq!(of("sglang", Dtype::Mxfp4, Arch::Hopper), None);
    }
}
