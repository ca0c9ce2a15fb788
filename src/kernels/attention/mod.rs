//! Attention over the KV cache, including the write of new keys and values.

mod cached;
mod closed;
mod executed;
mod kernel;
#[cfg(feature = "tools")]
pub mod measured;
mod vector;

pub use vector::{DECODE, PREFILL};

use super::sequences::{first_group, lengths};
use super::{CallPoint, Count, Family, Kernel, Launch, Op, Phase, Sequences};
pub(super) use crate::config::catalog::numbers::attention::constants;
use crate::config::kernels::{AttentionKernel, KernelId};
use crate::config::{Arch, Dtype, Engine, Gpu, MissingFigure};
use crate::kernels::ACTIVATION_BYTES;
use crate::units::{Bytes, Flops, Seconds};

/// Causal attention of one rank's heads over the sequences of one launch; KV write included.
///
/// A `Prefill` launch may include decoding sequences, as engines that mix both in one step launch it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Attention {
    pub phase: Phase,
    pub sequences: Vec<Sequences>,
    /// Query heads on this rank.
    pub heads: u64,
    /// KV heads on this rank (at least one: replicated if TP exceeds their number).
    pub kv_heads: u64,
    pub head_dim: u64,
    pub kv: Dtype,
    /// Keys visible to a query, its own included; `None` if it sees all.
    pub window: Option<u64>,
}

impl Kernel for Attention {
    /// `4 head_dim` FLOP per query head and visible pair; the visible past from the KV cache, everything of this step as
    /// activations.
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure> {
        let (heads, kv_heads) = (self.heads as f64, self.kv_heads as f64);
        let head_dim = self.head_dim as f64;
        let kv_token = 2.0 * kv_heads * head_dim * self.kv.bytes();
        let (mut pairs, mut past, mut new) = (0.0, 0.0, 0.0);
        for group in &self.sequences {
            let count = group.count as f64;
            pairs += count * causal_pairs(group.new, group.past, self.window);
            past += count * visible_past(group.past, self.window) as f64;
            new += count * group.new as f64;
        }
        let cached = past * kv_token;
        let query_and_output = 2.0 * new * heads * head_dim * ACTIVATION_BYTES;
        let new_kv = new * (2.0 * kv_heads * head_dim * ACTIVATION_BYTES + kv_token);
        let math = gpu.math_or_bf16(self.kv.math());
        let flops = Flops(4.0 * head_dim * heads * pairs);
        Count::new(flops, Some(math), Bytes(cached), Bytes(query_and_output + new_kv), gpu)
    }

    fn format(&self) -> Dtype {
        self.kv
    }

    fn shape(&self) -> String {
        let window = self.window.map_or(String::new(), |keys| format!(", window {keys}"));
        let sequences = lengths(&self.sequences);
        format!("{sequences}, {}/{} heads × {}{window}", self.heads, self.kv_heads, self.head_dim)
    }

    fn family(&self) -> Option<Family> {
        Some(self.phase.choose(Family::AttentionPrefill, Family::AttentionDecode))
    }

    fn served<'a>(&self, engine: &'a Engine, launch: Launch<'a>) -> Option<Launch<'a>> {
        let choice = engine.kernels_on(launch.gpu.arch)?;
        let named = self.phase.choose(&choice.attention_prefill, &choice.attention_decode);
        let wanted = named.id().map(|kernel| kernel.math(self.kv, self.phase == Phase::Prefill));
        let math = wanted.map_or(Dtype::Bf16, |wanted| launch.gpu.math_or_bf16(wanted));
        Some(Launch { math, ..launch.with(named) })
    }

    fn vector(&self, launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
        if launch.gpu.arch == Arch::Xe2 { Ok(None) } else { vector::of(self, launch) }
    }

    fn without_cache(&self, launch: &Launch<'_>) -> Result<Option<(Op, Seconds)>, MissingFigure> {
        let splits = matches!(
            launch.kernel,
            Some(KernelId::Attention(AttentionKernel::Fa3 | AttentionKernel::VllmFa3))
        );
        if !splits || self.phase == Phase::Decode || self.sequences.iter().all(|group| group.past == 0) {
            return Ok(None);
        }
        cached::without_cache(self, launch.gpu).map(|(alone, added)| Some((alone.into(), added)))
    }

    fn closed_form(&self, gpu: &Gpu, _: &Engine) -> Result<Option<Seconds>, MissingFigure> {
        if gpu.arch == Arch::Xe2 { closed::time(self, gpu).map(Some) } else { Ok(None) }
    }

    fn point(&self) -> CallPoint {
        let others = self.sequences.iter().skip(1).map(|group| group.count * (group.past + group.new)).sum();
        let [count, new, past, _] = first_group(&self.sequences);
        CallPoint {
            shape: [self.heads, self.kv_heads, self.head_dim, 0],
            size: [count, new, past, self.window.unwrap_or(others)],
        }
    }

    fn formats(&self, dtype: Dtype) -> String {
        format!("{} over {}", dtype.id(), self.kv.id())
    }
}

/// Query-key pairs under the causal mask for `new` tokens after `past`: each new token sees the past, earlier new
/// tokens and itself, at most `window` of them.
pub fn causal_pairs(new: u64, past: u64, window: Option<u64>) -> f64 {
    let triangle = |new: u64| {
        let (new, past) = (new as f64, past as f64);
        new * past + new * (new + 1.0) / 2.0
    };
    match window {
        None => triangle(new),
        Some(window) => {
            // Tokens whose window is not yet full.
            let growing = window.saturating_sub(past).min(new);
            triangle(growing) + (new - growing) as f64 * window as f64
        }
    }
}

/// Cached tokens visible to any new token: all of `past`, or what the first new token's window reaches.
pub fn visible_past(past: u64, window: Option<u64>) -> u64 {
    window.map_or(past, |window| past.min(window.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    #[test]
    fn pairs_by_hand() {
        for (new, past, window, pairs) in [
            // 3 tokens: 1 + 2 + 3; after 10: 3 * 10 more.
            (3, 0, None, 6.0),
            (3, 10, None, 36.0),
            (1, 99, None, 100.0),
            // A window of 2: 1 + 2 + 2 + 2; after 10: 2 each; a window that holds all changes nothing.
            (4, 0, Some(2), 7.0),
            (4, 10, Some(2), 8.0),
            (3, 10, Some(13), 36.0),
            (1, 99, Some(1), 1.0),
            (1, 9, Some(u64::MAX), 10.0),
        ] {
            assert_eq!(causal_pairs(new, past, window), pairs, "{new} {past} {window:?}");
        }
    }

    #[test]
    fn pairs_in_a_window_agree_with_brute_force() {
        for (new, past, window) in [(7, 0, 3), (5, 2, 3), (7, 2, 5), (7, 9, 5), (1, 4, 5), (9, 3, 100)] {
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
            call.count(gpu).expect("complete record").stored.0
        };
        // Keys and values of 2 heads, 64 wide, 2 bytes each: 512 bytes a token, of two sequences.
        assert_eq!(cached(1000, None), 1_024_000.0);
        assert_eq!(cached(1000, Some(128)), 127.0 * 1024.0);
        assert_eq!(cached(100, Some(128)), 102_400.0);
    }
}
