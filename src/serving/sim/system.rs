//! Replicas on a common clock, with their clients.

use super::arrivals::ArrivalSource;
use super::hand_over::{Event, Token};
use super::outcome::Timeline;
use super::replica::Replica;
use super::request::RequestState;
use super::watch::QueueWatch;
use super::{
    Arrivals, Counts, FinishedRequest, FirstToken, Gaps, Moment, Outcome, Pool, Request, SimError, Transfer,
};
use crate::units::smaller;

/// Where a run must end, and how much of its timeline is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps of all replicas.
    pub steps: u64,
    /// Approximate number of points in the timeline. 0: neither is it kept, nor are intervals between outputs.
    pub moments: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 20_000_000, moments: 256 }
    }
}

pub(super) struct System<'a> {
    replicas: Vec<Replica<'a>>,
    /// Replicas before this one take new requests; the others decode what those have prefilled.
    decode_from: usize,
    transfer: Option<Transfer>,
    /// When each prefill rank finishes its transfers.
    ports: Vec<f64>,
    /// The replica and rank that hold each request's prefill memory.
    held: Vec<Option<(usize, u32)>>,
    requests: &'a [Request],
    states: Vec<RequestState>,
    source: ArrivalSource,
    served: Vec<FinishedRequest>,
    arrived: usize,
    finished: u64,
    /// Seconds that requests have waited for a slot, and held one, all together, until `counted`.
    queued: f64,
    held_slots: f64,
    counted: f64,
    limits: Limits,
    timeline: Timeline,
    watch: QueueWatch,
}

