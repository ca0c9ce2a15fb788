//! Steps that only decode, without scheduling.

use super::Replica;
use crate::serving::sim::Spent;
use crate::serving::sim::rank::Rank;
use crate::serving::sim::scheduled::Scheduled;

impl Replica<'_> {
    /// A shortcut for a step that starts before `until` and only decodes, with no request to read and no sequence ending: the
    /// same result as `step`, without scheduling. Returns the time of its decision, or `None` if the shortcut does not apply.
    ///
    /// Events elsewhere while it runs do not affect it.
    pub fn decode_on(&mut self, until: f64) -> Option<f64> {
        let decided = self.now.max(self.stages[0]);
        let alone = self.stages.len() == 1 && self.policy.balance_wait.is_none();
        let quiet = alone && !self.stalled && decided < until && self.in_flight.is_empty();
        let reads = self.receive_count >= self.policy.receive_interval;
        let seen = if self.policy.ahead { self.began } else { decided };
        let receives = reads && self.next_request() <= seen;
        let decodes_on = quiet && !receives && self.ranks.iter_mut().all(Rank::decodes_on);
        if !decodes_on || self.scheduled(0).all(Scheduled::is_empty) {
            return None;
        }
        let Spent { seconds, joules } = self.cost_of(0, false);
        // `step` reports invalid times.
        if !(seconds.is_finite() && seconds >= 0.0) {
            return None;
        }
        let end = decided + seconds;
        self.joules += joules;
        self.steps += 1;
        (self.began, self.now, self.stages[0]) = (decided, end, end);
        self.receive_count = if reads { 1 } else { self.receive_count.saturating_add(1) };
        for rank in &mut self.ranks {
            rank.decode_on(end, &mut self.gaps);
        }
        Some(decided)
    }
}
