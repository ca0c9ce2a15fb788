//! One replica: reads requests, schedules steps, and emits tokens.

mod intake;
mod shortcut;
mod stream;
mod waiting;

use std::collections::VecDeque;

use super::hand_over::{Event, Token};
use super::outcome::Counts;
use super::policy::{Policy, padded};
use super::rank::Rank;
use super::request::RequestState;
use super::scheduled::Scheduled;
use super::{Chunk, Gaps, SimError, Spent, StepCost};
use crate::config::catalog::numbers::sglang::constants as sglang;
use crate::units::{larger, smaller};
use stream::Stream;

pub(super) struct Replica<'a> {
    pub policy: &'a Policy,
    cost: &'a dyn StepCost,
    pub(super) ranks: Vec<Rank<'a>>,
    /// Unread requests by the time the scheduler can see them, ascending.
    unread: VecDeque<(f64, u32)>,
    /// Micro-batches in flight with the end of their step, in order.
    in_flight: VecDeque<(usize, f64)>,
    idle: VecDeque<usize>,
    /// When each pipeline stage becomes free.
    stages: Vec<f64>,
    pub(super) now: f64,
    /// Start of the last step.
    began: f64,
    /// Nothing could be scheduled last time.
    pub(super) stalled: bool,
    receive_count: u32,
    /// When the API server can take the next request.
    frontend_free: f64,
    /// Start of the API server's current group of requests, and its size.
    together: (f64, u32),
    pub(super) stream: Stream,
    /// How long the last step of the shortcut took; infinite before the first.
    pace: f64,
    /// The last count of decoding sequences, and its graph size.
    graph: (u32, u32),
    /// Steps that prompts have been held back, by rule.
    held: u32,
    unbalanced: u32,
    gathered: u32,
    pub steps: u64,
    prompt_steps: u64,
    /// Energy of its steps so far, beyond idle power.
    pub joules: f64,
    pub gaps: Gaps,
}

impl<'a> Replica<'a> {
    pub fn new(policy: &'a Policy, cost: &'a dyn StepCost) -> Self {
        let stages = policy.stages as usize;
        Self {
            policy,
            cost,
            ranks: (0..policy.ranks).map(|_| Rank::new(policy)).collect(),
            unread: VecDeque::new(),
            in_flight: VecDeque::new(),
            idle: (0..stages).collect(),
            stages: vec![0.0; stages],
            now: 0.0,
            began: 0.0,
            stalled: false,
            receive_count: 0,
            frontend_free: 0.0,
            together: (f64::NEG_INFINITY, 0),
            stream: Stream::new(policy.stream_interval, policy.stream_queues),
            pace: f64::INFINITY,
            graph: (0, 0),
            held: 0,
            unbalanced: 0,
            gathered: 0,
            steps: 0,
            prompt_steps: 0,
            joules: 0.0,
            gaps: Gaps::default(),
        }
    }

    /// Unfinished requests here.
    pub fn load(&self) -> usize {
        self.unread.len() + self.ranks.iter().map(Rank::load).sum::<usize>()
    }

    /// Whether its last decision could not start every request that it had read.
    pub fn is_full(&self) -> bool {
        self.ranks.iter().any(|rank| !rank.waiting.is_empty())
    }

    pub fn running(&self) -> u32 {
        self.ranks.iter().map(|rank| rank.running).sum()
    }

    /// Tokens of allocated KV blocks.
    pub fn kv_taken(&self) -> u64 {
        let taken = |rank: &Rank| self.policy.blocks() - rank.free;
        self.ranks.iter().map(taken).sum::<u64>() * u64::from(self.policy.kv_block)
    }

    pub fn counts(&self) -> Counts {
        Counts {
            steps: self.steps,
            prompt_steps: self.prompt_steps,
            preemptions: self.preemptions(),
            found: self.ranks.iter().map(|rank| rank.found).sum(),
        }
    }

