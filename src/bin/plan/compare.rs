//! Compares the plan found by a search with the optimum.

use std::time::{Duration, Instant};

use rooflight::find::{Answer, Plan, Request, Search};
use rooflight::units::fixed;

use super::Failed;

/// How much dearer than the optimum a plan may be.
const NEAR: f64 = 0.02;

/// One request, answered with and without bounds.
pub struct Compared {
    found: (Answer, Duration),
    best: (Answer, Duration),
}

impl Compared {
    /// `search` runs a search to its end.
    pub fn of(request: &Request, search: impl Fn(Search) -> Result<Answer, Failed>) -> Result<Self, Failed> {
        let timed = |one: Search| -> Result<(Answer, Duration), Failed> {
            let begin = Instant::now();
            Ok((search(one)?, begin.elapsed()))
        };
        Ok(Self {
            found: timed(Search::new(request.clone()))?,
            best: timed(Search::exhaustive(request.clone()))?,
        })
    }

    /// How much dearer the plan found is, relative to the optimum: infinite if only one has a plan.
    fn dearer(&self) -> f64 {
        match (self.found.0.plans.first(), self.best.0.plans.first()) {
            (Some(found), Some(best)) => cost(found) / cost(best) - 1.0,
            (None, None) => 0.0,
            _ => f64::INFINITY,
        }
    }

    pub fn is_near(&self) -> bool {
        self.dearer() <= NEAR
    }

    /// `0.0 % dearer, 12.3 times as fast: ...`.
    pub fn line(&self) -> String {
        let name = |answer: &Answer| answer.plans.first().map_or("no plan", |plan| &plan.name).to_owned();
        let ((found, fast), (best, slow)) = (&self.found, &self.best);
        format!(
            "{} % dearer; {} of {} layouts and {} runs in {:.0} ms, not {} and {} in {:.0} ms; {} / {}",
            fixed(self.dearer() * 100.0, 1),
            found.counts.simulated,
            found.counts.layouts,
            found.counts.runs,
            fast.as_secs_f64() * 1e3,
            best.counts.simulated,
            best.counts.runs,
            slow.as_secs_f64() * 1e3,
            name(found),
            name(best),
        )
    }
}

fn cost(plan: &Plan) -> f64 {
    plan.dollars_per_hour.unwrap_or_else(|| f64::from(plan.gpus))
}
