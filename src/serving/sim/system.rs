//! Replicas on one clock, with the clients around them.

use super::arrivals::Source;
use super::job::Job;
use super::outcome::{QueueWatch, Timeline};
use super::policy::Policy;
use super::replica::{Replica, Token};
use super::{Arrivals, Counts, Gaps, Lengths, Moment, Outcome, Served, SimError, StepCost, Transfer};

/// Where a run must end, and how much of it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps of all replicas.
    pub steps: u64,
    /// Moments of the timeline, about.
    pub moments: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 20_000_000, moments: 256 }
    }
}

/// Decode of disaggregated serving: where it runs, and the way there.
pub(super) struct Second<'a> {
    pub policy: &'a Policy,
    pub cost: &'a dyn StepCost,
    pub replicas: usize,
    pub transfer: Transfer,
}

pub(super) struct System<'a> {
    replicas: Vec<Replica<'a>>,
    /// Replicas before this one take new requests; the others decode what those have prefilled.
    fronts: usize,
    transfer: Option<Transfer>,
    requests: &'a [Lengths],
    jobs: Vec<Job>,
    source: Source,
    served: Vec<Served>,
    arrived: usize,
    finished: u64,
    limits: Limits,
    timeline: Timeline,
    watch: QueueWatch,
}

impl<'a> System<'a> {
    pub fn new(
        (policy, cost, replicas): (&'a Policy, &'a dyn StepCost, usize),
        second: Option<Second<'a>>,
        requests: &'a [Lengths],
        arrivals: &Arrivals,
        limits: Limits,
    ) -> Result<Self, SimError> {
        if requests.is_empty() {
            return Err(SimError::NoRequests);
        }
        if requests.len() >= u32::MAX as usize {
            return Err(SimError::Lengths("there are too many requests"));
        }
        let mut all: Vec<Replica> = (0..replicas).map(|_| Replica::new(policy, cost)).collect();
        if let Some(second) = &second {
            all.extend((0..second.replicas).map(|_| Replica::new(second.policy, second.cost)));
        }
        let target = |lengths: &Lengths| if second.is_some() { 1 } else { lengths.output };
        let unserved = |lengths: &Lengths| Served {
            arrival: 0.0,
            first: 0.0,
            last: 0.0,
            prompt: lengths.prompt,
            output: lengths.output,
        };
        Ok(Self {
            replicas: all,
            fronts: replicas,
            transfer: second.as_ref().map(|second| second.transfer),
            requests,
            jobs: requests.iter().map(|lengths| Job::new(lengths.prompt, target(lengths))).collect(),
            source: Source::new(arrivals, requests.len())?,
            served: requests.iter().map(unserved).collect(),
            arrived: 0,
            finished: 0,
            limits,
            timeline: Timeline::new(limits.moments),
            watch: QueueWatch::new(requests.len()),
        })
    }

    pub fn run(mut self) -> Result<Outcome, SimError> {
        let mut tokens = Vec::new();
        let mut steps = 0;
        loop {
            let (index, time) = self.next_replica();
            match self.source.peek() {
                Some(arrival) if arrival <= time => self.arrive(arrival),
                _ if time.is_finite() => {
                    let before = self.replicas[index].counts.steps;
                    self.replicas[index].step(&mut self.jobs, &mut tokens)?;
                    if self.replicas[index].counts.steps > before {
                        steps += 1;
                        if self.timeline.is_due() {
                            self.timeline.push(self.moment(time));
                        }
                    }
                    for token in tokens.drain(..) {
                        self.token(index, token);
                    }
                    if steps > self.limits.steps {
                        return Err(SimError::StepLimit { steps, finished: self.finished });
                    }
                }
                _ => break,
            }
        }
        self.finish()
    }

    fn next_replica(&self) -> (usize, f64) {
        let mut best = (0, f64::INFINITY);
        for (index, replica) in self.replicas.iter().enumerate() {
            let time = replica.next();
            if time < best.1 {
                best = (index, time);
            }
        }
        best
    }

    fn arrive(&mut self, time: f64) {
        self.source.take();
        let id = self.arrived;
        let waiting = self.waiting();
        self.watch.arrival(time, waiting, self.finished);
        self.arrived += 1;
        self.served[id].arrival = time;
        let front = least_loaded(&self.replicas[..self.fronts]);
        let replica = &mut self.replicas[front];
        replica.submit(id as u32, time + replica.policy.admission_delay);
    }

    fn waiting(&self) -> u32 {
        let running: u64 = self.replicas.iter().map(|replica| u64::from(replica.running())).sum();
        (self.arrived as u64).saturating_sub(self.finished + running) as u32
    }

    fn moment(&self, time: f64) -> Moment {
        let running = self.replicas.iter().map(Replica::running).sum();
        let kv_tokens = self.replicas.iter().map(Replica::kv_taken).sum();
        Moment { time, running, waiting: self.waiting(), kv_tokens }
    }

    fn token(&mut self, index: usize, token: Token) {
        let id = token.id as usize;
        let seen = token.at + self.replicas[index].policy.output_delay;
        match self.transfer.filter(|_| index < self.fronts && self.requests[id].output > 1) {
            Some(transfer) if token.last => self.hand_over(token, transfer),
            Some(_) => self.served[id].first = seen,
            None if token.last => {
                self.served[id].last = seen;
                self.finished += 1;
                self.source.ended(seen);
            }
            None => self.served[id].first = seen,
        }
    }

    /// The KV cache of a prompt goes to where it is decoded.
    fn hand_over(&mut self, token: Token, transfer: Transfer) {
        let id = token.id as usize;
        let lengths = self.requests[id];
        let there = token.at + transfer.seconds + transfer.seconds_per_token * f64::from(lengths.prompt);
        let back = least_loaded(&self.replicas[self.fronts..]) + self.fronts;
        let replica = &mut self.replicas[back];
        let last = if transfer.first_token_waits { there } else { token.at };
        if transfer.first_token_waits {
            self.served[id].first = there + replica.policy.output_delay;
        }
        self.jobs[id] = Job {
            generated: 1,
            filled: lengths.prompt,
            last,
            // Entries of the prefill replica stay stale.
            epoch: self.jobs[id].epoch,
            ..Job::new(lengths.prompt, lengths.output)
        };
        replica.submit(token.id, there + replica.policy.admission_delay);
    }

    fn finish(self) -> Result<Outcome, SimError> {
        if self.finished < self.requests.len() as u64 {
            let unfinished = |served: &Served| served.last <= 0.0;
            let request = self.served.iter().position(unfinished).unwrap_or_default();
            return Err(SimError::Stuck { request });
        }
        let (mut counts, mut gaps) = (Counts::default(), Gaps::default());
        for replica in self.replicas {
            counts.add(replica.counts);
            gaps.append(replica.gaps);
        }
        let open = matches!(self.source, Source::Open { .. });
        Ok(Outcome {
            requests: self.served,
            gaps,
            counts,
            timeline: self.timeline.into_moments(),
            saturation: if open { self.watch.verdict() } else { None },
        })
    }
}

fn least_loaded(replicas: &[Replica]) -> usize {
    match replicas {
        [_] => 0,
        _ => (0..replicas.len()).min_by_key(|&index| replicas[index].load()).unwrap_or_default(),
    }
}
