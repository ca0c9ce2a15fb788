//! How clients start when the question is how many a system can serve.
//!
//! A load test starts all of its clients at once, and their prompts meet in one queue, again and again if all answers
//! have the same length. The users of a service know nothing of each other: at any time, some have just sent a request
//! and others are nearly done. Clients behave like that if they start slowly, so that those who start add little to
//! those who return.

use super::{Run, RunOptions, Runner};
use crate::calibration::Factors;
use crate::config::{Issue, Load, Setup, Start};
use crate::serving::sim::{FinishedRequest, Stats};

/// The start of all clients is spread over this many times the interval between two requests of a client: those who
/// start are then at most a quarter of those who return, and most of a run is still at full load.
const BEGIN: f64 = 4.0;

/// Seconds over which clients start who get an answer in this many, so that they hardly meet in one queue.
pub fn ramp_of(answer: f64) -> f64 {
    (BEGIN * answer).ceil()
}

/// Mean seconds of a run's requests.
struct Answers {
    ttft: f64,
    e2e: f64,
}

impl Runner {
    /// One run of `load` over this many replicas of the same layout, by [`Self::for_trial`]: step times do not depend on their
    /// number. If its own queue shows that arrivals exceed capacity, capacity is the rate served in this run. It has no timeline and no
    /// intervals between tokens.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn trial(&self, replicas: u32, load: Load) -> Result<Run, Issue> {
        Ok(self.whole_trial(replicas, load)?.while_it_lasts())
    }

    fn whole_trial(&self, replicas: u32, load: Load) -> Result<Run, Issue> {
        let run = self.corrected(&self.for_trial(replicas, load)?, load, true)?;
        Ok(self.within_capacity(run, load, replicas))
    }

    /// A trial to show: if arrivals exceed capacity, that of these replicas is in it.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn shown_trial(&self, replicas: u32, load: Load) -> Result<Run, Issue> {
        Ok(self.shown(self.whole_trial(replicas, load)?, load, replicas).while_it_lasts())
    }

    /// The setup of a trial. Clients and users of sessions that must meet limits start one after another; a stated
    /// start or number of requests is kept, because it describes a load test.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn for_trial(&self, replicas: u32, load: Load) -> Result<Setup, Issue> {
        let setup = Setup { replicas, ..self.setup.clone() };
        if !self.ramps_clients(load) || load.amount() < 2.0 {
            return Ok(setup);
        }
        let think = if matches!(load, Load::Sessions(_)) { setup.workload.turns.think_s } else { 0.0 };
        let ramped =
            |answer: f64| setup.under(|workload| workload.start = Start::Ramp(ramp_of(answer + think)));
        let at_once = self.answers(&setup, load)?;
        let ramp = ramped(at_once.e2e);
        if at_once.ttft < at_once.e2e / 2.0 {
            return Ok(ramp);
        }
        // Prompts that meet in one queue may wait far longer than those of clients who started slowly. Spread over such
        // an interval, early ones would be done before late ones start.
        Ok(ramped(self.answers(&ramp, load)?.e2e.min(at_once.e2e)))
    }

    /// Mean times in a run by physics alone.
    fn answers(&self, setup: &Setup, load: Load) -> Result<Answers, Issue> {
        let steps = self.steps();
        let options = RunOptions::new(Factors::NONE, true, &steps);
        let served = self.filled(setup, load, options).map_err(|error| self.issue(load, &error))?;
        let mean = |of: fn(&FinishedRequest) -> f64| {
            Stats::of(served.outcome.requests.iter().map(of)).map_or(0.0, |times| times.mean)
        };
        Ok(Answers { ttft: mean(FinishedRequest::ttft), e2e: mean(FinishedRequest::e2e) })
    }

    /// Whether several clients or users of such a load start differently in a trial than in the setup.
    pub fn ramps_clients(&self, load: Load) -> bool {
        let workload = &self.setup.workload;
        workload.starts_together(load) && workload.slos.limits().next().is_some()
    }
}
