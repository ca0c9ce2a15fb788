//! Simulates one layout: its step times once, then runs with different numbers of replicas to find the fewest that
//! meet the limits, and with more load to find the headroom.

use std::sync::Arc;

use super::bound::Bound;
use super::estimate::Estimate;
use super::plan::{BrokenLimit, Found, meets_limits};
use super::ranking_cost::{RankedBy, RankingCost};
use super::words;
use crate::calibration::KnownRun;
use crate::config::{Field, Issue, Scenario, Setup};
use crate::efficiency::{AskModels, UNANSWERED};
use crate::serving::run::{Run, Runner};
use crate::serving::{plan, runner};

/// A layout that passed the checks and fits in memory.
#[derive(Debug, Clone)]
pub struct BoundedLayout {
    pub scenario: Scenario,
    pub setup: Setup,
    /// Warnings of the check.
    pub issues: Vec<Issue>,
    pub bound: Bound,
    /// Minimum replicas for the load, and maximum for the fleet; the requested number if given.
    pub least: u32,
    pub most: u32,
    /// Replicas to start with, if estimated from learned step times.
    pub begin: Option<u32>,
    /// Whether its bound uses learned step times.
    pub is_refined: bool,
}

impl BoundedLayout {
    /// A bound on all of its plans.
    pub fn ranking_cost(&self) -> RankingCost {
        self.ranking_cost_of(self.least)
    }

    /// A bound on its plans with this many replicas. A job costs the same with any number that are always busy.
    pub fn ranking_cost_of(&self, replicas: u32) -> RankingCost {
        let workload = &self.setup.workload;
        match RankedBy::of(workload).is_of_job() {
            true => RankingCost::of(&self.setup, 1).of_job(f64::from(workload.osl) / self.bound.per_request),
            false => RankingCost::of(&self.setup, replicas),
        }
    }

    /// Tightens its bound with some learned step times.
    ///
    /// # Errors
    /// Errors of `ask`.
    pub fn refine(&mut self, ask: AskModels<'_>) -> Result<(), String> {
        self.is_refined = true;
        let Some((estimate, rows)) = Estimate::new(&self.setup) else { return Ok(()) };
        let efficiencies = ask(&rows)?;
        let found = estimate.finish(&self.setup, &efficiencies).ok_or(UNANSWERED)?;
        self.least = self.least.max(found.least);
        self.begin = Some(found.expected);
        Ok(())
    }
}

/// A layout being simulated, one slice at a time.
#[derive(Debug, Clone)]
pub struct Probe {
    pub layout: BoundedLayout,
    /// Calibration points from the visitor's runs.
    own: Arc<[KnownRun]>,
    runner: Option<Runner>,
    /// Largest number of replicas known to miss the limits clearly: fewer miss them too.
    pub low: u32,
    /// Larger ones that just miss them.
    near: Vec<u32>,
    /// The smallest number known to meet them, with its run.
    high: Option<(u32, Run)>,
    /// The last number that missed them, and how.
    missed: Option<(u32, BrokenLimit)>,
    /// The run closest to the limits, with its replicas, if none meets them.
    nearest: Option<((u32, Run), BrokenLimit)>,
    /// Whether a lone request meets the limits, once known.
    pub alone: Option<bool>,
    /// Runs so far, and before the last slice.
    pub runs: u32,
    pub runs_before: u32,
    /// Whether every number of replicas is tried, from the smallest on.
    every: bool,
    /// Whether a lone request is tried first.
    alone_first: bool,
    /// The most replicas with which a plan would still be shown.
    pub most_shown: u32,
}

/// The result of one slice.
#[derive(Debug)]
pub enum Slice {
    /// There is more to do.
    More,
    Found(Box<Found>, Box<Runner>),
    /// No allowed number of replicas meets the limits; holds the closest run, if any.
    Missed(Option<Box<(Found, BrokenLimit)>>),
    /// The layout cannot be planned or served.
    Refused(Issue),
}

/// Initial replicas over the physical minimum: the typical overhead of real step times.
const BEGIN: f64 = 1.3;
/// Growth factor from a failing number of replicas to the next one tried.
const GROWTH: f64 = 1.4;
/// A run this close above its limit does not rule out fewer replicas: how prompts happen to coincide moves a percentile
/// by about as much from one number of clients to the next.
const NEAR: f64 = 1.1;
/// At most this many numbers of replicas count as near misses: each costs a run.
const MOST_NEAR: usize = 6;

impl Probe {
    /// `every`: without skipping any number of replicas.
    pub fn new(layout: BoundedLayout, every: bool, own: Arc<[KnownRun]>) -> Self {
        let low = layout.least.min(layout.most).saturating_sub(1);
        Self {
            layout,
            own,
            runner: None,
            low,
            high: None,
            near: Vec::new(),
            missed: None,
            nearest: None,
            alone: None,
            runs: 0,
            runs_before: 0,
            every,
            alone_first: false,
            most_shown: u32::MAX,
        }
    }

