//! Units of work, independent of the search: checking and bounding some layouts, one slice of a probe, one run at a
//! higher load.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::bound::{Bound, lacks};
use super::headroom::Headroom;
use super::pair::PoolPair;
use super::plan::{BrokenLimit, Found, meets_limits};
use super::pools::PoolLayout;
use super::probe::{BoundedLayout, Probe, Slice};
use super::{Request, words};
use crate::calibration::KnownRun;
use crate::config::catalog::catalog;
use crate::config::check::least_budget;
use crate::config::{Field, Issue, Scenario, Setup, check};
use crate::efficiency::AskModels;
use crate::serving::run::{Bands, OwnRuns, Runner};
use crate::units::count;

/// A unit of work.
#[derive(Debug)]
pub struct Task(pub(super) Job);

#[derive(Debug)]
pub(super) enum Job {
    Screen(Arc<Request>, Vec<Scenario>, bool),
    Refine(Vec<BoundedLayout>),
    Observe(Arc<Request>),
    Probe(Box<Probe>),
    Estimate(Vec<PoolLayout>, bool),
    Pair(Box<PoolPair>),
    Headroom(Box<Loaded>),
}

/// The result of a task.
#[derive(Debug)]
pub struct Done(pub(super) TaskOutcome);

#[derive(Debug)]
pub(super) enum TaskOutcome {
    Screened(Vec<Screened>),
    Refined(Vec<BoundedLayout>),
    Observed(Arc<[KnownRun]>, Vec<Issue>),
    Probed(Box<Probe>, Slice),
    Estimated(Vec<PoolLayout>),
    Paired(Box<PoolPair>, Slice),
    Headroom(Box<Loaded>, ControlFlow<Option<(f64, bool)>>),
}

/// A plan whose headroom is being searched for.
#[derive(Debug)]
pub(super) struct Loaded {
    pub found: Arc<Found>,
    pub runner: Arc<Runner>,
    pub headroom: Headroom,
    pub bands: Option<Bands>,
    /// What breaks with one replica fewer.
    pub one_less: Option<BrokenLimit>,
}

impl Loaded {
    /// Adds what plans show besides headroom.
    fn complete(&mut self) {
        let Found { replicas, setup, run, .. } = &*self.found;
        self.bands = self.runner.bands(*replicas, setup.workload.load, run.start);
        let load = setup.workload.load;
        // An overloaded run of the search ended before its queue showed how much can be served.
        let is_known = self.one_less.as_ref().is_some_and(|broken| broken.field != load.size());
        let fewer = replicas.checked_sub(1).filter(|&fewer| fewer > 0 && !is_known);
        let served = |fewer: u32| match &setup.prefill {
            None => self.runner.shown_trial(fewer, load).ok(),
            // Pools are simulated as a whole.
            Some(pool) => {
                let mut runner = Runner::clone(&self.runner);
                runner.resize([pool.setup.replicas, fewer]).ok()?;
                runner.shown_trial(fewer, load).ok()
            }
        };
        if let Some(run) = fewer.and_then(served) {
            let broken = words::broken(&run, load);
            let broken = if run.saturation.is_some() { words::overloaded(broken) } else { broken };
            self.one_less = (!meets_limits(&run)).then_some(broken);
        }
    }
}

/// A checked and bounded scenario.
#[derive(Debug)]
pub(super) enum Screened {
    Refused { gpu: String, issue: Option<Issue> },
    TooLarge { gpu: String, lacks: f64, text: String },
    TooSlow { layout: Box<BoundedLayout>, excess: f64, text: String },
    BeyondFleet(Box<BoundedLayout>),
    Open(Box<BoundedLayout>),
}

