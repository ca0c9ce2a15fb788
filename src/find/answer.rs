//! The result of a search so far.

use serde::Serialize;

use super::plan::{BrokenLimit, DeploymentPlan, Found};
use super::ranking_cost::{RankedBy, RankingCost};
use super::{Search, words};
use crate::config::link::{Link, MOST_RUNS};
use crate::config::{Field, Issue, Scenario, Setup};
use crate::units::{Dollars, Order, counted, fixed};

/// Ranked plans, and what is known about the rest.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "PlanAnswer"))]
pub struct Answer {
    /// The best plans overall, then the best of each other GPU, ranked. Plans without a known price come last, by
    /// number of GPUs.
    pub plans: Vec<DeploymentPlan>,
    pub ranked_by: RankedBy,
    /// The closest plan, if none in the fleet meets the limits.
    pub nearest: Option<Nearest>,
    /// GPUs without a plan, with the reason.
    pub others: Vec<Other>,
    /// Where disaggregated serving was asked for: whether it pays, and if not, why.
    pub pools: Option<String>,
    pub counts: Counts,
    /// Problems with the request, and notes on all plans.
    pub issues: Vec<Issue>,
    /// Nothing is left to try.
    pub finished: bool,
}

/// The plan that misses by least.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "NearestPlan"))]
pub struct Nearest {
    pub plan: DeploymentPlan,
    /// The limit it misses; none if it meets all limits but exceeds the fleet.
    pub broken: Option<BrokenLimit>,
    /// What it misses and by how much, in a sentence.
    pub text: String,
}

/// A GPU without a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "WithoutPlan"))]
pub struct Other {
    pub gpu: String,
    pub reason: String,
}

/// How many layouts there are, and their outcomes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "PlanCounts"))]
pub struct Counts {
    /// Layouts the request allows, not counting replicas.
    pub layouts: u32,
    /// Layouts still to be checked or simulated.
    pub remaining: u32,
    /// Refused by the checks: heads that do not divide, formats without kernels.
    pub refused: u32,
    pub too_large: u32,
    /// Even ideal kernels miss the limits.
    pub too_slow: u32,
    /// Even the fewest replicas exceed the fleet.
    pub beyond_fleet: u32,
    /// Pruned: no number of replicas can beat the plans found.
    pub pruned: u32,
    /// Step times were predicted and loads simulated.
    pub simulated: u32,
    /// Simulated loads in all.
    pub runs: u32,
}

impl Search {
    /// The current state of the answer.
    pub fn answer(&self) -> Answer {
        let within = self.is_within_fleet();
        let mut found: Vec<&Found> = self.found.iter().map(|(found, _)| &**found).collect();
        // Chances are known only at the end: at equal cost, the surer plan comes first.
        found.order_by(|one, other| one.order_by_cost(other).then(other.tenths().cmp(&one.tenths())));
        let shown = self.shown(found.iter().copied());
        let shown: Vec<&Found> = shown.into_iter().map(|index| found[index]).collect();
        let plan = |(index, found): (usize, &&Found)| {
            let drawback = shown.first().filter(|_| index > 0).map(|first| words::drawback(found, first));
            self.as_shown(found, drawback)
        };
        let plans: Vec<DeploymentPlan> =
            if within { shown.iter().enumerate().map(plan).collect() } else { Vec::new() };
        let finished = self.is_finished() && !self.is_stopped();
        let nearest = if plans.is_empty() && finished { self.nearest() } else { None };
        // If a plan beyond the fleet was simulated, it says more about its GPU than a lower bound would.
        let beyond = nearest.iter().filter(|nearest| nearest.broken.is_none()).map(|nearest| &nearest.plan);
        let known: Vec<&str> = plans.iter().chain(beyond).map(|plan| plan.gpu.as_str()).collect();
        let others = self.reasons.iter().filter(|(gpu, _)| !known.contains(&gpu.as_str()));
        let others =
            others.map(|(gpu, reason)| Other { gpu: gpu.clone(), reason: reason.text.clone() }).collect();
        let mut issues = self.of_runs.clone();
        issues.extend(self.not_tried());
        if finished && plans.is_empty() {
            issues.push(self.nothing(nearest.as_ref()));
        }
        let pools = self.of_pools();
        Answer {
            plans,
            ranked_by: self.ranked_by(),
            nearest,
            others,
            pools,
            counts: self.counts(),
            issues,
            finished,
        }
    }

