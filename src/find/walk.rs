//! The numbers of prefill and decode workers that are tried where those that a limit waits for do not lead the way.

use std::collections::BTreeSet;

use super::pair::{Pair, Workers};
use super::plan::keeps;
use super::worth::Worth;
use crate::serving::run::Run;

/// Most workers of either kind with which a search without bounds tries a job.
pub(super) const MOST_OF_JOB: u32 = 8;
/// Runs of a job around the workers that match best.
const CLIMBED: u32 = 24;

/// A walk over numbers of workers.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    way: Way,
    open: Vec<Workers>,
    seen: BTreeSet<Workers>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// From the fewest on, the cheapest first, until some keep to the limits.
    Rising,
    /// Of a job, to the neighbours that do it at less cost.
    Climbing,
    /// All of those that it begins with.
    Given,
}

impl Walk {
    /// Those that the fleet allows of `begin`.
    pub fn new(
        way: Way,
        begin: impl Iterator<Item = Workers>,
        allowed: impl Fn(Workers) -> Option<Workers>,
    ) -> Self {
        let mut walk = Self { way, open: Vec::new(), seen: BTreeSet::new() };
        begin.filter_map(allowed).for_each(|workers| walk.open(workers));
        walk
    }

    fn open(&mut self, workers: Workers) {
        if self.seen.insert(workers) {
            self.open.push(workers);
        }
    }

    /// The cheapest that is open.
    pub fn next(&self, worth: impl Fn(Workers) -> Worth) -> Option<Workers> {
        self.open.iter().copied().min_by(|one, other| worth(*one).order(worth(*other)))
    }

    /// Takes in a run: whether it keeps to the limits, and is the best that does.
    fn take(&mut self, [first, then]: Workers, [keeps, better]: [bool; 2]) -> Vec<Workers> {
        self.open.retain(|known| *known != [first, then]);
        match self.way {
            Way::Rising if keeps => self.open.clear(),
            Way::Rising => return vec![[first + 1, then], [first, then + 1]],
            Way::Climbing if better => {
                self.open.clear();
                return vec![[first + 1, then], [first, then + 1], [first - 1, then], [first, then - 1]];
            }
            Way::Climbing | Way::Given => {}
        }
        Vec::new()
    }
}

impl Pair {
    /// Takes in a run of a walk. Whether it misses the limits, and nothing has kept to them.
    pub(super) fn walked(&mut self, mut walk: Walk, workers: Workers, run: &Run) -> bool {
        let keeps = keeps(run);
        let better =
            |(known, of): &(Workers, Run)| self.rank(workers, run).order(self.rank(*known, of)).is_lt();
        let better = keeps && self.kept.as_ref().is_none_or(better);
        for next in walk.take(workers, [keeps, better]) {
            if next.iter().all(|count| *count > 0)
                && let Some(allowed) = self.allowed(next)
            {
                walk.open(allowed);
            }
        }
        if walk.way == Way::Climbing && self.runs >= CLIMBED {
            walk.open.clear();
        }
        if better {
            self.kept = Some((workers, run.clone()));
        }
        self.walk = Some(walk);
        !keeps && self.kept.is_none()
    }
}
