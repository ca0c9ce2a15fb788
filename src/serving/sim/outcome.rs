//! The outcome of a simulation.

use serde::{Deserialize, Serialize};

use crate::config::LatencyMetric;

/// One request's times as seen by its client, in seconds from the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FinishedRequest {
    pub arrival: f64,
    /// First token.
    pub first: f64,
    /// Last token.
    pub last: f64,
    pub prompt: u32,
    pub output: u32,
}

impl FinishedRequest {
    /// Seconds from arrival to first token.
    pub fn ttft(&self) -> f64 {
        self.first - self.arrival
    }

    /// Seconds from arrival to last token.
    pub fn e2e(&self) -> f64 {
        self.last - self.arrival
    }

    /// The share of its tokens that came from `start` to `end`: requests of one length finish in waves, but their tokens come evenly.
    pub(super) fn share_within(&self, start: f64, end: f64) -> f64 {
        let whole = self.last - self.first;
        if whole > 0.0 {
            ((self.last.min(end) - self.first.max(start)) / whole).max(0.0)
        } else {
            f64::from(u8::from((start..end).contains(&self.last)))
        }
    }

    /// Mean seconds per token after the first; `None` if there is no other.
    pub fn tpot(&self) -> Option<f64> {
        let others = self.output.checked_sub(1).filter(|&others| others > 0)?;
        Some((self.last - self.first) / f64::from(others))
    }

    /// Seconds; `None` for TPOT of one output token.
    pub fn latency(&self, metric: LatencyMetric) -> Option<f64> {
        metric.choose([Some(self.ttft()), self.tpot(), Some(self.e2e())])
    }
}

/// An interval in seconds between two outputs of a sequence, `count` times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    pub seconds: f64,
    pub count: u64,
}

/// All intervals between outputs, with equal ones of a step merged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gaps {
    all: Vec<Gap>,
    /// Whether intervals are not recorded, because nobody asks for them.
    left_out: bool,
}

impl Gaps {
    /// An empty list that records no intervals.
    pub(super) fn left_out() -> Self {
        Self { all: Vec::new(), left_out: true }
    }

    /// Ignores NaN, which means there was no earlier output.
    pub(super) fn add(&mut self, seconds: f64, count: u64) {
        if self.left_out {
            return;
        }
        let count = if seconds.is_nan() { 0 } else { count };
        match self.all.last_mut() {
            Some(gap) if gap.seconds.total_cmp(&seconds).is_eq() => gap.count += count,
            _ if count > 0 => self.all.push(Gap { seconds, count }),
            _ => {}
        }
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.all.append(&mut other.all);
    }

    pub fn as_slice(&self) -> &[Gap] {
        &self.all
    }
}

/// Event counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub steps: u64,
    /// Steps with prompt tokens.
    pub prompt_steps: u64,
    /// Number of times a sequence lost its KV cache.
    pub preemptions: u64,
    /// Prompt tokens that requests found in the prefix cache when they first started.
    pub found: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.prompt_steps += other.prompt_steps;
        self.preemptions += other.preemptions;
        self.found += other.found;
    }
}

/// The system at one moment, over all replicas and ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Seconds from the start.
    pub time: f64,
    /// Sequences that have a slot.
    pub running: u32,
    /// Requests that have arrived and have no slot.
    pub waiting: u32,
    /// Tokens of allocated KV blocks.
    pub kv_tokens: u64,
    /// Energy of the steps so far, beyond idle power.
    pub joules: f64,
}

/// Requests arrive faster than they are served: the queue grew throughout and would keep growing. Times to first
/// token then reflect the length of the run, not the speed of the system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Saturation {
    /// Requests arriving per second in the second half of the arrivals.
    pub offered_per_s: f64,
    /// Requests served per second during that time (of sessions, while the middle half of all turns ends); in a setup's run, its
    /// capacity.
    pub served_per_s: f64,
    /// Requests waiting when the last one arrived; where replicas share a load, in one of them.
    pub backlog: u32,
    /// Whether decode workers then had no slot or memory for one of them: prefill may wait for those, but not the reverse.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    pub of_decode: bool,
}

/// From the arrival of the middle request to that of the last, when a server neither fills nor drains.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SecondHalf {
    /// Seconds.
    pub from: f64,
    pub until: f64,
    /// Energy of the steps in it, beyond idle power.
    pub joules: f64,
}