    /// A probe of a layout that may miss the limits even for a lone request, which is tried first.
    pub fn alone(layout: BoundedLayout, own: Arc<[KnownRun]>) -> Self {
        Self { alone_first: true, ..Self::new(layout, false, own) }
    }

    /// The current bound on its plans.
    pub fn ranking_cost(&self) -> RankingCost {
        self.layout.ranking_cost_of(self.low.saturating_add(1))
    }

    /// Runs one slice: the step times, or one run. `ask` runs the models.
    ///
    /// # Errors
    /// If the models fail.
    pub fn step(&mut self, ask: AskModels<'_>) -> Result<Slice, String> {
        self.runs_before = self.runs;
        let Some(known) = &self.runner else {
            return match plan(&self.layout.setup) {
                Err(issues) => Ok(refused(issues)),
                Ok((plan, rows)) => {
                    let efficiencies = ask(&rows)?;
                    let plan = plan.calibrated_on(&self.own);
                    self.runner = Some(runner(&plan, &efficiencies).ok_or(UNANSWERED)?);
                    Ok(Slice::More)
                }
            };
        };
        let Some(replicas) = self.next() else { return Ok(self.end()) };
        let load = self.layout.setup.workload.load;
        self.runs += 1;
        let is_due = self.alone_first || self.missed.is_some();
        if self.alone.is_none() && is_due && self.high.is_none() {
            let mut run = match known.trial(1, load.closed(1)) {
                Ok(run) => run,
                Err(issue) => return Ok(Slice::Refused(issue)),
            };
            self.alone = Some(meets_limits(&run));
            if self.alone == Some(false) {
                // A lower load would not help. The link holds the whole load.
                run.start = known.for_trial(1, load).map_or(run.start, |setup| setup.workload.start);
                let broken = words::broken_alone(&run, load);
                self.nearest = Some(((1, run), broken));
                return Ok(self.end());
            }
            return Ok(Slice::More);
        }
        let run = match known.trial(replicas, load) {
            Ok(run) => run,
            Err(issue) => return Ok(Slice::Refused(issue)),
        };
        if meets_limits(&run) {
            self.high = Some((replicas, run));
        } else {
            let is_near = self.miss(replicas, run) < NEAR && self.near.len() < MOST_NEAR;
            if is_near && !self.every {
                self.near.push(replicas);
            } else {
                self.low = replicas;
            }
        }
        Ok(Slice::More)
    }

    /// The next number of replicas to try; `None` if the smallest is known or none works.
    fn next(&self) -> Option<u32> {
        let most = self.layout.most.min(self.most_shown);
        let missed = self.near.iter().copied().fold(self.low, u32::max);
        match self.high {
            None if missed >= most => self.between(missed),
            None if self.every => Some(self.low + 1),
            None if self.missed.is_none() => {
                let guess = || (f64::from(missed.saturating_add(1)) * BEGIN).ceil() as u32;
                Some(self.layout.begin.unwrap_or_else(guess).clamp(missed + 1, most))
            }
            None => {
                let more = (f64::from(missed) * GROWTH).ceil().max(f64::from(missed) + 1.0);
                Some(more.min(f64::from(most)) as u32)
            }
            Some((high, _)) => self.between(high),
        }
    }

    /// A number between those that clearly miss the limits and `high`, near their middle.
    fn between(&self, high: u32) -> Option<u32> {
        let is_open = |replicas: &u32| !self.near.contains(replicas);
        let least = self.low + 1;
        let middle = least.max(self.low + (high - self.low) / 2);
        (middle..high).find(is_open).or_else(|| (least..middle).rev().find(is_open))
    }

    /// Keeps a run that misses the limits, and returns by how much it does.
    fn miss(&mut self, replicas: u32, run: Run) -> f64 {
        let broken = words::broken(&run, self.layout.setup.workload.load);
        let excess = words::excess(&broken);
        words::keep_nearest(&mut self.nearest, (replicas, run), broken.clone());
        self.missed = Some((replicas, broken));
        excess
    }

    fn end(&mut self) -> Slice {
        if let Some((replicas, run)) = self.high.take() {
            let one_less = self.missed.take().filter(|(missed, _)| missed + 1 == replicas);
            let one_less = one_less.map(|(_, broken)| broken);
            let found = Box::new(self.found(replicas, run, one_less));
            return self.runner.take().map_or(Slice::Missed(None), |of| Slice::Found(found, Box::new(of)));
        }
        let nearest = self.nearest.take();
        let found = |((replicas, run), broken)| Box::new((self.found(replicas, run, None), broken));
        Slice::Missed(nearest.map(found))
    }

    fn found(&self, replicas: u32, run: Run, one_less: Option<BrokenLimit>) -> Found {
        let BoundedLayout { scenario, setup, issues, .. } = self.layout.clone();
        let found = Found {
            scenario,
            setup,
            issues,
            replicas,
            run,
            one_less,
            worker_less: None,
            headroom: None,
            bands: None,
        };
        found.begun()
    }
}

pub(super) fn refused(mut issues: Vec<Issue>) -> Slice {
    Slice::Refused(issues.pop().unwrap_or_else(|| Issue::error(Field::Gpu, "it cannot be planned")))
}
