//! Whether arrivals exceed capacity, as the queue tells.

use super::metrics::ascending;
use super::outcome::{FinishedRequest, Saturation, SecondHalf};
use crate::units::quantile;

/// Whether requests spend more time waiting for their first token than generating the rest. While a server fills up
/// they do not, even under overload, so a short run would look healthy.
pub fn mostly_wait(requests: &[FinishedRequest]) -> bool {
    let sum = |of: fn(&FinishedRequest) -> f64| requests.iter().map(of).sum::<f64>();
    sum(FinishedRequest::ttft) > 0.5 * sum(FinishedRequest::e2e)
}

/// Requests served from `start` to `end`, with the shares of those that were served in part.
pub fn served_within(requests: &[FinishedRequest], start: f64, end: f64) -> f64 {
    requests.iter().map(|served| served.share_within(start, end)).sum()
}

/// Requests per second while the middle half of them ends: neither the first turns nor the last sessions alone.
fn served_midway(requests: &[FinishedRequest]) -> f64 {
    let ends = ascending(requests.iter().map(|served| served.last));
    requests.len() as f64 / 2.0 / (quantile(&ends, 0.75) - quantile(&ends, 0.25))
}

/// Tracks the queue at every arrival; for sessions, only at their first turn: once no more sessions start, the queue of
/// an overloaded system shrinks although turns still arrive.
#[derive(Debug, Default)]
pub(super) struct QueueWatch {
    /// Arrivals, and requests of each.
    count: usize,
    turns: usize,
    seen: usize,
    /// Sums of queue lengths, per quarter of the arrivals.
    waiting: [f64; 4],
    /// When half of them were due, and all.
    half: f64,
    end: f64,
    backlog: u32,
    of_decode: bool,
    /// From the middle arrival to the last, with the energy until the middle one.
    second_half: SecondHalf,
    until_half: f64,
}

/// Queue growth, as a share of arrivals, above which arrivals exceed capacity.
const GROWTH: f64 = 0.05;
/// Minimum queue growth, to rule out chance.
const LEAST_GROWTH: f64 = 8.0;
/// Standard deviations of the number of arrivals, above which a queue in which requests mostly wait does not grow by chance: of a
/// load just above capacity, even a long run shows little growth.
const BEYOND_CHANCE: f64 = 2.0;

impl QueueWatch {
    pub fn new(requests: usize, turns: usize) -> Self {
        Self { count: requests / turns.max(1), turns, ..Self::default() }
    }

    /// An arrival, when it was due and when it came; the requests that wait, whether a decode worker could not start one, and
    /// the energy used so far.
    pub fn arrival(&mut self, id: usize, [due, time]: [f64; 2], waiting: u32, of_decode: bool, joules: f64) {
        if !id.is_multiple_of(self.turns) {
            return;
        }
        self.waiting[(4 * self.seen / self.count.max(1)).min(3)] += f64::from(waiting);
        self.seen += 1;
        if self.seen <= self.count.div_ceil(2) {
            (self.half, self.second_half.from, self.until_half) = (due, time, joules);
        }
        self.end = due;
        (self.second_half.until, self.second_half.joules) = (time, joules - self.until_half);
        self.backlog = waiting;
        self.of_decode = of_decode;
    }

    pub fn second_half(&self) -> SecondHalf {
        self.second_half
    }

    /// Half of all requests arrive between the middles of the second and the last quarter.
    pub fn verdict(&self, requests: &[FinishedRequest]) -> Option<Saturation> {
        let quarter = self.count as f64 / 4.0;
        let growth = (self.waiting[3] - self.waiting[1]) / quarter;
        let span = self.end - self.half;
        let is_crept = mostly_wait(requests) && growth > BEYOND_CHANCE * (2.0 * quarter).sqrt();
        if growth < LEAST_GROWTH.max(GROWTH * 2.0 * quarter) && !is_crept || span <= 0.0 {
            return None;
        }
        Some(Saturation {
            offered_per_s: (self.count / 2 * self.turns) as f64 / span,
            served_per_s: match self.turns {
                0 | 1 => served_within(requests, self.half, self.end) / span,
                // While sessions start, mostly their first turns are served.
                _ => served_midway(requests),
            },
            backlog: self.backlog,
            of_decode: self.of_decode,
        })
    }
}