/// The whole run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The requests in the order given.
    pub requests: Vec<FinishedRequest>,
    /// How many requests each of these stands for: 1, unless only the start of a queue was simulated.
    pub each: f64,
    /// Intervals between outputs of a sequence; with accepted drafts several tokens may arrive at once.
    pub gaps: Gaps,
    pub counts: Counts,
    /// Evenly thinned.
    pub timeline: Vec<Moment>,
    /// Energy of all GPUs' steps in joules, beyond idle power.
    pub joules: f64,
    pub second_half: SecondHalf,
    /// Seconds that requests waited for a slot, all together.
    pub queued: f64,
    /// Seconds that they held one.
    pub held_slots: f64,
    /// `None` unless arrivals are independent of answers.
    pub saturation: Option<Saturation>,
}

impl Outcome {
    /// Stands for `times` as many requests, served at the same rate: all of them wait in one queue, so they wait as many times as long,
    /// or (`follow`) each is sent when an answer arrives.
    pub fn stand_for(&mut self, times: f64, follow: bool) {
        let (later, longer) = if follow { (times, 1.0) } else { (1.0, times) };
        // What a prompt takes once it has a slot.
        let waited: f64 = self.requests.iter().map(FinishedRequest::ttft).sum();
        let in_slot = (waited - self.queued) / self.requests.len() as f64;
        for served in &mut self.requests {
            let (ttft, decoding) = (served.ttft(), served.last - served.first);
            served.arrival *= later;
            served.first = served.arrival + ttft + (longer - 1.0) * (ttft - in_slot).max(0.0);
            served.last = served.first + decoding;
        }
        for moment in &mut self.timeline {
            moment.time *= times;
            moment.joules *= times;
            moment.waiting = (f64::from(moment.waiting) * longer) as u32;
        }
        self.each *= times;
        self.joules *= times;
        self.queued *= times * longer;
        self.held_slots *= times;
        self.counts.preemptions = (self.counts.preemptions as f64 * times) as u64;
    }

    /// Time-averaged requests in the system.
    pub fn in_flight(&self) -> f64 {
        let stays: f64 = self.requests.iter().map(FinishedRequest::e2e).sum();
        self.each * stays / self.duration()
    }

    /// Seconds from the first arrival to the last token.
    pub fn duration(&self) -> f64 {
        let first = self.requests.iter().map(|served| served.arrival).fold(f64::INFINITY, f64::min);
        let last = self.requests.iter().map(|served| served.last).fold(0.0, f64::max);
        last - first
    }

    /// Multiplies times to first token by `factor`. If a client's next request follows an answer after a `pause`,
    /// everything later shifts by the mean delay of answers.
    pub fn wait(&mut self, factor: f64, pause: Option<f64>) {
        if factor == 1.0 {
            return;
        }
        let all: f64 = self.requests.iter().map(FinishedRequest::e2e).sum();
        let waited: f64 = self.requests.iter().map(FinishedRequest::ttft).sum();
        let delay = (factor - 1.0) * waited;
        let longer = if all > 0.0 { 1.0 + delay / all } else { 1.0 };
        let cycles = pause.map(|pause| all + pause * self.requests.len() as f64);
        let later = cycles.filter(|cycles| *cycles > 0.0).map_or(1.0, |cycles| 1.0 + delay / cycles);
        // The queue's share of all times stays, and that of the slots.
        self.queued *= longer;
        self.held_slots *= longer;
        for served in &mut self.requests {
            let (ttft, decoding) = (served.ttft() * factor, served.last - served.first);
            served.arrival *= later;
            served.first = served.arrival + ttft;
            served.last = served.first + decoding;
        }
        self.timeline.iter_mut().for_each(|moment| moment.time *= later);
        self.second_half.from *= later;
        self.second_half.until *= later;
    }
}

/// The moments of a run, thinned on the fly: at most twice `most` are kept.
#[derive(Debug)]
pub(super) struct Timeline {
    moments: Vec<Moment>,
    most: usize,
    every: u64,
    seen: u64,
    /// The step after which the next moment is due.
    until: u64,
}

impl Timeline {
    pub fn new(most: usize) -> Self {
        Self { moments: Vec::new(), most, every: 1, seen: 0, until: 0 }
    }

    /// Whether to keep a moment after these steps; call for every step.
    pub fn is_due(&mut self, steps: u64) -> bool {
        self.seen += steps;
        let is_due = self.most > 0 && self.seen > self.until;
        if is_due {
            self.until = self.seen.next_multiple_of(self.every);
        }
        is_due
    }

    pub fn push(&mut self, moment: Moment) {
        self.moments.push(moment);
        if self.moments.len() >= 2 * self.most {
            let mut index = 0;
            self.moments.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.every *= 2;
            self.until = self.seen.next_multiple_of(self.every);
        }
    }

    pub fn into_moments(self) -> Vec<Moment> {
        self.moments
    }
}
