//! Keeps a search's results: plans to show, misses, and the reason for each GPU without a plan.

use std::cmp::Ordering;
use std::sync::Arc;

use super::Search;
use super::plan::{Found, SimulatedPlan};
use super::probe::BoundedLayout;
use super::ranking_cost::{RankedBy, RankingCost};
use super::search::Phase;
use crate::config::Setup;
use crate::serving::run::Runner;
use crate::units::fixed;

/// GPUs whose plans all cost more than this multiple of the best are listed without one.
const FAR: f64 = 10.0;
/// At most this many plans that cost the same as the last one shown are completed beside it: each takes several runs.
const TIES: usize = 4;

/// Why a GPU has no plan.
#[derive(Debug, Clone)]
pub(super) struct Reason {
    /// Progress towards a plan: refused, too large, too slow, simulated, beyond the fleet.
    pub rank: u8,
    /// Distance from a plan: lower is closer.
    pub excess: f64,
    pub text: String,
}

impl Reason {
    /// Closer reasons compare greater.
    pub fn order(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank).then(other.excess.total_cmp(&self.excess))
    }
}

impl Search {
    pub(super) fn ranked_by(&self) -> RankedBy {
        RankedBy::of(&self.request.base.workload)
    }

    /// Whether a plan of this layout no better than `ranking_cost` would not be shown. Ties with the last plan shown are
    /// kept, so the answer does not depend on the order of discovery.
    pub(super) fn is_outdone(&self, setup: &Setup, ranking_cost: RankingCost) -> bool {
        let better = |found: &Arc<Found>| found.rank().order(ranking_cost).is_lt();
        // For the cheapest plan alone. Closed forms are not used here, and the cost of a job has no other bound.
        if self.exhaustive && self.ranked_by().is_of_job() {
            return false;
        }
        if self.exhaustive || self.phase == Phase::BeyondFleet {
            return self.found.first().is_some_and(|(found, _)| better(found));
        }
        let of_all = self.found.get(self.request.plans - 1).is_some_and(|(found, _)| better(found));
        let of_gpu = self.found.iter().any(|(found, _)| found.setup.gpu.id == setup.gpu.id && better(found));
        self.is_far(ranking_cost) || (of_all && of_gpu)
    }

    /// Whether it costs (or, without a price, needs GPUs) many times as much as the best.
    fn is_far(&self, ranking_cost: RankingCost) -> bool {
        self.found.first().is_some_and(|(best, _)| match (ranking_cost, best.rank()) {
            (RankingCost::Dollars(cost), RankingCost::Dollars(least)) => cost > FAR * least,
            (RankingCost::Gpus(gpus), _) => RankingCost::Gpus(gpus / FAR).order(best.rank_by_gpus()).is_gt(),
            (RankingCost::Dollars(_), RankingCost::Gpus(_)) => false,
        })
    }

    /// Which of these plans, best first, to show: the best overall, then the best of each other GPU.
    pub(super) fn shown<'a>(&self, plans: impl Iterator<Item = &'a Found>) -> Vec<usize> {
        let mut known: Vec<(&str, bool)> = Vec::new();
        let mut shown = Vec::new();
        for (index, found) in plans.enumerate() {
            let of = (found.setup.gpu.id.as_str(), found.is_disaggregated());
            // Only the best of all pools.
            let is_known = known.iter().any(|known| if of.1 { known.1 } else { *known == of });
            if index < self.request.plans || !is_known {
                shown.push(index);
            }
            known.push(of);
        }
        shown
    }

    /// The plans that may be shown. Several may cost the same as the last of the best: the surest of them is shown, and chances are
    /// known only at the end.
    pub(super) fn candidates(&self) -> Vec<usize> {
        let mut candidates = self.shown(self.found.iter().map(|(found, _)| &**found));
        let Some(&last) = candidates.get(..self.request.plans).and_then(<[usize]>::last) else {
            return candidates;
        };
        let (last, _) = &self.found[last];
        let others = self.found.iter().enumerate().filter(|(index, _)| !candidates.contains(index));
        let ties = others.filter(|(_, (found, _))| found.order_by_cost(last).is_eq());
        let ties: Vec<usize> = ties.map(|(index, _)| index).take(TIES).collect();
        candidates.extend(ties);
        candidates
    }

    /// Records why a GPU has no plan when this layout cannot beat those found.
    pub(super) fn pruned(&mut self, layout: &BoundedLayout, ranking_cost: RankingCost) {
        // If it is beyond the fleet, the fleet is the reason.
        if self.phase != Phase::BeyondFleet && self.is_far(ranking_cost) {
            let name = layout.name(&self.request);
            let of = if let RankingCost::Gpus(_) = ranking_cost { "GPUs" } else { "cost" };
            let text = format!("{name}: more than {} times the {of} of the best plan", fixed(FAR, 0));
            self.reason(&layout.setup.gpu.id, 4, 0.0, text);
        }
    }

    /// Adds a plan.
    pub(super) fn keep(&mut self, found: Found, runner: Arc<Runner>) {
        self.tried.push(SimulatedPlan::of(&found));
        let at = self.found.partition_point(|(known, _)| known.order(&found).is_le());
        self.found.insert(at, (Arc::new(found), runner));
        self.forget();
    }

    /// Drops plans that can no longer be shown.
    fn forget(&mut self) {
        let candidates = self.candidates();
        let mut index = 0;
        self.found.retain(|_| {
            index += 1;
            candidates.contains(&(index - 1))
        });
    }

    pub(super) fn reason(&mut self, gpu: &str, rank: u8, excess: f64, text: String) {
        let reason = Reason { rank, excess, text };
        if self.reasons.get(gpu).is_none_or(|known| reason.order(known).is_gt()) {
            self.reasons.insert(gpu.to_owned(), reason);
        }
    }
}