    fn preemptions(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.preemptions).sum()
    }

    /// Time of the next event here, in seconds; infinite if none without a new arrival.
    pub fn next(&self) -> f64 {
        let done = self.in_flight.front().map_or(f64::INFINITY, |batch| batch.1);
        smaller(done, self.next_decision())
    }

    fn next_decision(&self) -> f64 {
        if self.idle.is_empty() {
            return f64::INFINITY;
        }
        let ready =
            if !self.stalled && self.has_work() { self.now } else { larger(self.next_request(), self.now) };
        larger(ready, self.stages[0])
    }

    /// When the next request that cannot be scheduled now can be.
    fn next_request(&self) -> f64 {
        let unread = self.unread.front().map_or(f64::INFINITY, |unread| unread.0);
        let read = self.ranks.iter().filter_map(|rank| rank.reading.front());
        read.fold(unread, |first, &(time, _)| smaller(first, time))
    }

    fn has_work(&self) -> bool {
        self.ranks.iter().any(|rank| rank.has_work(&self.idle))
    }

    /// Processes the next event; new tokens are appended to `tokens`.
    ///
    /// # Errors
    /// If the cost is not a time.
    pub fn step(&mut self, requests: &mut [RequestState], tokens: &mut Vec<Token>) -> Result<(), SimError> {
        let decision = self.next_decision();
        match self.in_flight.front() {
            Some(&(micro, end)) if end <= decision => {
                self.in_flight.pop_front();
                self.complete(micro, end, requests, tokens);
                Ok(())
            }
            _ => {
                self.now = decision;
                self.decide(requests, tokens)
            }
        }
    }

    fn decide(&mut self, requests: &mut [RequestState], tokens: &mut Vec<Token>) -> Result<(), SimError> {
        self.read();
        loop {
            let before = self.preemptions();
            for _ in 0..self.idle.len() {
                let Some(micro) = self.idle.pop_front() else { break };
                self.plan(micro, requests);
                self.joined(micro, tokens);
                if self.scheduled(micro).all(Scheduled::is_empty) {
                    self.idle.push_back(micro);
                } else {
                    self.stalled = false;
                    return self.launch(micro);
                }
            }
            // An earlier micro-batch may use what a later one gave up.
            let freed = self.preemptions() > before;
            if !freed && (!self.in_flight.is_empty() || !self.unblock(requests)) {
                break;
            }
        }
        self.stalled = true;
        self.ranks.iter_mut().filter(|rank| rank.running == 0).for_each(Rank::reset_share);
        Ok(())
    }

    /// The work of each rank in a micro-batch's step.
    fn scheduled(&self, micro: usize) -> impl Iterator<Item = &Scheduled> {
        self.ranks.iter().map(move |rank| &rank.micro_batches[micro].scheduled)
    }

    /// Preempts one sequence if several micro-batches hold all memory and none can proceed.
    fn unblock(&mut self, requests: &mut [RequestState]) -> bool {
        for rank in &mut self.ranks {
            let spared = rank.spared(requests);
            for &micro in self.idle.iter().rev() {
                if let Some(id) = rank.micro_batches[micro].latest(requests, spared) {
                    rank.preempt(micro, id, requests);
                    return true;
                }
            }
        }
        false
    }

    /// Reads arrived requests and sends each to the least loaded rank.
    fn read(&mut self) {
        let idle = self.stalled || !self.has_work();
        if !idle && self.receive_count < self.policy.receive_interval {
            return;
        }
        self.receive_count = 0;
        let ahead = self.policy.ahead && self.policy.stages == 1 && !idle;
        let seen = if ahead { self.began } else { self.now };
        while let Some((_, id)) = self.unread.pop_front_if(|&mut (time, _)| time <= seen) {
            if let Some(rank) = self.ranks.iter_mut().min_by_key(|rank| rank.load()) {
                rank.waiting.push_back(id);
            }
        }
        self.ranks.iter_mut().for_each(|rank| rank.end_reading(seen));
    }

    fn plan(&mut self, micro: usize, requests: &mut [RequestState]) {
        let now = self.now;
        self.ranks.iter_mut().for_each(|rank| rank.plan(micro, requests, now));
        if self.hold(micro) {
            let held = self.ranks.iter_mut().map(|rank| &mut rank.micro_batches[micro].scheduled);
            held.for_each(|scheduled| scheduled.candidates.clear());
        } else {
            self.ranks.iter_mut().for_each(|rank| rank.start_candidates(micro, requests));
        }
    }

    /// The cost of a micro-batch's step.
    fn cost_of(&mut self, micro: usize, prompts: bool) -> Spent {
        let most = self.scheduled(micro).map(|rank| rank.decoding).max().unwrap_or(0);
        let padded = if prompts { 0 } else { self.graph_size(most) };
        let drafted = self.policy.drafts.drafted;
        match self.ranks.as_slice() {
            // By far the most frequent case: no allocation.
            [rank] => self.cost.spent(&[rank.micro_batches[micro].scheduled.step(padded, drafted)]),
            _ => {
                let steps = self.scheduled(micro).map(|scheduled| scheduled.step(padded, drafted));
                self.cost.spent(&steps.collect::<Vec<_>>())
            }
        }
    }

    fn launch(&mut self, micro: usize) -> Result<(), SimError> {
        let prompts = self.scheduled(micro).any(|rank| !rank.chunks.is_empty());
        let Spent { seconds, joules } = self.cost_of(micro, prompts);
        self.joules += joules;
        self.steps += 1;
        self.prompt_steps += u64::from(prompts);
        if !(seconds.is_finite() && seconds >= 0.0) {
            return Err(SimError::StepTime { step: self.steps });
        }
        self.began = self.now;
        let part = seconds / self.stages.len() as f64;
        let mut end = self.now;
        for free in &mut self.stages {
            end = larger(end, *free) + part;
            *free = end;
        }
        self.in_flight.push_back((micro, end));
        let counts = if prompts { sglang().prefill_receive_count as u32 } else { 1 };
        self.receive_count = self.receive_count.saturating_add(counts);
        Ok(())
    }

    /// [`padded`]: most steps have as many sequences as the last.
    fn graph_size(&mut self, decoding: u32) -> u32 {
        if self.graph.0 != decoding {
            self.graph = (decoding, padded(&self.policy.graph_sizes, decoding));
        }
        self.graph.1
    }

    fn complete(&mut self, micro: usize, end: f64, requests: &mut [RequestState], tokens: &mut Vec<Token>) {
        self.now = end;
        self.stalled = false;
        self.idle.push_back(micro);
        let earlier = tokens.len();
        let mut streamed = 0;
        for (index, rank) in self.ranks.iter_mut().enumerate() {
            let token = |id, event, chunk| Token { id, at: end, sent: end, event, rank: index as u32, chunk };
            streamed += rank.micro_batches[micro].scheduled.decoding;
            if rank.micro_batches[micro].scheduled.decoding > 0 {
                let batch = &mut rank.micro_batches[micro];
                tokens.extend(batch.fresh.drain(..).map(|id| token(id, Event::Stepped, 0)));
                rank.micro_batches[micro].decoding.advance(1, end, 0.0, &mut self.gaps);
                while let Some(id) = rank.micro_batches[micro].decoding.pop_ended(requests) {
                    let request = &mut requests[id as usize];
                    let kv = rank.micro_batches[micro].decoding.kv_of(request);
                    request.generated = request.target;
                    rank.end(micro, request, kv);
                    tokens.push(token(id, Event::Last, 0));
                }
            }
            for index in 0..rank.micro_batches[micro].scheduled.prefilling.len() {
                let scheduled = &rank.micro_batches[micro].scheduled;
                let (id, Chunk { new: chunk, past }) = (scheduled.prefilling[index], scheduled.chunks[index]);
                let request = &mut requests[id as usize];
                // Later chunks may be in the pipeline already.
                if past + chunk < request.fill {
                    continue;
                }
                if request.generated == 0 {
                    tokens.push(token(id, Event::First, chunk));
                } else {
                    self.gaps.add(end - request.last, 1);
                }
                streamed += 1;
                request.generated += 1;
                request.last = end;
                if request.left() == 0 {
                    rank.end(micro, request, u64::from(request.fill));
                    tokens.push(token(id, Event::Last, chunk));
                } else {
                    rank.micro_batches[micro].decoding.join(id, request);
                }
            }
        }
        let sent = self.stream.sent(end, streamed);
        tokens.iter_mut().skip(earlier).for_each(|token| token.sent = sent);
        self.stream.send(end, 0.0, 1, streamed);
    }
}
