//! One layout: its step times once, then runs of more or fewer replicas until the fewest that keep to the limits are
//! known, and of more load until it is known how much they take.

use std::sync::Arc;

use super::bound::Bound;
use super::estimate::Estimate;
use super::plan::{Broken, Found, Worth, keeps};
use super::words;
use crate::calibration::Known;
use crate::config::catalog::constants;
use crate::config::{Field, Issue, Load, Scenario, Setup};
use crate::efficiency::{Efficiencies, Rows};
use crate::serving::run::{Run, Runner};
use crate::serving::{plan, runner};

/// A layout that passed the checks and fits.
#[derive(Debug, Clone)]
pub struct Layout {
    pub scenario: Scenario,
    pub setup: Setup,
    /// Warnings of the check.
    pub issues: Vec<Issue>,
    pub bound: Bound,
    /// Replicas that the load takes at least, and that the fleet allows at most; those asked for where that is given.
    pub least: u32,
    pub most: u32,
    /// Replicas to begin with, where learned step times say.
    pub begin: Option<u32>,
    /// Whether learned step times have bounded it.
    pub is_refined: bool,
}

impl Layout {
    /// What no plan of it can be better than.
    pub fn worth(&self) -> Worth {
        Worth::of(&self.setup, self.least)
    }

    /// Bounds it by some learned step times.
    ///
    /// # Errors
    /// As `ask`.
    pub fn refine<E>(
        &mut self,
        ask: &dyn Fn(&Rows) -> Result<Efficiencies, E>,
        unanswered: &dyn Fn() -> E,
    ) -> Result<(), E> {
        self.is_refined = true;
        let Some(physics) = constants().physics() else { return Ok(()) };
        let Some((estimate, rows)) = Estimate::new(&self.setup, &physics) else { return Ok(()) };
        let efficiencies = ask(&rows)?;
        let found = estimate.finish(&self.setup, &physics, &efficiencies).ok_or_else(unanswered)?;
        self.least = self.least.max(found.least);
        self.begin = Some(found.expected);
        Ok(())
    }
}

/// A layout while it is simulated, one slice after the other.
#[derive(Debug, Clone)]
pub struct Probe {
    pub layout: Layout,
    /// What the visitor's runs say of it.
    own: Arc<[Known]>,
    runner: Option<Runner>,
    /// Replicas that do not keep to the limits, all fewer included.
    pub low: u32,
    /// The fewest that do, with their run.
    high: Option<(u32, Run)>,
    /// What broke with `low` replicas.
    broken: Option<Broken>,
    /// The run that came nearest to the limits, with its replicas, where none keeps to them.
    nearest: Option<(u32, Run, Broken)>,
    /// Whether one request alone keeps to the limits, once that is known.
    pub alone: Option<bool>,
    /// Runs so far, and before the last slice.
    pub runs: u32,
    pub runs_before: u32,
    /// Every number of replicas is tried from the fewest on.
    every: bool,
    /// One request alone is tried before any load.
    alone_first: bool,
}

/// What one slice came to.
#[derive(Debug)]
pub enum Slice {
    /// There is more to do.
    More,
    Found(Box<Found>, Box<Runner>),
    /// No number of replicas that the fleet allows keeps to the limits: the nearest, where a run says so.
    Missed(Option<Box<(Found, Broken)>>),
    /// It cannot be planned or served.
    Refused(Issue),
}

/// Replicas to begin with, over the fewest that physics allows: about what service takes longer than that.
const BEGIN: f64 = 1.3;
/// From replicas that do not do to the next tried.
const GROWTH: f64 = 1.4;

impl Probe {
    /// `every`: without leaving out any number of replicas.
    pub fn new(layout: Layout, every: bool, own: Arc<[Known]>) -> Self {
        let low = layout.least.min(layout.most).saturating_sub(1);
        Self {
            layout,
            own,
            runner: None,
            low,
            high: None,
            broken: None,
            nearest: None,
            alone: None,
            runs: 0,
            runs_before: 0,
            every,
            alone_first: false,
        }
    }

    /// Of a layout that may not even serve one request within the limits: that is tried first.
    pub fn alone(layout: Layout, own: Arc<[Known]>) -> Self {
        Self { alone_first: true, ..Self::new(layout, false, own) }
    }

    /// What no plan of it can be better than, by now.
    pub fn worth(&self) -> Worth {
        Worth::of(&self.layout.setup, self.low.saturating_add(1))
    }

