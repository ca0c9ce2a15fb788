//! Compares the plan found by a search with the optimum.

use std::time::{Duration, Instant};

use rooflight::config::{Field, Issue};
use rooflight::find::{Answer, DeploymentPlan, RankedBy, Request, Search};
use rooflight::units::fixed;

use super::Failed;

/// How much more expensive than the optimum a plan may be.
const NEAR: f64 = 0.02;

/// One request, answered with and without bounds.
pub struct SearchComparison {
    ranked_by: RankedBy,
    found: (Answer, Duration),
    best: (Answer, Duration),
}

impl SearchComparison {
    /// `search` runs a search to its end.
    pub fn of(request: &Request, search: impl Fn(Search) -> Result<Answer, Failed>) -> Result<Self, Failed> {
        let timed = |one: Search| -> Result<(Answer, Duration), Failed> {
            let begin = Instant::now();
            Ok((search(one)?, begin.elapsed()))
        };
        Ok(Self {
            ranked_by: RankedBy::of(&request.base.workload),
            found: timed(Search::new(request.clone()))?,
            best: timed(Search::new(request.clone()).exhaustively())?,
        })
    }

    /// What the search without bounds left out.
    pub fn issues(&self) -> impl Iterator<Item = &Issue> {
        self.best.0.issues.iter().filter(|issue| issue.field == Field::PrefillWorkers)
    }

    /// How much more expensive the plan found is, relative to the optimum: infinite if only one has a plan.
    fn costlier(&self, [found, best]: [Option<&DeploymentPlan>; 2]) -> f64 {
        let cost = |plan| self.ranked_by.rank_of(plan).amount();
        match (found, best) {
            (Some(found), Some(best)) => cost(found) / cost(best) - 1.0,
            (None, None) => 0.0,
            // As far as the search without bounds went, nothing cheaper than the plan found meets the limits.
            (Some(found), None) if found.is_disaggregated() && self.issues().next().is_some() => 0.0,
            _ => f64::INFINITY,
        }
    }

    /// The best plans of both searches: overall, and among disaggregated ones if those were asked for.
    fn bests(&self) -> [[Option<&DeploymentPlan>; 2]; 2] {
        let both = [&self.found.0.plans, &self.best.0.plans];
        [both.map(|plans| plans.first()), both.map(|plans| plans.iter().find(|plan| plan.is_disaggregated()))]
    }

    pub fn is_near(&self) -> bool {
        self.bests().into_iter().all(|best| self.costlier(best) <= NEAR)
    }

    /// `0.0 % more expensive, 12.3 times as fast: ...`.
    pub fn line(&self) -> String {
        let [all, disaggregated] = self.bests();
        let names = |both: [Option<&DeploymentPlan>; 2]| {
            both.map(|plan| plan.map_or("no plan", |plan| &plan.name)).join(" / ")
        };
        let costlier = |both| format!("{} % more expensive", fixed(self.costlier(both) * 100.0, 1));
        let ((found, fast), (best, slow)) = (&self.found, &self.best);
        let pools = found.pools.as_ref().or(best.pools.as_ref());
        let pools = pools.map(|_| {
            format!("; separate prefill and decode {}: {}", costlier(disaggregated), names(disaggregated))
        });
        format!(
            "{}; {} of {} layouts and {} runs in {:.0} ms, not {} and {} in {:.0} ms; {}{}",
            costlier(all),
            found.counts.simulated,
            found.counts.layouts,
            found.counts.runs,
            fast.as_secs_f64() * 1e3,
            best.counts.simulated,
            best.counts.runs,
            slow.as_secs_f64() * 1e3,
            names(all),
            pools.unwrap_or_default(),
        )
    }
}
