//! Which of an engine's default kernels a call of latent, sparse or linear attention gets.

use crate::config::{Dtype, VariantChoice};
use crate::graph::{Latent, Linear, Op, Phase};
use crate::kernels::latent;

/// Convolutions are named alike by all engines.
const CONVOLUTIONS: [&str; 2] = ["causal_conv1d_fn", "causal_conv1d_update"];

/// The measured kernel over the latents of prompts: FlashAttention-3.
const ABSORBED_PROMPTS: &str = "flash_attention";

/// The default kernel of `op`; empty where the engine has none that was measured.
pub(super) fn kernel<'a>(op: &Op, choice: &'a VariantChoice) -> &'a str {
    let by_phase = |phase, prefill: &'a str, decode: &'a str| match phase {
        Phase::Prefill => prefill,
        Phase::Decode => decode,
    };
    match op {
        // No kernel over compressed keys was measured: one over latents stands for it.
        Op::Latent(Latent::Attention(call)) if call.reach.is_some() && call.phase == Phase::Prefill => {
            let own = choice.latent_prefill.as_str();
            if own.is_empty() || super::absorbs_prompts(own) { own } else { ABSORBED_PROMPTS }
        }
        Op::Latent(Latent::Attention(call)) => {
            by_phase(call.phase, &choice.latent_prefill, &choice.latent_decode)
        }
        Op::Latent(Latent::Bmm(bmm)) if bmm.weights.math() == Dtype::Fp8 => &choice.bmm_fp8,
        Op::Latent(Latent::Bmm(_)) => &choice.bmm,
        Op::Latent(Latent::Module(module)) => {
            by_phase(module.phase, &choice.block_prefill, &choice.block_decode)
        }
        Op::Latent(Latent::Sparse(sparse)) => {
            let short = sparse.module.phase == Phase::Prefill && latent::dense(sparse);
            if short { &choice.sparse_short } else { &choice.sparse }
        }
        Op::Linear(Linear::Conv(conv)) => by_phase(conv.phase, CONVOLUTIONS[0], CONVOLUTIONS[1]),
        Op::Linear(Linear::Delta(delta)) => {
            by_phase(delta.phase, &choice.delta_prefill, &choice.delta_decode)
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Family, row};
    use crate::config::Dtype;
    use crate::config::catalog::catalog;
    use crate::graph::{
        BatchedGemm, CausalConv, DeltaRule, Indexer, Latent, LatentAttention, LatentHeads, LatentModule,
        Linear, Op, Phase, Sequences, SparseModule,
    };
    use crate::units::Seconds;

    fn calls() -> Vec<(Family, Op)> {
        let heads = LatentHeads { heads: 16, latent: 512, rope: 64, nope: 128, value: 128 };
        let sequences = vec![Sequences { count: 4, new: 1, past: 5000 }];
        let (phase, kv, weights) = (Phase::Decode, Dtype::Bf16, Dtype::Bf16);
        let attention = LatentAttention { phase, sequences: sequences.clone(), heads, kv, reach: None };
        let bmm = BatchedGemm { count: 16, m: 4, n: 512, k: 128, weights };
        let module = LatentModule {
            phase,
            sequences: sequences.clone(),
            heads,
            hidden: 7168,
            query_rank: 1536,
            weights,
            kv,
        };
        let indexer = Indexer { heads: 64, head_dim: 128, topk: 2048 };
        let sparse = SparseModule { module: module.clone(), indexer, indexes: true };
        let delta = DeltaRule {
            phase,
            sequences: sequences.clone(),
            key_heads: 4,
            value_heads: 8,
            key_dim: 128,
            value_dim: 128,
        };
        let conv = CausalConv { phase, sequences, channels: 2048, taps: 4 };
        vec![
            (Family::Mla, Op::Latent(Latent::Attention(attention))),
            (Family::MlaBmm, Op::Latent(Latent::Bmm(bmm))),
            (Family::MlaModule, Op::Latent(Latent::Module(module))),
            (Family::DsaModule, Op::Latent(Latent::Sparse(sparse))),
            (Family::LinearAttention, Op::Linear(Linear::Delta(delta))),
            (Family::LinearAttention, Op::Linear(Linear::Conv(conv))),
        ]
    }

    #[test]
    fn tensorrt_llm_serves_every_variant_on_hopper() {
        let engine = catalog().engine("trtllm").expect("in the catalog");
        let gpu = catalog().gpu("h100-sxm").expect("in the catalog");
        for (family, op) in calls() {
            let (asked, values) =
                row(&op, gpu, engine, Seconds(1.5e-6)).expect("complete record").expect("a default kernel");
            assert_eq!(asked, family);
            assert_eq!(values.len(), family.schema().names.len());
        }
    }

    #[test]
    fn every_named_default_is_learned() {
        for engine in &catalog().engines.engines {
            for choice in &engine.variants {
                for (_, op) in calls() {
                    let gpu = catalog()
                        .gpus
                        .gpus
                        .iter()
                        .find(|gpu| gpu.arch == choice.arch)
                        .expect("a GPU of each");
                    let named = !super::kernel(&op, choice).is_empty();
                    let row = row(&op, gpu, engine, Seconds(1.5e-6)).expect("complete record");
                    assert_eq!(row.is_some(), named, "{} on {:?}: {op:?}", engine.id, choice.arch);
                }
            }
        }
    }
}
