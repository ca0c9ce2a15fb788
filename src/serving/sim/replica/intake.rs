//! How an API server takes in requests.

use super::Replica;
use crate::serving::sim::queue::insert;
use crate::units::larger;

impl Replica<'_> {
    /// `id` with a prompt of `tokens` arrives at `time`. The API server handles requests in sequence.
    pub fn submit(&mut self, id: u32, tokens: u32, time: f64) {
        let delay = self.policy.admission_delay + self.policy.admission_per_token * f64::from(tokens);
        if self.policy.admission_together {
            return self.submit_together(id, delay, time);
        }
        let taken = self.heard(time);
        self.frontend_free = taken + self.policy.admission_interval;
        let visible = taken + delay;
        insert(&mut self.unread, (visible, id), |&earlier| earlier < (visible, id));
    }

    /// `id` arrives at an API server that forwards together all requests that arrived before it began on the first of
    /// them, none before an earlier one. Arrivals ascend, so the scheduler has not seen the ones that this delays.
    fn submit_together(&mut self, id: u32, delay: f64, time: f64) {
        let (begin, count) = match self.together {
            (begin, count) if time <= begin => (begin, count + 1),
            _ => (self.heard(time), 1),
        };
        let last = begin + f64::from(count - 1) * self.policy.admission_interval;
        let visible = self.unread.back().map_or(last + delay, |&(before, _)| larger(last + delay, before));
        self.frontend_free = last + self.policy.admission_interval;
        self.together = (begin, count);
        self.unread.push_back((visible, id));
        self.unread.iter_mut().rev().take(count as usize).for_each(|one| one.0 = visible);
    }

    /// When the API server takes a request that arrives at `time`.
    fn heard(&self, time: f64) -> f64 {
        time.max(self.frontend_free).max(self.stream.free(time))
    }
}