    /// Whether the plans found are within the fleet, rather than the closest ones outside it.
    pub(super) fn is_within_fleet(&self) -> bool {
        let fleet = &self.request.fleet;
        let allowed =
            |found: &Found| found.is_disaggregated() || found.replicas <= fleet.replicas(&found.setup);
        self.found.first().is_none_or(|(found, _)| allowed(found))
    }

    fn nearest(&self) -> Option<Nearest> {
        if let Some((found, _)) = self.found.first() {
            let text = self.beyond(found).1;
            return Some(Nearest { plan: self.as_shown(found, None), broken: None, text });
        }
        let (found, broken) = self.missed.as_ref()?;
        let name = found.name(&self.request);
        let lacks = self.request.fleet.short_of(&Setup { replicas: found.replicas, ..found.setup.clone() });
        let lacks = lacks.map_or_else(String::new, |lacks| format!(" ({lacks})"));
        let text = format!("nothing meets the limits; the closest is {name}{lacks}: {}", broken.text);
        Some(Nearest { plan: self.as_shown(found, None), broken: Some(broken.clone()), text })
    }

    /// By how much a plan that meets the limits exceeds the fleet, and the input that says so.
    fn beyond(&self, found: &Found) -> (Field, String) {
        let name = found.name(&self.request);
        let gpus = found.gpus();
        let fleet = &self.request.fleet;
        let mut over = Vec::new();
        if let (RankingCost::Dollars(cost), Some(most)) = (found.ranking_cost(), fleet.dollars)
            && cost > most
        {
            let (cost, times) = (Dollars(cost).print(), fixed(cost / most, 2));
            over.push((Field::BudgetDollars, format!("costs {cost} per hour, {times} times the budget")));
        }
        let owned = fleet.owned(&found.setup.gpu.id).map(|most| (most, Field::Owned));
        let most = owned.into_iter().chain(fleet.gpus.map(|most| (most, Field::BudgetGpus)));
        if let Some((most, field)) = most.min_by_key(|(most, _)| *most).filter(|(most, _)| gpus > *most) {
            let available = match most {
                0 => "none is".into(),
                1 => "only 1 is".into(),
                most => format!("only {most} are"),
            };
            over.push((field, format!("needs {}, and {available} available", counted(gpus, "GPU"))));
        }
        if over.is_empty() {
            let text = format!("needs {}, whose price is not known", counted(gpus, "GPU"));
            over.push((Field::BudgetDollars, text));
        }
        let (fields, texts): (Vec<Field>, Vec<String>) = over.into_iter().unzip();
        let within = if fleet.owned.is_empty() { "within the budget" } else { "in the fleet" };
        let over = texts.join(", and it ");
        let text =
            format!("nothing {within} meets the limits; the nearest plan that does is {name}: it {over}");
        (fields[0], text)
    }

    fn as_shown(&self, found: &Found, drawback: Option<String>) -> DeploymentPlan {
        let plan = found.plan(found.name(&self.request), drawback);
        let listed = &found.setup.gpu.dollars_per_hour;
        let price_from = match (self.request.fleet.prices.get(&plan.gpu), found.scenario.overrides.price) {
            (Some(price), _) => Some(price.from(&plan.gpu)),
            (None, Some(_)) => Some("given".into()),
            (None, None) => listed.0.map(|_| format!("on demand: {}", listed.1)),
        };
        let runs: Vec<Scenario> = self.request.runs.iter().rev().take(MOST_RUNS).rev().cloned().collect();
        // Opened from its link, it is calibrated on the same runs.
        let link = Link { runs, ..Link::new(found.scenario()) }.encode();
        let spare_lacks = self.request.fleet.short_of(&found.with_spare());
        DeploymentPlan { price_from, spare_lacks, link, ..plan }
    }

    /// Explains why there is no plan.
    fn nothing(&self, nearest: Option<&Nearest>) -> Issue {
        let counts = self.counts;
        let field = match nearest.map(|nearest| nearest.broken.as_ref().map(|broken| broken.field)) {
            Some(Some(field)) => field,
            Some(None) => self.found.first().map_or(Field::Vary, |(found, _)| self.beyond(found).0),
            None if counts.too_large > 0 => Field::Gpu,
            None => Field::Vary,
        };
        let text = match nearest {
            Some(nearest) => nearest.text.clone(),
            None if counts.layouts == 0 => {
                "no layout is left to try: allow more GPUs, TP, PP, DP or EP".into()
            }
            None => {
                let known = self.reasons.values().max_by(|a, b| a.order(b));
                let known = known.map_or(String::new(), |reason| format!("; closest: {}", reason.text));
                format!("none of {} can serve this load{known}", counted(counts.layouts, "layout"))
            }
        };
        Issue::error(field, text)
    }
}
