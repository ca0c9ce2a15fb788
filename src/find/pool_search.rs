//! Numbers of prefill and decode workers to try if no broken limit indicates which workers to add.

use std::collections::BTreeSet;

use super::pair::{PoolPair, Workers};
use super::plan::meets_limits;
use super::ranking_cost::RankingCost;
use crate::serving::run::Run;

/// Most workers of either kind that a search without bounds tries for a job.
pub(super) const MOST_OF_JOB: u32 = 8;
/// Runs of a job around the best-matching workers.
const CLIMBED: u32 = 24;

/// A search over numbers of workers.
#[derive(Debug, Clone)]
pub(super) struct PoolSearch {
    direction: SearchDirection,
    open: Vec<Workers>,
    seen: BTreeSet<Workers>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchDirection {
    /// From the fewest on, the cheapest first, until some meet the limits.
    Rising,
    /// For a job: to the neighbours that do it at less cost.
    Climbing,
    /// All numbers that it starts with, and no others.
    Given,
}

impl PoolSearch {
    /// Starts with those of `begin` that the fleet allows.
    pub fn new(
        direction: SearchDirection,
        begin: impl Iterator<Item = Workers>,
        allowed: impl Fn(Workers) -> Option<Workers>,
    ) -> Self {
        let mut search = Self { direction, open: Vec::new(), seen: BTreeSet::new() };
        begin.filter_map(allowed).for_each(|workers| search.open(workers));
        search
    }

    fn open(&mut self, workers: Workers) {
        if self.seen.insert(workers) {
            self.open.push(workers);
        }
    }

    /// The cheapest open numbers of workers.
    pub fn next(&self, ranking_cost: impl Fn(Workers) -> RankingCost) -> Option<Workers> {
        self.open.iter().copied().min_by(|one, other| ranking_cost(*one).order(ranking_cost(*other)))
    }

    /// Takes a run into account: whether it meets the limits, and whether it is the best that does. Returns the
    /// neighbours to open.
    fn take(&mut self, [first, then]: Workers, [meets_limits, better]: [bool; 2]) -> Vec<Workers> {
        self.open.retain(|known| *known != [first, then]);
        match self.direction {
            SearchDirection::Rising if meets_limits => self.open.clear(),
            SearchDirection::Rising => return vec![[first + 1, then], [first, then + 1]],
            SearchDirection::Climbing if better => {
                self.open.clear();
                return vec![[first + 1, then], [first, then + 1], [first - 1, then], [first, then - 1]];
            }
            SearchDirection::Climbing | SearchDirection::Given => {}
        }
        Vec::new()
    }
}

impl PoolPair {
    /// Takes a run of a search into account. Returns whether it misses the limits while none has met them yet.
    pub(super) fn searched(&mut self, mut search: PoolSearch, workers: Workers, run: &Run) -> bool {
        let meets_limits = meets_limits(run);
        let better =
            |(known, of): &(Workers, Run)| self.rank(workers, run).order(self.rank(*known, of)).is_lt();
        let better = meets_limits && self.kept.as_ref().is_none_or(better);
        for next in search.take(workers, [meets_limits, better]) {
            if next.iter().all(|count| *count > 0)
                && let Some(allowed) = self.allowed(next)
            {
                search.open(allowed);
            }
        }
        if search.direction == SearchDirection::Climbing && self.runs >= CLIMBED {
            search.open.clear();
        }
        if better {
            self.kept = Some((workers, run.clone()));
        }
        self.search = Some(search);
        !meets_limits && self.kept.is_none()
    }
}
