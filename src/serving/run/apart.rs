//! How clients begin where it is asked how many a system serves.
//!
//! A load test starts all of its clients at once, and their prompts meet in one queue, again and again where all answers
//! are as long. The users of a service know nothing of each other: at any time, some have just asked and others
//! are nearly done. Clients are like that if they begin slowly, so that those who begin add little to those who return.

use super::{How, Run, Runner};
use crate::calibration::Factors;
use crate::config::{Issue, Load, Setup, Start};
use crate::serving::sim::{Served, Stats};

/// Times from a client's request to its next that all begin over: those who begin are then at most a quarter of those who
/// return, and most of a run is yet at the full load.
const BEGIN: f64 = 4.0;

impl Runner {
    /// One run of `load` over this many replicas of the same layout, by [`Self::apart`]: step times do not depend on their
    /// number. If arrivals exceed capacity, capacity is the rate served in this run. It has no timeline and no intervals
    /// between tokens.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn trial(&self, replicas: u32, load: Load) -> Result<Run, Issue> {
        self.corrected(&self.apart(replicas, load)?, load, true)
    }

    /// The setup of a trial. Clients and users of sessions that must meet limits begin one after another; a start or a
    /// number of requests that was stated stays: it is of a load test.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn apart(&self, replicas: u32, load: Load) -> Result<Setup, Issue> {
        let setup = Setup { replicas, ..self.setup.clone() };
        if !self.starts_apart(load) || load.amount() < 2.0 {
            return Ok(setup);
        }
        let how = How { factors: Factors::NONE, in_brief: true, steps: &self.steps() };
        let served = self.filled(&setup, load, how).map_err(|error| self.issue(load, &error))?;
        let answer = Stats::of(served.outcome.requests.iter().map(Served::e2e)).map_or(0.0, |e2e| e2e.mean);
        let think = if matches!(load, Load::Sessions(_)) { setup.workload.turns.think_s } else { 0.0 };
        Ok(setup.under(|workload| workload.start = Start::Ramp((BEGIN * (answer + think)).ceil())))
    }

    /// Whether several clients or users of such a load start otherwise in a trial than the setup says.
    pub fn starts_apart(&self, load: Load) -> bool {
        let is_test = self.setup.workload.start != Start::AtOnce || self.setup.workload.requests.is_some();
        let of_users = matches!(load, Load::Concurrency(_) | Load::Sessions(_));
        of_users && !is_test && self.setup.workload.slos.limits().next().is_some()
    }
}
