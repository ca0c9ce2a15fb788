//! How many requests a system can serve, and runs in which more than that arrive.

use super::count::MOST_AT_RATE;
use super::{Run, Runner, constants};
use crate::config::Load;
use crate::config::catalog::numbers::requests::Constants;
use crate::serving::sim::Saturation;

/// The most clients that keep a system busy. A curve over clients ends there, too.
pub(super) const MOST_CLIENTS: u32 = 4096;
/// Share of slots taken, on average, from which on a rate may exceed capacity. With a third of its slots taken a server
/// is far from capacity: steps get longer with more requests, but less than in proportion.
pub(super) const NEARLY_FULL: f64 = 1.0 / 3.0;

/// Requests per slot in the run that fills the slots, and in the overloaded one.
const FILLING: u32 = 2;
const OVERLOADED: u32 = 10;
/// Arrival rate of the second run over the rate served in the first, which ramp-up and drain make too low; any overload
/// will do.
const BEYOND: f64 = 1.6;
/// Fewest requests of either run, for servers of few slots.
const FEWEST: u32 = 200;

impl Runner {
    /// Requests per second that all replicas serve while others wait. Beyond this rate TTFT grows without bound. `None` if nothing
    /// can be served.
    pub fn capacity(&self) -> Option<f64> {
        *self.capacity.get_or_init(|| {
            let turns = self.setup.workload.session().map(|turns| f64::from(turns.count));
            let (slots, copies) = (self.slots(), self.setup.copies());
            let run = |load: Load, of_slot: u32| {
                let of_copy = slots.saturating_mul(of_slot).clamp(FEWEST, MOST_AT_RATE);
                let busy = self.setup.under(|workload| {
                    // No think time while others could be served.
                    workload.turns.think_s = 0.0;
                    (workload.load, workload.requests) = (load, Some(of_copy.saturating_mul(copies)));
                });
                self.corrected(&busy, load, true)
            };
            let all = slots.saturating_mul(copies);
            let full = turns.map_or(Load::Concurrency(all), |_| Load::Sessions(all));
            let served = run(full, FILLING).ok()?.metrics.requests_per_s;
            let arriving = BEYOND * served;
            let more = turns.map_or(Load::Rate(arriving), |turns| Load::SessionRate(arriving / turns));
            // Half of the arrivals fill the slots, and requests finish at an even rate during the others.
            let steady = run(more, OVERLOADED).ok()?.saturation;
            Some(steady.map_or(served, |saturation| saturation.served_per_s))
        })
    }

    /// Requests of mean length that one copy, a replica or pools as a whole, holds at once.
    pub(super) fn slots(&self) -> u32 {
        let tokens = self.setup.mean_prompt() as u64 + u64::from(self.setup.workload.osl);
        let of_rank = (self.policy.kv_tokens / tokens).clamp(1, u64::from(self.policy.max_seqs)) as u32;
        of_rank.saturating_mul(self.ranks()).min(MOST_CLIENTS)
    }

    /// Ranks of one copy.
    fn ranks(&self) -> u32 {
        self.policy.ranks.saturating_mul(self.setup.replicas / self.setup.copies())
    }

    /// Requests that one copy holds at once in steady state, when they have half of their output on average.
    pub(super) fn held(&self) -> f64 {
        let (prompt, output) = (self.setup.mean_prompt(), f64::from(self.setup.workload.osl));
        let slots = f64::from(self.slots());
        let of_slot = (prompt + output) / (prompt + output / 2.0);
        let limit = self.policy.max_seqs.saturating_mul(self.ranks());
        (slots * of_slot).min(f64::from(limit))
    }

    /// The run of this many replicas, marked as saturated if more requests arrive than they can serve. Even the longest
    /// run may not show an overload of a few percent by itself: the KV cache fills up long before requests wait.
    pub(super) fn within_capacity(&self, run: Run, load: Load, replicas: u32) -> Run {
        let &Constants { precarious, queueing, .. } = constants();
        let of_copy = self.setup.requests_at(load.amount()) * f64::from(self.setup.replicas)
            / f64::from(self.setup.copies().saturating_mul(replicas));
        let may_be_beyond = run.fills
            || run.metrics.in_flight >= precarious * self.held()
            || of_copy * run.metrics.ttft.mean >= queueing;
        // A test with a stated number of requests ends before it matters. Capacity does not include the KV cache that
        // paused sessions hold.
        let is_comparable = self.setup.workload.requests.is_none() && load.is_rate() && !load.is_sessions();
        match run.saturation {
            None if is_comparable && may_be_beyond => self.with_capacity(run, replicas),
            _ => run,
        }
    }

    /// The same with the capacity of these replicas if the run itself shows an overload.
    pub(super) fn shown(&self, run: Run, load: Load, replicas: u32) -> Run {
        match run.saturation {
            Some(_) => self.with_capacity(run, replicas),
            None => self.within_capacity(run, load, replicas),
        }
    }

    fn with_capacity(&self, mut run: Run, replicas: u32) -> Run {
        let Some(all) = self.capacity() else { return run };
        let served_per_s = all * f64::from(replicas) / f64::from(self.setup.replicas);
        let offered_per_s = self.setup.requests_at(run.load);
        let backlog = run.metrics.waiting.round() as u32;
        let beyond = Saturation { offered_per_s, served_per_s, backlog };
        run.saturation = match run.saturation {
            None => Some(beyond),
            Some(own) if served_per_s < offered_per_s => Some(Saturation { served_per_s, ..own }),
            // Capacity ignores the room taken by paused sessions: if it is not exceeded, the run itself shows what is
            // served.
            own => own,
        }
        .filter(|found| found.served_per_s < offered_per_s);
        if let Some(saturation) = run.saturation {
            run.sustained_per_s = saturation.served_per_s.min(offered_per_s);
        }
        run
    }
}
