//! Attention over the KV cache, with the write of the new keys and values.

use super::Count;
use crate::config::{Dtype, Gpu, MissingFigure};
use crate::graph::Attention;
use crate::units::{Bytes, Flops};

/// Q, new K and V, and the output are bf16.
const ACTIVATION_BYTES: f64 = 2.0;

/// Query-key pairs under the causal mask of `new` tokens after `past`: each new token sees the past,
/// the new tokens before it, and itself; of these the last `window` where there is one.
pub fn causal_pairs(new: u64, past: u64, window: Option<u64>) -> f64 {
    let triangle = |new: u64| {
        let (new, past) = (new as f64, past as f64);
        new * past + new * (new + 1.0) / 2.0
    };
    match window {
        None => triangle(new),
        Some(window) => {
            // Tokens before which less than a window lies.
            let growing = window.saturating_sub(past).min(new);
            triangle(growing) + (new - growing) as f64 * window as f64
        }
    }
}

/// Cached tokens that any new one sees: all of `past`, or what a window reaches from the first new token.
pub fn visible_past(past: u64, window: Option<u64>) -> u64 {
    window.map_or(past, |window| past.min(window.saturating_sub(1)))
}

/// Counts one rank's attention: `4 head_dim` FLOP per query head and visible pair; the visible past from
/// the KV cache, everything of this step as activations.
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
        pairs += count * causal_pairs(group.new, group.past, attention.window);
        past += count * visible_past(group.past, attention.window) as f64;
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
    use crate::config::catalog::catalog;
    use crate::graph::{Phase, Sequences};

    #[test]
    fn pairs_by_hand() {
        // 3 tokens: 1 + 2 + 3; after 10: 3 * 10 more.
        assert_eq!(causal_pairs(3, 0, None), 6.0);
        assert_eq!(causal_pairs(3, 10, None), 36.0);
        assert_eq!(causal_pairs(1, 99, None), 100.0);
    }

    #[test]
    fn pairs_in_a_window_by_hand() {
        // A window of 2: 1 + 2 + 2 + 2; after 10: 2 each; a window that holds all changes nothing.
        assert_eq!(causal_pairs(4, 0, Some(2)), 7.0);
        assert_eq!(causal_pairs(4, 10, Some(2)), 8.0);
        assert_eq!(causal_pairs(3, 10, Some(13)), causal_pairs(3, 10, None));
        assert_eq!(causal_pairs(1, 99, Some(1)), 1.0);
    }

    #[test]
    fn pairs_in_a_window_are_those_of_a_walk() {
        for (new, past, window) in [(7, 0, 3), (7, 2, 5), (7, 9, 5), (1, 4, 5), (9, 3, 100)] {
            let walk: u64 = (0..new).map(|token| (past + token + 1).min(window)).sum();
            assert_eq!(causal_pairs(new, past, Some(window)), walk as f64, "{new} {past} {window}");
        }
    }

    #[test]
    fn a_window_reads_no_more_of_the_cache_than_it_sees() {
        let gpu = catalog().gpu("h100-sxm").expect("in the catalog");
        let cached = |past, window| {
            let sequences = vec![Sequences { count: 2, new: 1, past }];
            let call = Attention {
                phase: Phase::Decode,
                sequences,
                heads: 8,
                kv_heads: 2,
                head_dim: 64,
                kv: Dtype::Bf16,
                window,
            };
            count(&call, gpu).expect("complete record").stored.0
        };
        // Keys and values of 2 heads, 64 wide, 2 bytes each: 512 bytes a token, of two sequences.
        assert_eq!(cached(1000, None), 1_024_000.0);
        assert_eq!(cached(1000, Some(128)), 127.0 * 1024.0);
        assert_eq!(cached(100, Some(128)), 102_400.0);
    }
}
