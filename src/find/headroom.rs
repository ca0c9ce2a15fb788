//! How much more load a plan can serve before a limit breaks.

use std::ops::ControlFlow;

use super::plan::{Found, meets_limits};
use crate::serving::run::Runner;

/// Headroom is looked for up to so many times the load, and known this well.
const MOST_LOAD: f64 = 4.0;
const PRECISION: f64 = 0.03;

/// Headroom search for a plan, one run at a time.
#[derive(Debug, Clone)]
pub struct Headroom {
    meets: f64,
    breaks: Option<f64>,
}

impl Headroom {
    pub fn new() -> Self {
        Self { meets: 1.0, breaks: None }
    }

    /// Does one more run. Breaks with the load multiple and whether it is only a lower bound, once known; with `None`
    /// if no load breaks anything, as of a job without limits.
    pub fn step(&mut self, found: &Found, runner: &Runner) -> ControlFlow<Option<(f64, bool)>> {
        if found.ranked_by().is_of_job() && found.run.limits.is_empty() {
            return ControlFlow::Break(None);
        }
        let at = match self.breaks {
            None if self.meets >= MOST_LOAD => return ControlFlow::Break(Some((self.meets, true))),
            None => (self.meets * 1.5).min(MOST_LOAD),
            Some(breaks) => (self.meets * breaks).sqrt(),
        };
        let load = found.setup.workload.load;
        // Clients are whole numbers: of one, the next is two.
        let amount = load.amount() * at;
        let is_first = self.breaks.is_none() && !load.is_rate();
        let more = load.with_amount(if is_first { amount.ceil() } else { amount });
        let times = more.amount() / load.amount();
        let is_new = times > self.meets && self.breaks.is_none_or(|breaks| times < breaks);
        if !is_new || self.breaks.is_some_and(|breaks| breaks <= self.meets * (1.0 + PRECISION)) {
            return ControlFlow::Break(Some((self.meets, false)));
        }
        match runner.trial(found.replicas, more) {
            Ok(run) if meets_limits(&run) => self.meets = times,
            _ => self.breaks = Some(times),
        }
        ControlFlow::Continue(())
    }
}
