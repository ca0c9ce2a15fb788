//! Shows a plan early: a few layouts are simulated before the most promising ones are known.

use std::collections::VecDeque;

use super::Search;
use super::probe::BoundedLayout;
use super::search::{REFINED, SCREENED};
use crate::config::Scenario;
use crate::units::Order;

/// Layouts simulated before all more promising ones have been estimated, so that a plan can be shown soon.
const EARLY: u32 = 3;
/// Layouts bounded in a long search before the first early layout is chosen.
const GLANCE: usize = 6 * SCREENED;
/// Estimates among which the first early layout is the best, unless one is better than all other bounds.
const COMPARED: usize = 3 * REFINED;

/// The layouts, those of a long search reordered so that the first cover many GPUs, formats and degrees.
pub(super) fn spread(layouts: Vec<Scenario>) -> VecDeque<Scenario> {
    if layouts.len() <= 2 * GLANCE {
        return layouts.into();
    }
    let mut numbered: Vec<(u32, Scenario)> = (0..).zip(layouts).collect();
    // Multiples of the golden ratio do not align with any of the nested choices.
    numbered.order_by_key(|(index, _)| index.wrapping_mul(0x9E37_79B9));
    numbered.into_iter().map(|(_, layout)| layout).collect()
}

impl Search {
    /// Whether to simulate one of the layouts bounded so far before bounding the rest, because there is nothing to show yet.
    pub(super) fn is_early(&self) -> bool {
        let bounded = self.counts.layouts as usize - self.scenarios.len();
        let first = self.counts.simulated == 0 && !self.layouts.is_empty();
        let is_long = self.scenarios.len() > GLANCE && bounded >= GLANCE;
        is_long && !self.exhaustive && self.found.is_empty() && (first || !self.probes.is_empty())
    }

    /// The best layout estimated so far, while there is nothing to show.
    pub(super) fn early(&mut self) -> Option<Box<BoundedLayout>> {
        if !self.found.is_empty() || self.counts.simulated >= EARLY {
            return None;
        }
        let refined = self.layouts.iter().filter(|layout| layout.is_refined).count();
        if self.is_early() && refined < COMPARED {
            return None;
        }
        let best = self.layouts.iter().rposition(|layout| layout.is_refined)?;
        self.layouts.remove(best)
    }
}
