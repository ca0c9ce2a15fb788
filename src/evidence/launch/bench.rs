//! The engine settings that `trtllm-bench` works out for a data set (`tensorrt_llm/bench/build/tuning.py`).

use super::LaunchSettings;
pub(crate) use crate::config::catalog::numbers::launches::constants;
use crate::config::model::Attention;
use crate::config::{Dtype, Gpu, Model};
use crate::evidence::cases::{ServedCase, model};
use crate::units::GIB;

/// Sequences and tokens of a step: as many sequences as the KV cache holds, and the tokens of as many requests in
/// balance.
pub(super) fn engine_settings(
    launch: &mut LaunchSettings,
    case: &ServedCase,
    gpu: &Gpu,
) -> Result<(), String> {
    let resolved = model(&case.model)?;
    let found = resolved.model;
    let memory = gpu.memory()?.0 / GIB;
    let (tp, pp) = (f64::from(case.tp), f64::from(case.pp.max(1)));
    let of_weights = match case.precision.as_str() {
        "fp8" | "fp8_block" => 1.0,
        "nvfp4" => 0.5,
        // Like trtllm-bench itself, for other formats too.
        _ => 2.0,
    };
    let of_cache = if launch.kv(case.weights(&resolved)?) == Dtype::Fp8 { 1.0 } else { 2.0 };
    let available = memory * tp * pp - found.parameters() * of_weights / GIB;
    let (prompt, answer) = (f64::from(case.isl), f64::from(case.osl));
    let share = launch.memory_share.unwrap_or(1.0);
    let of_token = cache_elements(found, tp) * of_cache / GIB;
    let requests = available * share / (of_token * (prompt + answer));
    let (seqs, tokens) = rounded(requests.min(constants().bench_most_seqs) / pp, prompt / answer.max(1.0));
    launch.max_seqs = Some(seqs);
    // Without chunking, the longest prompt must fit in a step with all decoding sequences.
    launch.token_budget = if launch.chunked { tokens } else { tokens.max(case.isl + seqs) };
    Ok(())
}

fn rounded(raw: f64, prompts: f64) -> (u32, u32) {
    let up = |value: f64, step: f64| step * (value / step).ceil();
    let seqs = match raw {
        few if few < 256.0 => up(few, 32.0).max(64.0),
        some if some < 1024.0 => up(some, 128.0),
        many => up(many, 256.0),
    };
    let tokens = match (raw * (1.0 + prompts)).min(constants().bench_most_tokens) {
        few if few < 4096.0 => up(few, 256.0).max(2048.0),
        some if some < 8192.0 => up(some, 512.0),
        many => up(many, 1024.0),
    };
    (seqs as u32, tokens as u32)
}

/// Keys and values of a token in all layers, with at least one KV head per GPU; the tool counts all layers alike.
fn cache_elements(model: &Model, tp: f64) -> f64 {
    let of = |attention: &Attention| match attention {
        Attention::Gqa(gqa) => 2.0 * f64::from(gqa.kv_heads).max(tp) * f64::from(gqa.head_dim),
        // For latent attention `num_key_value_heads` is its number of heads, and its head size is hidden / heads.
        Attention::Mla(mla) => {
            2.0 * f64::from(mla.heads).max(tp) * (f64::from(model.hidden) / f64::from(mla.heads))
        }
        _ => 0.0,
    };
    model
        .blocks
        .iter()
        .map(|blocks| f64::from(blocks.count) * blocks.attention.as_ref().map_or(0.0, of))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_of_the_benchmark() {
        // 100 requests of 1000/1000: 128 sequences, and 200 tokens are fewer than the least.
        assert_eq!(rounded(100.0, 1.0), (128, 2048));
        assert_eq!(rounded(700.0, 10.0), (768, 8192));
        assert_eq!(rounded(4096.0, 1.0), (4096, 8192));
        assert_eq!(rounded(4096.0, 1000.0), (4096, 32768));
        assert_eq!(rounded(10.0, 1.0), (64, 2048));
    }
}
