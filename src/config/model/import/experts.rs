//! How families name their experts' sizes.

/// Where the sizes of shared experts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    None,
    /// This key holds their total width.
    Width(&'static str),
    /// The same, with their output weighted by a gate.
    Gated(&'static str),
    /// This key holds their number; each is as wide as a routed one.
    Count(&'static str),
    /// One, as wide as a routed expert.
    One,
}

/// A family's keys for its experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experts {
    pub count: &'static str,
    pub topk: &'static str,
    pub width: &'static str,
    /// Width of the MLP in layers without experts.
    pub dense: &'static str,
    pub shared: Shared,
    /// Width that tokens are projected to before the experts.
    pub latent: Option<&'static str>,
    pub bias: bool,
    /// The MLP of `dense` runs parallel to the experts in every layer.
    pub beside: bool,
    /// Module names of a layer: of the routed experts, and of the shared ones.
    pub modules: (&'static str, &'static str),
}

/// Qwen3's names, used by most families.
pub const EXPERTS: Experts = Experts {
    count: "num_experts",
    topk: "num_experts_per_tok",
    width: "moe_intermediate_size",
    dense: "intermediate_size",
    shared: Shared::None,
    latent: None,
    bias: false,
    beside: false,
    modules: ("mlp.experts", "mlp.shared_experts"),
};
/// DeepSeek's names.
pub const ROUTED: Experts =
    Experts { count: "n_routed_experts", shared: Shared::Count("n_shared_experts"), ..EXPERTS };
/// Qwen3's with gated shared experts (Qwen2-MoE, Qwen3.5).
pub const GATED_SHARE: Experts = Experts {
    shared: Shared::Gated("shared_expert_intermediate_size"),
    modules: ("mlp.experts", "mlp.shared_expert"),
    ..EXPERTS
};
/// Experts as wide as `intermediate_size` in every layer (Mixtral).
pub const LOCAL: Experts = Experts {
    count: "num_local_experts",
    width: "intermediate_size",
    modules: ("block_sparse_moe.experts", "block_sparse_moe.shared_experts"),
    ..EXPERTS
};