impl<'a> System<'a> {
    /// `decode`: replicas that decode what those of `first` prefill, and the transfer.
    pub fn new(
        first: Pool<'a>,
        decode: Option<(Pool<'a>, Transfer)>,
        requests: &'a [Request],
        arrivals: &Arrivals,
        limits: Limits,
    ) -> Result<Self, SimError> {
        if requests.is_empty() {
            return Err(SimError::NoRequests);
        }
        if requests.len() >= u32::MAX as usize {
            return Err(SimError::TooManyRequests);
        }
        let pools = std::iter::once(first).chain(decode.map(|(pool, _)| pool));
        let mut replicas: Vec<Replica<'_>> = pools
            .flat_map(|pool| (0..pool.replicas).map(move |_| Replica::new(pool.policy, pool.cost)))
            .collect();
        if limits.moments == 0 {
            replicas.iter_mut().for_each(|replica| replica.gaps = Gaps::left_out());
        }
        let state = |request: &Request| {
            let target = if decode.is_some() { 1 } else { request.output };
            RequestState { found: request.found, ..RequestState::new(request.prompt, target) }
        };
        let unserved = |&Request { prompt, output, .. }: &Request| FinishedRequest {
            arrival: 0.0,
            first: 0.0,
            last: 0.0,
            prompt,
            output,
        };
        let source = ArrivalSource::new(arrivals, requests.len())?;
        let mut states: Vec<RequestState> = requests.iter().map(state).collect();
        states.iter_mut().enumerate().for_each(|(id, state)| state.session = source.session(id));
        Ok(Self {
            replicas,
            decode_from: first.replicas as usize,
            transfer: decode.map(|(_, transfer)| transfer),
            ports: vec![0.0; first.replicas as usize * first.policy.ranks as usize],
            held: vec![None; if decode.is_some() { requests.len() } else { 0 }],
            requests,
            states,
            watch: QueueWatch::new(requests.len(), source.turns()),
            source,
            served: requests.iter().map(unserved).collect(),
            arrived: 0,
            finished: 0,
            queued: 0.0,
            held_slots: 0.0,
            counted: 0.0,
            limits,
            timeline: Timeline::new(limits.moments),
        })
    }

    pub fn run(mut self) -> Result<Outcome, SimError> {
        let mut tokens = Vec::new();
        let mut steps = 0;
        loop {
            let (index, time) = self.next_replica();
            match self.source.peek() {
                Some(arrival) if arrival <= time => self.arrive(arrival),
                arrival if time.is_finite() => {
                    let others = self.replicas.iter().enumerate().filter(|(other, _)| *other != index);
                    let until =
                        others.map(|(_, other)| other.next()).fold(arrival.unwrap_or(f64::INFINITY), smaller);
                    let before = self.replicas[index].steps;
                    let mut time = time;
                    while let Some(stretch) = self.replicas[index].decode_on(until) {
                        steps += stretch.steps;
                        if self.timeline.is_due(stretch.steps) {
                            self.timeline.push(self.moment(stretch.decided));
                        }
                        if steps > self.limits.steps {
                            return Err(SimError::StepLimit { steps, finished: self.finished });
                        }
                    }
                    let after = self.replicas[index].steps;
                    if after > before {
                        time = self.replicas[index].next();
                        // An arrival, or another replica, comes first now.
                        if time >= until {
                            continue;
                        }
                    }
                    self.count_requests(time);
                    self.replicas[index].step(&mut self.states, &mut tokens)?;
                    if self.replicas[index].steps > after {
                        steps += 1;
                        if self.timeline.is_due(1) {
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
        let times = self.replicas.iter().map(Replica::next).enumerate();
        times.fold((0, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best })
    }

    fn arrive(&mut self, time: f64) {
        self.count_requests(time);
        let id = self.source.take();
        let (due, overdue) = self.source.overdue(id, time);
        let of_decode = self.replicas[self.decode_from..].iter().any(Replica::is_full);
        self.watch.arrival(id, [due, time], self.waiting() + overdue, of_decode, self.joules());
        self.arrived += 1;
        self.served[id].arrival = time;
        let index = least_loaded(&self.replicas[..self.decode_from]);
        let replica = &mut self.replicas[index];
        replica.submit(id as u32, self.requests[id].prompt, time);
    }

    fn running(&self) -> u32 {
        self.replicas.iter().map(Replica::running).sum()
    }

    fn waiting(&self) -> u32 {
        (self.arrived as u64).saturating_sub(self.finished + u64::from(self.running())) as u32
    }

    /// Adds up who waited and who ran since the last event; decode-only steps change neither.
    fn count_requests(&mut self, time: f64) {
        let since = time - self.counted;
        self.queued += f64::from(self.waiting()) * since;
        self.held_slots += f64::from(self.running()) * since;
        self.counted = time;
    }

    fn joules(&self) -> f64 {
        self.replicas.iter().map(|replica| replica.joules).sum()
    }

    fn moment(&self, time: f64) -> Moment {
        let kv_tokens = self.replicas.iter().map(Replica::kv_taken).sum();
        Moment { time, running: self.running(), waiting: self.waiting(), kv_tokens, joules: self.joules() }
    }

    fn token(&mut self, index: usize, token: Token) {
        let id = token.id as usize;
        let seen = token.sent;
        let goes_on = index < self.decode_from && self.requests[id].output > 1;
        match (token.event, self.transfer.filter(|_| goes_on)) {
            (Event::Last, Some(transfer)) => self.hand_over(index, token, transfer),
            (Event::Last, None) => {
                self.served[id].last = seen;
                self.finished += 1;
                self.source.ended(id, seen);
            }
            (Event::First, _) => self.served[id].first = seen,
            (Event::Joined, _) => {
                if let Some((index, rank)) = self.held.get_mut(id).and_then(Option::take) {
                    self.replicas[index].release(rank, self.requests[id].prompt, token.at);
                }
                self.first_at(id, seen, FirstToken::Slot);
            }
            (Event::Stepped, _) => self.first_at(id, seen, FirstToken::Step),
        }
    }

    /// The client's first token, if delivered this way.
    fn first_at(&mut self, id: usize, seen: f64, how: FirstToken) {
        if self.transfer.is_some_and(|transfer| transfer.first_token == how) {
            self.served[id].first = seen;
        }
    }

    /// Transfers a prompt's KV cache to its decode replica.
    fn hand_over(&mut self, from: usize, token: Token, transfer: Transfer) {
        let id = token.id as usize;
        let Request { prompt, output, .. } = self.requests[id];
        let sent = if transfer.by_chunk { token.chunk } else { prompt };
        let port = from * self.replicas[from].policy.ranks as usize + token.rank as usize;
        let sent = token.at.max(self.ports[port]) + transfer.seconds_per_token * f64::from(sent);
        self.ports[port] = sent;
        let there = sent + transfer.seconds;
        self.replicas[from].keep(token.rank, prompt);
        self.held[id] = Some((from, token.rank));
        let index = least_loaded(&self.replicas[self.decode_from..]) + self.decode_from;
        let replica = &mut self.replicas[index];
        self.states[id] = RequestState {
            generated: if transfer.first_token == FirstToken::Step { 0 } else { 1 },
            filled: prompt,
            last: match transfer.first_token {
                FirstToken::Prefill => token.at,
                FirstToken::Slot => f64::INFINITY,
                FirstToken::Step => f64::NAN,
            },
            // Entries in the prefill replica become stale.
            epoch: self.states[id].epoch,
            session: self.states[id].session,
            ..RequestState::new(prompt, output)
        };
        replica.submit(token.id, prompt, there);
    }

    fn finish(self) -> Result<Outcome, SimError> {
        if self.finished < self.requests.len() as u64 {
            let unfinished = |served: &FinishedRequest| served.last <= 0.0;
            let request = self.served.iter().position(unfinished).unwrap_or_default();
            return Err(SimError::Stuck { request });
        }
        let joules = self.joules();
        let second_half = self.watch.second_half();
        let (mut counts, mut gaps) = (Counts::default(), Gaps::default());
        for replica in self.replicas {
            counts.add(replica.counts());
            gaps.append(replica.gaps);
        }
        let saturation = if self.source.is_open() { self.watch.verdict(&self.served) } else { None };
        Ok(Outcome {
            requests: self.served,
            each: 1.0,
            gaps,
            counts,
            timeline: self.timeline.into_moments(),
            joules,
            second_half,
            queued: self.queued,
            held_slots: self.held_slots,
            saturation,
        })
    }
}

fn least_loaded(replicas: &[Replica]) -> usize {
    match replicas {
        [_] => 0,
        _ => (0..replicas.len()).min_by_key(|&index| replicas[index].load()).unwrap_or_default(),
    }
}
