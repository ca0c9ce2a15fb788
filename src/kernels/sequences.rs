//! Sequences of a call.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::config::ids::ids;
use crate::units::count;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Phase {
    #[default]
    Prefill,
    Decode,
}

impl Phase {
    pub fn name(self) -> &'static str {
        self.choose("Prefill", "Decode")
    }

    /// `prefill` or `decode`, by phase.
    pub fn choose<T>(self, prefill: T, decode: T) -> T {
        match self {
            Self::Prefill => prefill,
            Self::Decode => decode,
        }
    }
}

ids!(Phase);

/// `count` sequences, each with `new` tokens in this step and `past` tokens in the KV cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sequences {
    pub count: u64,
    pub new: u64,
    pub past: u64,
}

impl Sequences {
    /// One new token after a cached past: decode. Everything else is prefill.
    pub fn decodes(&self) -> bool {
        self.new == 1 && self.past > 0
    }
}

/// Number of sequences.
pub fn number(sequences: &[Sequences]) -> u64 {
    sequences.iter().map(|group| group.count).sum()
}

/// New tokens of all sequences.
pub fn tokens(sequences: &[Sequences]) -> u64 {
    sequences.iter().map(|group| group.count * group.new).sum()
}

/// Mean lengths in words.
pub(super) fn lengths(sequences: &[Sequences]) -> String {
    let number = number(sequences);
    let past: u64 = sequences.iter().map(|group| group.count * group.past).sum();
    let each = |tokens: u64| count((tokens as f64 / number.max(1) as f64).round());
    let new = each(tokens(sequences));
    match past {
        0 => format!("{number} × {new} tokens"),
        _ => format!("{number} × {new} tokens on {} cached", each(past)),
    }
}

/// The first group, as the size of a measured call.
pub(super) fn first_group(sequences: &[Sequences]) -> [u64; 4] {
    sequences.first().map_or([0; 4], |group| [group.count, group.new, group.past, 0])
}
