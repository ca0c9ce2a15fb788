//! How many requests a system can serve, and runs in which more than that arrive.

use super::count::MOST_AT_RATE;
use super::{Run, Runner, SEED, constants, lengths};
use crate::config::Load;
use crate::config::catalog::numbers::requests::Constants;
use crate::serving::sim::Saturation;

/// The most clients that keep a system busy. A curve over clients ends there, too.
pub(super) const MOST_CLIENTS: u32 = 4096;
/// Share of slots taken, on average, from which on a rate may exceed capacity. With a third of its slots taken a server
/// is far from capacity: steps get longer with more requests, but less than in proportion.
pub(super) const NEARLY_FULL: f64 = 1.0 / 3.0;

/// Requests per slot in the run that fills the slots, and in the overloaded one; more if lengths differ, since long
/// answers fill a server slowly.
const FILLING: f64 = 2.0;
const OVERLOADED: f64 = 10.0;
/// How many times as fast requests arrive as in the run before; at first, as the full server served them. Ramp-up and drain, and a few
/// long answers at the end, make that rate too low; any overload will do.
const BEYOND: f64 = 1.6;
/// The last try is at 17 times the first rate.
const MOST_TRIES: u32 = 6;
/// Fewest requests of any run, for servers of few slots.
const FEWEST: u32 = 200;
/// The most runs that settle it.
const MOST_SETTLING: u32 = 3;

impl Runner {
    /// Requests per second that all replicas serve while others wait. Beyond this rate TTFT grows without bound. `None` if nothing
    /// can be served, or no overload was found.
    pub fn capacity(&self) -> Option<f64> {
        self.overload().map(|found| found.served_per_s)
    }

    /// What an overload shows: requests served per second, at capacity.
    fn overload(&self) -> Option<Saturation> {
        *self.capacity.get_or_init(|| {
            let turns = self.setup.workload.session().map(|turns| f64::from(turns.count));
            let (slots, copies) = (self.slots(), self.setup.copies());
            let drawn = lengths::requests(&self.setup, Load::Rate(1.0), MOST_AT_RATE as usize, SEED);
            let longer = lengths::bias(self.trace.as_ref().map_or(&drawn, |trace| &trace.requests));
            let run = |load: Load, of_slot: f64| {
                let of_copy = ((f64::from(slots) * of_slot * longer) as u32).clamp(FEWEST, MOST_AT_RATE);
                let busy = self.setup.under(|workload| {
                    // No think time while others could be served, and no client that holds requests back.
                    workload.turns.think_s = 0.0;
                    workload.max_in_flight = None;
                    (workload.load, workload.requests) = (load, Some(of_copy.saturating_mul(copies)));
                });
                self.corrected(&busy, load, true)
            };
            let all = slots.saturating_mul(copies);
            let full = turns.map_or(Load::Concurrency(all), |_| Load::Sessions(all));
            let served = run(full, FILLING).ok()?.metrics.requests_per_s;
            // A trace is as long as it is, and may show no overload at all.
            let tries = if self.trace.is_some() { 1 } else { MOST_TRIES };
            let at_rate = |arriving: f64| {
                let load = turns.map_or(Load::Rate(arriving), |turns| Load::SessionRate(arriving / turns));
                // Half of the arrivals fill the slots, and requests finish at an even rate during the others.
                Some(run(load, OVERLOADED).ok()?.saturation)
            };
            let mut arriving = served;
            let mut overloaded = None;
            for _ in 0..tries {
                arriving *= BEYOND;
                overloaded = at_rate(arriving)?;
                if overloaded.is_some() {
                    break;
                }
            }
            let overload: Saturation = overloaded?;
            let mut capacity = overload.served_per_s;
            // The overload fills all slots at once, and requests of one length then leave and return in waves, up to 40 % faster than
            // those that come one by one.
            let &Constants { just_beyond, unsettled, .. } = constants();
            let settling = if self.trace.is_some() { 0 } else { MOST_SETTLING };
            for _ in 0..settling {
                let beyond = capacity * just_beyond;
                // Never higher: once full, a server that preempts stays as slow as in the overload.
                let served = at_rate(beyond)?.map_or(beyond, |found| found.served_per_s).min(capacity);
                let is_settled = served > capacity * (1.0 - unsettled);
                capacity = served;
                if is_settled {
                    break;
                }
            }
            Some(Saturation { served_per_s: capacity, ..overload })
        })
    }

    /// Requests of mean length that one copy, a replica or pools as a whole, holds at once.
    pub(super) fn slots(&self) -> u32 {
        let tokens = self.setup.mean_prompt() as u64 + u64::from(self.setup.workload.osl);
        let of_rank = (self.policy.kv_tokens / tokens).clamp(1, u64::from(self.policy.slots())) as u32;
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
        let limit = self.policy.slots().saturating_mul(self.ranks());
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

    /// The run of this many replicas, with their capacity if it shows an overload or more arrives than they serve.
    pub(super) fn shown(&self, run: Run, load: Load, replicas: u32) -> Run {
        match run.saturation {
            // What sessions are served depends on the KV cache that paused ones hold.
            Some(_) if load.is_sessions() => run,
            Some(_) => self.with_capacity(run, replicas),
            None => self.within_capacity(run, load, replicas),
        }
    }

    fn with_capacity(&self, mut run: Run, replicas: u32) -> Run {
        let Some(all) = self.overload() else { return run };
        let served_per_s = all.served_per_s * f64::from(replicas) / f64::from(self.setup.replicas);
        let offered_per_s = self.setup.requests_at(run.load);
        let backlog = run.metrics.waiting.round() as u32;
        let beyond = Saturation { offered_per_s, served_per_s, backlog, ..all };
        run.saturation = match run.saturation {
            None => Some(beyond),
            // What the client holds back, only the run tells.
            Some(own) if self.setup.workload.max_in_flight.is_some() => {
                Some(Saturation { served_per_s: own.served_per_s.min(served_per_s), ..own })
            }
            Some(own) if served_per_s < offered_per_s => Some(Saturation { served_per_s, ..own }),
            // So close to capacity that only the run tells.
            own => own,
        }
        .filter(|found| found.served_per_s < offered_per_s);
        if let Some(saturation) = run.saturation {
            run.sustained_per_s = saturation.served_per_s.min(offered_per_s);
        }
        run
    }
}
