//! Which compressed keys a query sees.

use super::AttendedSpan;
use crate::kernels::Sequences;
use crate::kernels::attention::causal_pairs;

/// The keys visible to a query: the newest tokens, and the selected compressed entries before them (DeepSeek-V4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reach {
    /// Newest tokens, the query's own included.
    pub window: u64,
    /// Tokens per entry; `None` without entries.
    pub ratio: Option<u64>,
    /// Selected entries; `None` for all.
    pub topk: Option<u64>,
}

impl Reach {
    /// Keys visible to the query at `position`, counted from one: its window, and the complete entries before it,
    /// up to the selected number.
    pub fn keys(&self, position: u64) -> u64 {
        position.min(self.window) + self.entries(position)
    }

    fn entries(&self, position: u64) -> u64 {
        let whole = self.ratio.map_or(0, |ratio| position / ratio.max(1));
        self.topk.map_or(whole, |topk| whole.min(topk))
    }

    /// Totals over the sequences of a call.
    pub fn span(&self, sequences: &[Sequences]) -> AttendedSpan {
        sequences.iter().fold(AttendedSpan::default(), |sum, group| {
            let (count, end) = (group.count as f64, group.past + group.new);
            let compressed = self.ratio.map_or(0.0, |ratio| {
                let kept = self.topk.unwrap_or(u64::MAX);
                whole_entries(end, ratio, kept) - whole_entries(group.past, ratio, kept)
            });
            // The queries of a prompt may together read every entry.
            let stored = self.ratio.map_or(0, |ratio| group.past / ratio.max(1));
            let read = self.topk.map_or(stored, |topk| stored.min(topk.saturating_mul(group.new)));
            let window = group.past.min(self.window.saturating_sub(1));
            AttendedSpan {
                new: sum.new + count * group.new as f64,
                past: sum.past + count * (window + read) as f64,
                pairs: sum.pairs
                    + count * (causal_pairs(group.new, group.past, Some(self.window)) + compressed),
            }
        })
    }
}

/// Sum of `min(kept, floor(j / ratio))` over `j` from 1 to `end`.
pub fn whole_entries(end: u64, ratio: u64, kept: u64) -> f64 {
    let ratio = ratio.max(1);
    let most = kept.saturating_mul(ratio).min(end);
    let (whole, rest) = (most / ratio, most % ratio);
    let (whole, rest) = (whole as f64, rest as f64);
    let below = ratio as f64 * whole * (whole - 1.0) / 2.0 + whole * (rest + 1.0);
    below.max(0.0) + (end - most) as f64 * kept.min(end) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DeepSeek-V4-Pro: a window of 128, 1024 of the entries of 4 tokens each.
    const CHOSEN: Reach = Reach { window: 128, ratio: Some(4), topk: Some(1024) };
    const ALL: Reach = Reach { window: 128, ratio: Some(128), topk: None };

    fn one_by_one(reach: Reach, past: u64, new: u64) -> f64 {
        (past + 1..=past + new).map(|position| reach.keys(position) as f64).sum()
    }

    #[test]
    fn keys_by_hand() {
        assert_eq!(CHOSEN.keys(100), 100 + 25);
        assert_eq!(CHOSEN.keys(2000), 128 + 500);
        assert_eq!(CHOSEN.keys(100_000), 128 + 1024);
        assert_eq!(ALL.keys(100_000), 128 + 781);
        assert_eq!(Reach { ratio: None, topk: None, ..ALL }.keys(100_000), 128);
    }

    #[test]
    fn pairs_are_those_of_each_query() {
        for reach in [CHOSEN, ALL, Reach { ratio: None, topk: None, ..ALL }] {
            for (past, new) in [(0, 1), (0, 131), (127, 5), (4090, 12), (5000, 700), (100_000, 1)] {
                let span = reach.span(&[Sequences { count: 3, new, past }]);
                assert_eq!(span.pairs, 3.0 * one_by_one(reach, past, new), "{reach:?} {past} {new}");
            }
        }
    }

    #[test]
    fn a_single_token_reads_the_keys_it_sees() {
        let span = CHOSEN.span(&[Sequences { count: 1, new: 1, past: 100_000 }]);
        assert_eq!((span.past, span.pairs), (127.0 + 1024.0, 1152.0));
    }
}
