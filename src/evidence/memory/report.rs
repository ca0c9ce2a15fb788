//! How far predicted starts are from logged ones.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ComparedStart, Sizes};
use crate::evidence::compared::SkippedCase;
use crate::evidence::errors::{Errors, grouped};
use crate::units::quantile;

/// Predicted room within this many GiB or percent of the logged room counts as correct.
const NEAR_GIB: f64 = 1.0;
const NEAR_PERCENT: f64 = 5.0;

/// Errors of the room for the KV cache.
#[derive(Debug, Clone, Serialize)]
pub struct Room {
    pub cases: usize,
    pub median_abs_gib: f64,
    /// Error relative to the logged room, over rooms above 0; `None` without any.
    pub median_error_percent: Option<f64>,
    pub mean_error_percent: Option<f64>,
    /// Signed mean, in GiB: positive if the predicted room is too large.
    pub bias_gib: f64,
    pub within_1gib_or_5_percent: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    pub right: usize,
    pub of: usize,
    pub wrong: Vec<String>,
    /// Wrongly predicted starts whose prediction warned that it might be wrong.
    pub wrong_near_edge: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct MemoryGroup {
    pub cases: usize,
    pub kv_available_gib: Option<Room>,
    /// Tokens of caches whose layers all keep the same length.
    pub kv_tokens: Option<Errors>,
    /// Tokens of all other caches, if the engine logs how many it derives.
    pub kv_tokens_hybrid: Option<Errors>,
    pub weights: Option<Errors>,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, Serialize)]
pub struct StartReport {
    #[serde(flatten)]
    pub all: MemoryGroup,
    pub skipped: Vec<SkippedCase>,
    /// Logs whose parts cannot all be true; they still count.
    pub contradictions: Vec<SkippedCase>,
    pub without_contradictions: MemoryGroup,
    pub by_engine: BTreeMap<String, MemoryGroup>,
    pub by_model: BTreeMap<String, MemoryGroup>,
}

impl StartReport {
    pub fn of(compared: &[ComparedStart], skipped: Vec<SkippedCase>) -> Self {
        let by = |key: &dyn Fn(&ComparedStart) -> &String| {
            let groups = grouped(compared.iter().map(|one| (key(one).clone(), one)));
            groups.into_iter().map(|(name, group)| (name, MemoryGroup::of(&group))).collect()
        };
        let sound: Vec<_> = compared.iter().filter(|one| one.contradiction.is_none()).collect();
        let contradiction = |one: &ComparedStart| {
            one.contradiction.clone().map(|reason| SkippedCase { id: one.id.clone(), reason })
        };
        Self {
            all: MemoryGroup::of(&compared.iter().collect::<Vec<_>>()),
            skipped,
            contradictions: compared.iter().filter_map(contradiction).collect(),
            without_contradictions: MemoryGroup::of(&sound),
            by_engine: by(&|one| &one.engine),
            by_model: by(&|one| &one.model),
        }
    }
}

impl MemoryGroup {
    fn of(group: &[&ComparedStart]) -> Self {
        let pairs = |of: fn(&Sizes) -> Option<f64>, hybrid: Option<bool>| -> Vec<(f64, f64)> {
            let chosen = group.iter().filter(|one| hybrid.is_none_or(|hybrid| one.hybrid_kv == hybrid));
            chosen.filter_map(|one| of(&one.predicted).zip(of(&one.logged))).collect()
        };
        let wrong: Vec<_> = group.iter().filter(|one| one.predicted.starts != one.logged.starts).collect();
        let ids = |of: &mut dyn Iterator<Item = &&&ComparedStart>| of.map(|one| one.id.clone()).collect();
        Self {
            cases: group.len(),
            kv_available_gib: Room::of(&pairs(|sizes| sizes.available_kv_gib, None)),
            kv_tokens: Errors::of(&pairs(|sizes| sizes.kv_tokens, Some(false))),
            kv_tokens_hybrid: Errors::of(&pairs(|sizes| sizes.kv_tokens, Some(true))),
            weights: Errors::of(&pairs(|sizes| sizes.weights_gib, None)),
            verdict: Verdict {
                right: group.len() - wrong.len(),
                of: group.len(),
                wrong: ids(&mut wrong.iter()),
                wrong_near_edge: ids(&mut wrong.iter().filter(|one| one.near_edge)),
            },
        }
    }
}

impl Room {
    fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let sorted = |errors: Vec<f64>| {
            let mut errors = errors;
            errors.sort_by(f64::total_cmp);
            (!errors.is_empty()).then_some(errors)
        };
        let sizes = sorted(pairs.iter().map(|(said, logged)| (said - logged).abs()).collect())?;
        let positive = pairs.iter().filter(|(_, logged)| *logged > 0.0);
        let shares = sorted(positive.map(|(said, logged)| 100.0 * (said / logged - 1.0).abs()).collect());
        let near = |(said, logged): &&(f64, f64)| {
            (said - logged).abs() <= NEAR_GIB.max(logged.abs() * NEAR_PERCENT / 100.0)
        };
        let count = pairs.len() as f64;
        Some(Self {
            cases: pairs.len(),
            median_abs_gib: quantile(&sizes, 0.5),
            median_error_percent: shares.as_ref().map(|shares| quantile(shares, 0.5)),
            mean_error_percent: shares.map(|shares| shares.iter().sum::<f64>() / shares.len() as f64),
            bias_gib: pairs.iter().map(|(said, logged)| said - logged).sum::<f64>() / count,
            within_1gib_or_5_percent: pairs.iter().filter(near).count() as f64 / count,
        })
    }
}
