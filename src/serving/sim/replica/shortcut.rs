//! Runs decode-only steps without scheduling them, several at once while their times hardly differ.

use super::Replica;
use crate::serving::sim::policy::Preempt;
use crate::serving::sim::rank::Rank;
use crate::serving::sim::scheduled::Scheduled;
use crate::serving::sim::{Gaps, Spent};
use crate::units::{larger, smaller};

/// Steps count as equal while sequences grow, on average, by at most one token in this many. The time of the middle
/// step then gives the sum of their times to within 1e-5, if step times are smooth in sequence length.
const TOKENS_PER_GROWTH: u64 = 64;
/// The most steps taken together.
const MOST: u64 = 63;

/// Decode steps taken together.
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
    /// The time of the last decision.
    pub decided: f64,
    pub steps: u64,
}

impl Replica<'_> {
    /// A shortcut for decode-only steps that start before `until`, in which no request is read and no sequence ends. It has
    /// the result of `step`, except that each of several steps takes the time of the middle one. `None` if it does not apply.
    ///
    /// Events elsewhere while they run do not affect them.
    pub fn decode_on(&mut self, until: f64) -> Option<Stretch> {
        let decided = larger(self.now, self.stages[0]);
        let alone = self.stages.len() == 1 && self.policy.balance_wait.is_none();
        if !alone || self.stalled || decided >= until || !self.in_flight.is_empty() {
            return None;
        }
        let next_request = self.next_request();
        let seen = if self.policy.ahead { self.began } else { decided };
        if self.receive_count >= self.policy.receive_interval && next_request <= seen {
            return None;
        }
        let room = smaller(until, next_request) - decided;
        let mut steps = self.ranks.iter().map(Rank::alike).fold(begun_within(room, self.pace), u64::min);
        while !self.ranks.iter().all(|rank| rank.decodes_on(steps)) {
            if steps == 1 {
                return None;
            }
            steps = odd(steps / 2);
        }
        self.ranks.iter_mut().for_each(|rank| rank.schedule_decodes(steps / 2));
        if self.scheduled(0).all(Scheduled::is_empty) {
            return None;
        }
        let Spent { seconds, joules } = self.cost_of(0, false);
        // `step` reports invalid times.
        if !(seconds.is_finite() && seconds >= 0.0) {
            return None;
        }
        let steps = steps.min(begun_within(room, seconds));
        let last = decided + seconds * (steps - 1) as f64;
        self.pace = seconds;
        let decoding: u32 = self.scheduled(0).map(|rank| rank.decoding).sum();
        self.stream.send(decided + seconds, seconds, steps, decoding);
        self.joules += joules * steps as f64;
        self.steps += steps;
        (self.began, self.now, self.stages[0]) = (last, last + seconds, last + seconds);
        // Up to the interval, after which it starts again at 1.
        let interval = self.policy.receive_interval.max(1);
        self.receive_count = (self.receive_count.min(interval) + (steps as u32 - 1)) % interval + 1;
        for rank in &mut self.ranks {
            rank.decode_on(steps, decided + seconds, seconds, &mut self.gaps);
        }
        Some(Stretch { decided: last, steps })
    }
}

/// How many steps of `seconds` each begin within `room`: at least one, at most [`MOST`], and an odd number, so that there
/// is one in the middle.
fn begun_within(room: f64, seconds: f64) -> u64 {
    let steps = (room / seconds).ceil();
    // NaN becomes 0, infinity the most.
    if steps >= MOST as f64 { MOST } else { odd(u64::from(steps as u32)) }
}

/// The largest odd number up to `steps`, at least 1.
fn odd(steps: u64) -> u64 {
    steps.saturating_sub(1) | 1
}

impl Rank<'_> {
    /// Whether the next `steps` only decode and no sequence ends in them.
    fn decodes_on(&self, steps: u64) -> bool {
        let batch = &self.micro_batches[0];
        // Without a free slot nothing starts either.
        let none_starts = (self.waiting.is_empty() || self.free_slots(0) == 0)
            && batch.partial.is_empty()
            && batch.fresh.is_empty();
        none_starts && batch.decoding.goes_on(steps) && self.has_room(steps)
    }

    /// Whether there are blocks for the next `steps`.
    fn has_room(&self, steps: u64) -> bool {
        let decoding = &self.micro_batches[0].decoding;
        // A token takes a block at most: mostly there are more, and none have to be counted.
        let most = u64::from(decoding.count) * decoding.gain(steps);
        most <= self.free || self.blocks_of(steps) <= self.free
    }

    /// KV blocks that decoding takes in the next `steps`.
    fn blocks_of(&self, steps: u64) -> u64 {
        let decoding = &self.micro_batches[0].decoding;
        match self.policy.preempt {
            Preempt::Never => 0,
            _ => decoding.blocks_for(decoding.gain(steps)),
        }
    }

    /// The number of steps that count as equal and in which no sequence ends, as an odd number.
    fn alike(&self) -> u64 {
        let decoding = &self.micro_batches[0].decoding;
        if decoding.count == 0 {
            return MOST;
        }
        odd(decoding.steps_for(decoding.mean_length() / TOKENS_PER_GROWTH).min(decoding.steps_left()))
    }

    /// Schedules decoding as it will be `later` steps from now.
    fn schedule_decodes(&mut self, later: u64) {
        let batch = &mut self.micro_batches[0];
        batch.scheduled.clear();
        batch.scheduled.decode(&batch.decoding, later);
    }

    /// Completes `steps` that decode, the first of them at `first`.
    fn decode_on(&mut self, steps: u64, first: f64, seconds: f64, gaps: &mut Gaps) {
        if self.micro_batches[0].decoding.count > 0 {
            self.take(self.blocks_of(steps));
            self.lower_share(steps);
            self.micro_batches[0].decoding.advance(steps, first, seconds, gaps);
        }
    }
}
