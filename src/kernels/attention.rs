//! Attention over the KV cache, with the write of the new keys and values.

use super::Count;
use crate::config::{Dtype, Gpu, MissingFigure};
use crate::graph::Attention;
use crate::units::{Bytes, Flops};

/// Q, new K and V, and the output are bf16.
const ACTIVATION_BYTES: f64 = 2.0;

/// Query-key pairs under the causal mask of `new` tokens after `past`: each new token sees the past,
/// the new tokens before it, and itself.
pub fn causal_pairs(new: u64, past: u64) -> f64 {
    let (new, past) = (new as f64, past as f64);
    new * past + new * (new + 1.0) / 2.0
}

/// Counts one rank's attention: `4 head_dim` FLOP per query head and causal pair; the past from the KV
/// cache, everything of this step as activations.
///
/// # Errors
/// Where the GPU's record lacks its L2 size.
pub fn count(attention: &Attention, gpu: &Gpu) -> Result<Count, MissingFigure> {
    let (heads, kv_heads) = (attention.heads as f64, attention.kv_heads as f64);
    let head_dim = attention.head_dim as f64;
    let kv_token = 2.0 * kv_heads * head_dim * attention.kv.bytes();
    let (mut pairs, mut past, mut new) = (0.0, 0.0, 0.0);
    for group in &attention.sequences {
        let count = group.count as f64;
        pairs += count * causal_pairs(group.new, group.past);
        past += count * group.past as f64;
        new += count * group.new as f64;
    }
    let cached = past * kv_token;
    let query_and_output = 2.0 * new * heads * head_dim * ACTIVATION_BYTES;
    let new_kv = new * (2.0 * kv_heads * head_dim * ACTIVATION_BYTES + kv_token);
    let math = if gpu.supports(attention.kv.math()) { attention.kv.math() } else { Dtype::Bf16 };
    let flops = Flops(4.0 * head_dim * heads * pairs);
    Count::new(flops, Some(math), Bytes(cached), Bytes(query_and_output + new_kv), gpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_by_hand() {
        // 3 tokens: 1 + 2 + 3; after 10: 3 * 10 more.
        assert_eq!(causal_pairs(3, 0), 6.0);
        assert_eq!(causal_pairs(3, 10), 36.0);
        assert_eq!(causal_pairs(1, 99), 100.0);
    }
}
