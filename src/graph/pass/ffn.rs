//! MLPs and mixtures of experts.

use super::{ACTIVATION_BYTES, Calls, ElementwiseKind};
use crate::config::catalog::numbers::expert_exchange::constants;
use crate::config::{Dtype, model};
use crate::graph::{Block, Scope};
use crate::kernels::{Collective, Fp32Gemm, Moe, MoePart, Pool, Routing};
use crate::units::Bytes;

impl Calls<'_> {
    /// An MLP.
    pub(super) fn dense(&mut self, dense: &model::Dense, count: u64, weights: Dtype) {
        let names = match dense.gated() {
            true => ["gate_up_proj", "silu_and_mul", "down_proj"],
            false => ["up_proj", "activation", "down_proj"],
        };
        self.mlp(names, dense, count, weights);
    }

    /// The shared experts; their output may be weighted by a sigmoid of one column.
    fn shared(&mut self, shared: &model::Dense, weighted: bool, count: u64) {
        let names = match shared.gated() {
            true => ["shared_gate_up_proj", "shared_silu_and_mul", "shared_down_proj"],
            false => ["shared_up_proj", "shared_activation", "shared_down_proj"],
        };
        self.overlapped = self.layout.shared_beside_routed;
        self.mlp(names, shared, count, self.formats.shared);
        if weighted {
            self.gemm(Block::Mlp, "shared_weight", count, 1, self.hidden, Dtype::Bf16);
            self.element(Block::Mlp, "shared_weighting", count, ElementwiseKind::Activation, self.hidden);
        }
        self.overlapped = false;
    }

    /// An MLP with its calls named in order.
    pub(super) fn mlp(
        &mut self,
        [into, activation, out]: [&'static str; 3],
        dense: &model::Dense,
        count: u64,
        weights: Dtype,
    ) {
        let (hidden, tp) = (self.hidden, u64::from(self.layout.parallel.tp));
        let width = u64::from(dense.intermediate).div_ceil(tp);
        let (columns, kind) = if dense.gated() {
            (2 * width, ElementwiseKind::SiluMul)
        } else {
            (width, ElementwiseKind::Activation)
        };
        self.gemm(Block::Mlp, into, count, columns, hidden, weights);
        self.element(Block::Mlp, activation, count, kind, width);
        self.gemm(Block::Mlp, out, count, hidden, width, weights);
    }

    pub(super) fn moe(&mut self, moe: &model::Moe, count: u64) {
        let hidden = self.hidden;
        let of = Block::Experts;
        let formats = self.formats;
        let width = u64::from(moe.width(hidden as u32));
        if let Some(intermediate) = moe.beside {
            let dense = model::Dense { intermediate, ungated: moe.ungated };
            self.dense(&dense, count, formats.mlp);
            // Each branch has a norm after it, which needs its whole sum; the experts have one before them, too.
            self.all_reduce(count);
            self.plain_norm(Block::Mlp, "mlp_branch_norm", count);
            for norm in ["experts_input_norm", "experts_branch_norm"] {
                self.plain_norm(of, norm, count);
            }
        }
        if let Some(shared) = moe.shared() {
            self.shared(&shared, moe.shared_gate == Some(true), count);
        }
        let experts = u64::from(moe.experts);
        if moe.exact_router == Some(true) && self.tokens > 0 {
            self.add(of, "router", count, Fp32Gemm { m: self.tokens, n: experts, k: hidden });
        } else {
            self.gemm(of, "router", count, experts, hidden, Dtype::Bf16);
        }
        // A drafting layer in another format may have another kernel.
        if !self.layout.chosen_inside || formats.weights != self.layout.formats.weights {
            self.element(of, "topk", count, ElementwiseKind::Sampling, experts);
        }
        if moe.latent.is_some() {
            self.gemm(of, "latent_in_proj", count, width, hidden, formats.shared);
        }
        self.scope = if self.base == Scope::Tokens { Scope::Experts } else { self.base };
        self.routed(moe, width, count);
        self.scope = self.base;
        if moe.shared.is_some() {
            self.element(of, "experts_add", count, ElementwiseKind::Add, hidden);
        }
        if moe.latent.is_some() {
            self.gemm(of, "latent_out_proj", count, hidden, width, formats.shared);
        }
        if self.layout.parallel.dp <= 1 {
            self.all_reduce(count);
        } else {
            self.reduced = false;
        }
    }

    /// The routed experts: tokens from the other groups are sent to them, and their sums back.
    fn routed(&mut self, moe: &model::Moe, width: u64, count: u64) {
        // Sampling a routing is the most expensive part here.
        if !self.wanted() {
            return;
        }
        let tokens = self.pooled;
        let (experts, topk) = (u64::from(moe.experts), u64::from(moe.topk));
        let ep = u64::from(self.layout.parallel.ep.max(1));
        let data_parallel = self.layout.parallel.dp > 1;
        let [dispatch, combine] = self.exchange(tokens * width, topk);
        if data_parallel {
            self.collective("dispatch", count, dispatch);
        }
        // Ranks are filled up with copies of busy experts, chosen to balance the ranks' work.
        let routing = if experts.is_multiple_of(ep) { self.layout.routing } else { Routing::Even };
        let call = Moe {
            tokens,
            hidden: width,
            inter: u64::from(moe.intermediate),
            experts,
            topk,
            tp: u64::from(self.layout.parallel.expert_tp()),
            ep,
            gated: moe.gated(),
            weights: self.formats.weights,
            part: MoePart::Whole,
            load: routing.load(&Pool { tokens, experts, topk, ep }),
        };
        self.add(Block::Experts, "fused_moe", count, call);
        if data_parallel {
            self.collective("combine", count, combine);
            // It leaves each rank of a group with a part of the group's tokens.
            let ranks = self.layout.parallel.tp;
            if ranks > 1 {
                let bytes = Bytes((self.tokens * width) as f64 * ACTIVATION_BYTES);
                self.collective("group_all_gather", count, Collective::AllGather { ranks, bytes });
            }
        }
    }

    /// How `elements` of all ranks' tokens reach their experts, and return.
    ///
    /// Each rank gathers all tokens; with more ranks than experts per token, tokens go only to the ranks that need
    /// them (`moe_ep_size <= top_k` in TensorRT-LLM's `select_alltoall_method_type`; SGLang and vLLM by DeepEP):
    /// there in the GEMM's format, back in bf16. Within eight GPUs engines always gather.
    fn exchange(&self, elements: u64, topk: u64) -> [Collective; 2] {
        let ranks = self.layout.parallel.gpus_per_stage();
        if f64::from(ranks) <= constants().gathering_ranks || u64::from(self.layout.parallel.ep) <= topk {
            let bytes = Bytes(elements as f64 * ACTIVATION_BYTES);
            return [Collective::AllGather { ranks, bytes }, Collective::ReduceScatter { ranks, bytes }];
        }
        let sent = (elements * topk) as f64 / f64::from(ranks);
        let narrow = self.formats.weights.math().bytes().min(ACTIVATION_BYTES);
        let message = |bytes: f64| Collective::AllToAll { ranks, bytes: Bytes(sent * bytes) };
        [message(narrow), message(ACTIVATION_BYTES)]
    }
}
