//! How many requests a system can serve, and runs to which more arrive.

use super::{Run, Runner};
use crate::config::Load;
use crate::serving::sim::Saturation;

/// The most clients that keep a system busy. A curve over clients ends there, too.
pub(super) const MOST_CLIENTS: u32 = 4096;
/// Share of the slots taken, on average, from which a rate may be beyond capacity. At a third of them a server is far from it: steps
/// take longer the more requests they hold, but never in proportion.
const NEARLY_FULL: f64 = 1.0 / 3.0;
/// So may one at which this many requests wait, on average.
const QUEUE: f64 = 1.0;

impl Runner {
    /// Requests per second that all replicas serve without idling: with as many clients as slots. Beyond this rate
    /// TTFT grows without bound. `None` if nothing can be served.
    pub fn capacity(&self) -> Option<f64> {
        *self.capacity.get_or_init(|| {
            let slots = self.slots().saturating_mul(self.setup.copies());
            let load = match self.setup.workload.session() {
                Some(_) => Load::Sessions(slots),
                None => Load::Concurrency(slots),
            };
            // No think time while others could be served.
            let busy = self.setup.under(|workload| workload.turns.think_s = 0.0);
            Some(self.corrected(&busy, load, true).ok()?.metrics.requests_per_s)
        })
    }

    /// Requests of mean length that one copy, a replica or pools as a whole, holds at once.
    fn slots(&self) -> u32 {
        let tokens = self.setup.mean_prompt() as u64 + u64::from(self.setup.workload.osl);
        let of_rank = (self.policy.kv_tokens / tokens).clamp(1, u64::from(self.policy.max_seqs)) as u32;
        let ranks = self.policy.ranks.saturating_mul(self.setup.replicas / self.setup.copies());
        of_rank.saturating_mul(ranks).min(MOST_CLIENTS)
    }

    /// The run of this many replicas, saturated if more requests arrive than they can serve. A run does not show an overload of a few
    /// percent by itself: it fills the KV cache long before requests wait.
    pub(super) fn within_capacity(&self, run: Run, load: Load, replicas: u32) -> Run {
        let is_full = run.metrics.in_flight >= NEARLY_FULL * f64::from(self.slots());
        let may_be_beyond = is_full || run.metrics.waiting >= QUEUE;
        // A test of so many requests ends before it matters.
        let is_test = self.setup.workload.requests.is_some();
        match run.saturation {
            None if load.is_rate() && may_be_beyond && !is_test => self.with_capacity(run, replicas),
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
        if let Some(saturation) = &mut run.saturation {
            saturation.served_per_s = served_per_s;
        } else if offered_per_s > served_per_s {
            run.saturation = Some(Saturation { offered_per_s, served_per_s, backlog });
        }
        if run.saturation.is_some() {
            run.sustained_per_s = served_per_s.min(offered_per_s);
        }
        run
    }
}