    /// One slice: the step times, or one run. `ask` has the models answer.
    ///
    /// # Errors
    /// Where the models do not answer.
    pub fn step<E>(
        &mut self,
        ask: &dyn Fn(&Rows) -> Result<Efficiencies, E>,
        unanswered: &dyn Fn() -> E,
    ) -> Result<Slice, E> {
        self.runs_before = self.runs;
        let Some(known) = &self.runner else {
            return match plan(&self.layout.setup) {
                Err(issues) => Ok(refused(issues)),
                Ok((plan, rows)) => {
                    let efficiencies = ask(&rows)?;
                    let plan = plan.calibrated_on(&self.own);
                    self.runner = Some(runner(&plan, &efficiencies).ok_or_else(unanswered)?);
                    Ok(Slice::More)
                }
            };
        };
        let Some(replicas) = self.next() else { return Ok(self.end()) };
        let load = self.layout.setup.load;
        self.runs += 1;
        let is_due = self.alone_first || self.broken.is_some();
        if self.alone.is_none() && is_due && self.high.is_none() {
            let run = match known.trial(1, one(load)) {
                Ok(run) => run,
                Err(issue) => return Ok(Slice::Refused(issue)),
            };
            self.alone = Some(keeps(&run));
            if self.alone == Some(false) {
                // No load comes nearer.
                self.nearest = None;
                self.miss(1, run);
                let text = |broken: &mut Broken| broken.text += ", with one request at a time";
                self.nearest.iter_mut().for_each(|(_, _, broken)| text(broken));
                return Ok(self.end());
            }
            return Ok(Slice::More);
        }
        let run = match known.trial(replicas, load) {
            Ok(run) => run,
            Err(issue) => return Ok(Slice::Refused(issue)),
        };
        if keeps(&run) {
            self.high = Some((replicas, run));
        } else {
            self.low = replicas;
            self.miss(replicas, run);
        }
        Ok(Slice::More)
    }

    /// The replicas to try next; none if the fewest are known, or there are none.
    fn next(&self) -> Option<u32> {
        let (low, most) = (self.low, self.layout.most);
        match self.high {
            None if low >= most => None,
            None if self.every => Some(low + 1),
            None if self.broken.is_none() => {
                let guess = || (f64::from(low.saturating_add(1)) * BEGIN).ceil() as u32;
                Some(self.layout.begin.unwrap_or_else(guess).clamp(low + 1, most))
            }
            None => {
                Some(((f64::from(low) * GROWTH).ceil().max(f64::from(low) + 1.0)).min(f64::from(most)) as u32)
            }
            Some((high, _)) if high <= low + 1 => None,
            Some((high, _)) => Some(low + (high - low) / 2),
        }
    }

    fn miss(&mut self, replicas: u32, run: Run) {
        let broken = words::broken(&run, self.layout.setup.load);
        let excess = |broken: &Broken| words::excess(broken);
        if self.nearest.as_ref().is_none_or(|(_, _, known)| excess(&broken) < excess(known)) {
            self.nearest = Some((replicas, run, broken.clone()));
        }
        self.broken = Some(broken);
    }

    fn end(&mut self) -> Slice {
        match (self.high.take(), self.runner.take()) {
            (Some((replicas, run)), Some(runner)) => {
                let one_less = self.broken.take().filter(|_| self.low + 1 == replicas && replicas > 1);
                Slice::Found(Box::new(self.found(replicas, run, one_less)), Box::new(runner))
            }
            _ => {
                let nearest = self.nearest.take();
                Slice::Missed(
                    nearest
                        .map(|(replicas, run, broken)| Box::new((self.found(replicas, run, None), broken))),
                )
            }
        }
    }

    fn found(&self, replicas: u32, run: Run, one_less: Option<Broken>) -> Found {
        let Layout { scenario, setup, issues, .. } = self.layout.clone();
        Found { scenario, setup, issues, replicas, run, one_less, headroom: None, bands: None }
    }
}

fn refused(mut issues: Vec<Issue>) -> Slice {
    Slice::Refused(issues.pop().unwrap_or_else(|| Issue::error(Field::Gpu, "it cannot be planned")))
}

/// The same requests one at a time.
fn one(load: Load) -> Load {
    match load {
        Load::Sessions(_) | Load::SessionRate(_) => Load::Sessions(1),
        _ => Load::Concurrency(1),
    }
}