impl Task {
    /// Runs it. `ask` runs the models.
    ///
    /// # Errors
    /// Errors of `ask`.
    pub fn run(self, ask: AskModels<'_>) -> Result<Done, String> {
        Ok(Done(match self.0 {
            Job::Screen(request, scenarios, exhaustive) => {
                let one = |scenario| screened(&request, scenario, exhaustive);
                TaskOutcome::Screened(scenarios.into_iter().map(one).collect())
            }
            Job::Refine(mut layouts) => {
                for layout in &mut layouts {
                    layout.refine(ask)?;
                }
                TaskOutcome::Refined(layouts)
            }
            Job::Observe(request) => {
                let (own, issues) = OwnRuns::default().of(&request.runs, ask)?;
                TaskOutcome::Observed(own, issues)
            }
            Job::Probe(mut probe) => {
                let slice = probe.step(ask)?;
                TaskOutcome::Probed(probe, slice)
            }
            Job::Estimate(mut halves, exhaustive) => {
                for half in &mut halves {
                    half.estimate(exhaustive, ask)?;
                }
                TaskOutcome::Estimated(halves)
            }
            Job::Pair(mut pair) => {
                let slice = pair.step(ask)?;
                TaskOutcome::Paired(pair, slice)
            }
            Job::Headroom(mut loaded) => {
                let known = loaded.headroom.step(&loaded.found, &loaded.runner);
                if known.is_break() {
                    loaded.complete();
                }
                TaskOutcome::Headroom(loaded, known)
            }
        }))
    }
}

/// Checks `scenario`, with a larger token budget if the engine's default leaves no room for whole prompts.
fn with_room(mut scenario: Scenario) -> (Scenario, Option<Setup>, Vec<Issue>) {
    let (setup, issues) = check(&scenario, catalog());
    let is_short = scenario.overrides.token_budget.is_none()
        && issues.iter().any(|issue| issue.field == Field::TokenBudget);
    let Some(budget) = is_short.then(|| least_budget(&scenario, catalog())).flatten() else {
        return (scenario, setup, issues);
    };
    scenario.overrides.token_budget = Some(budget);
    let (setup, mut issues) = check(&scenario, catalog());
    let text = format!(
        "token budget raised to {} tokens: the default leaves no room for whole prompts",
        count(f64::from(budget))
    );
    issues.push(Issue::note(Field::TokenBudget, text));
    (scenario, setup, issues)
}

fn screened(request: &Request, scenario: Scenario, exhaustive: bool) -> Screened {
    let gpu = scenario.gpu.clone();
    let (scenario, setup, issues) = with_room(scenario);
    let error = |issues: Vec<Issue>| issues.into_iter().find(Issue::is_error);
    let Some(setup) = setup else { return Screened::Refused { gpu, issue: error(issues) } };
    let bounded = lacks(&setup).and_then(|lacks| Ok((lacks, Bound::of(&setup)?)));
    let (lacks, bound) = match bounded {
        Ok(bounded) => bounded,
        Err(issues) => return Screened::Refused { gpu, issue: error(issues) },
    };
    if let Some(lacks) = lacks {
        let name = words::name(request, &scenario, &setup, 1);
        let mut text = format!("does not fit: {name} lacks {} on each GPU", lacks.print());
        if request.stays_within(&setup) {
            text += ". Pipelines over several nodes were not tried, since network communication was not measured: \
                     name both TP and PP to try them";
        }
        return Screened::TooLarge { gpu, lacks: lacks.0, text };
    }
    let allowed = request.fleet.replicas(&setup);
    let (mut least, mut most) = (bound.replicas(&setup), allowed);
    if exhaustive {
        least = 1;
    }
    if request.gpus.is_some() {
        (least, most) = (setup.replicas, setup.replicas);
    }
    let broken = bound.broken(&setup);
    let layout = Box::new(BoundedLayout {
        scenario,
        setup,
        issues,
        bound,
        least,
        most,
        begin: None,
        is_refined: false,
    });
    let affordable = allowed >= least.max(1);
    match broken.filter(|_| !exhaustive) {
        Some((metric, at, limit)) => {
            Screened::TooSlow { layout, excess: at / limit, text: words::ideal(metric, at, limit) }
        }
        // No batch size meets the limits.
        None if !exhaustive && bound.per_request.is_infinite() => {
            let text = "no batch size meets the TPOT limit, even with every kernel at its ideal".to_owned();
            Screened::TooSlow { layout, excess: 1.0, text }
        }
        None if !affordable => Screened::BeyondFleet(layout),
        None => Screened::Open(layout),
    }
}
