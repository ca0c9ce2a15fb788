//! The names under which families keep their experts.

/// Where the sizes of shared experts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    None,
    /// The width of all of them stands under this key.
    Width(&'static str),
    /// The same, and their result is weighed by a gate.
    Gated(&'static str),
    /// Their number stands under this key; each is as wide as a routed one.
    Count(&'static str),
    /// One, as wide as a routed one.
    One,
}

/// The names under which a family keeps its experts.
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
    /// The MLP of `dense` stands beside the experts of every layer.
    pub beside: bool,
    /// What the tensors of a layer are called: the experts' own, and the shared ones'.
    pub modules: (&'static str, &'static str),
}

/// Qwen3's names, which most families share.
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
/// The same with shared experts behind a gate (Qwen2-MoE, Qwen3.5).
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
