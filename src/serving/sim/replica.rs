//! One replica: reads requests, schedules steps, and says when tokens come out.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use super::job::Job;
use super::outcome::Counts;
use super::policy::Policy;
use super::rank::Rank;
use super::turn::{RankBatch, Turn};
use super::{Gaps, SimError, StepCost, StepLoad};

/// What SGLang's receive counter gains by a step with prompts.
const PREFILL_STEP_COUNTS: u32 = 1000;

/// A request's first or last token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub id: u32,
    /// End of the step that made it, in seconds.
    pub at: f64,
    pub last: bool,
}

/// A time that can be ordered.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Time(f64);
impl Eq for Time {}
impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Time {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

pub(super) struct Replica<'a> {
    pub policy: &'a Policy,
    cost: &'a dyn StepCost,
    pub ranks: Vec<Rank>,
    /// What the scheduler has not read yet, by the time it can see it.
    unread: BinaryHeap<Reverse<(Time, u32)>>,
    /// The batch of each lane, by rank.
    batches: Vec<Vec<RankBatch>>,
    /// Lanes whose batch is under way, with its end; in order.
    in_flight: VecDeque<(usize, f64)>,
    idle: VecDeque<usize>,
    /// When each pipeline stage is free again.
    stages: Vec<f64>,
    now: f64,
    /// When the last step began.
    began: f64,
    /// Nothing could be scheduled at the last try.
    stalled: bool,
    receive_count: u32,
    /// Steps that prompts have been held back, by rule.
    held: u32,
    unbalanced: u32,
    gathered: u32,
    pub counts: Counts,
    pub gaps: Gaps,
}

impl<'a> Replica<'a> {
    pub fn new(policy: &'a Policy, cost: &'a dyn StepCost) -> Self {
        let lanes = policy.stages as usize;
        let batch = || (0..policy.ranks).map(|_| RankBatch::default()).collect();
        Self {
            policy,
            cost,
            ranks: (0..policy.ranks).map(|_| Rank::new(policy)).collect(),
            unread: BinaryHeap::new(),
            batches: (0..lanes).map(|_| batch()).collect(),
            in_flight: VecDeque::new(),
            idle: (0..lanes).collect(),
            stages: vec![0.0; lanes],
            now: 0.0,
            began: 0.0,
            stalled: false,
            receive_count: 0,
            held: 0,
            unbalanced: 0,
            gathered: 0,
            counts: Counts::default(),
            gaps: Gaps::default(),
        }
    }

    /// `id` arrives where the scheduler can see it at `visible` seconds.
    pub fn submit(&mut self, id: u32, visible: f64) {
        self.unread.push(Reverse((Time(visible), id)));
    }

    /// Requests here that have not ended.
    pub fn load(&self) -> usize {
        let inside = |rank: &Rank| rank.waiting.len() + rank.running as usize;
        self.unread.len() + self.ranks.iter().map(inside).sum::<usize>()
    }

    pub fn running(&self) -> u32 {
        self.ranks.iter().map(|rank| rank.running).sum()
    }

    /// Tokens of KV blocks taken.
    pub fn kv_taken(&self) -> u64 {
        let taken = |rank: &Rank| self.policy.blocks() - rank.free;
        self.ranks.iter().map(taken).sum::<u64>() * u64::from(self.policy.kv_block)
    }

    /// When something happens here next, in seconds; infinite if nothing will unless a request arrives.
    pub fn next(&self) -> f64 {
        let done = self.in_flight.front().map_or(f64::INFINITY, |batch| batch.1);
        done.min(self.next_decision())
    }

    fn next_decision(&self) -> f64 {
        if self.idle.is_empty() {
            return f64::INFINITY;
        }
        let ready = if !self.stalled && self.has_work() {
            self.now
        } else {
            self.unread.peek().map_or(f64::INFINITY, |Reverse((time, _))| time.0.max(self.now))
        };
        ready.max(self.stages[0])
    }

    fn has_work(&self) -> bool {
        let waits = |rank: &Rank| !rank.waiting.is_empty();
        let runs = |rank: &Rank| self.idle.iter().any(|&lane| rank.lanes[lane].has_work());
        self.ranks.iter().any(|rank| waits(rank) || runs(rank))
    }

    /// Lets the next thing happen; tokens are added to `tokens`.
    ///
    /// # Errors
    /// Where the cost is no time.
    pub fn step(&mut self, jobs: &mut [Job], tokens: &mut Vec<Token>) -> Result<(), SimError> {
        let decision = self.next_decision();
        match self.in_flight.front() {
            Some(&(lane, end)) if end <= decision => {
                self.in_flight.pop_front();
                self.complete(lane, end, jobs, tokens);
                Ok(())
            }
            _ => {
                self.now = decision;
                self.decide(jobs)
            }
        }
    }

    fn decide(&mut self, jobs: &mut [Job]) -> Result<(), SimError> {
        self.read();
        loop {
            let before = self.counts.preemptions;
            for _ in 0..self.idle.len() {
                let Some(lane) = self.idle.pop_front() else { break };
                self.plan(lane, jobs);
                if self.batches[lane].iter().all(RankBatch::is_empty) {
                    self.idle.push_back(lane);
                } else {
                    self.stalled = false;
                    return self.launch(lane);
                }
            }
            // What a later lane gave up an earlier one may use.
            let freed = self.counts.preemptions > before;
            if !freed && (!self.in_flight.is_empty() || !self.unblock(jobs)) {
                break;
            }
        }
        self.stalled = true;
        for rank in self.ranks.iter_mut().filter(|rank| rank.running == 0) {
            rank.reset_share(self.policy.preempt);
        }
        Ok(())
    }

    /// Preempts one sequence where the batches of several stages hold all memory and none can go on.
    fn unblock(&mut self, jobs: &mut [Job]) -> bool {
        for rank in &mut self.ranks {
            let spared = rank.spared(jobs);
            for &lane in self.idle.iter().rev() {
                if let Some(id) = rank.lanes[lane].latest(jobs, spared) {
                    rank.preempt(self.policy, lane, id, jobs);
                    self.counts.preemptions += 1;
                    return true;
                }
            }
        }
        false
    }

    /// Reads what has arrived and deals it to the ranks.
    fn read(&mut self) {
        let idle = self.stalled || !self.has_work();
        if !idle && self.receive_count < self.policy.receive_interval {
            return;
        }
        self.receive_count = 0;
        let ahead = self.policy.ahead && self.policy.stages == 1 && !idle;
        let seen = if ahead { self.began } else { self.now };
        while let Some(&Reverse((time, id))) = self.unread.peek()
            && time.0 <= seen
        {
            self.unread.pop();
            let fewest = self.ranks.iter_mut().min_by_key(|rank| rank.waiting.len() + rank.running as usize);
            if let Some(rank) = fewest {
                rank.waiting.push_back(id);
            }
        }
    }

    fn plan(&mut self, lane: usize, jobs: &mut [Job]) {
        let policy = self.policy;
        let preemptions = &mut self.counts.preemptions;
        let parts = self.ranks.iter_mut().zip(&mut self.batches[lane]);
        for (rank, batch) in parts {
            Turn { policy, rank, lane, jobs, batch, preemptions }.plan();
        }
        if self.hold(lane) {
            self.batches[lane].iter_mut().for_each(|batch| batch.candidates.clear());
            return;
        }
        let preemptions = &mut self.counts.preemptions;
        let parts = self.ranks.iter_mut().zip(&mut self.batches[lane]);
        for (rank, batch) in parts.filter(|(_, batch)| !batch.candidates.is_empty()) {
            Turn { policy, rank, lane, jobs, batch, preemptions }.start();
        }
    }

    /// Whether new prompts wait for more of them.
    fn hold(&mut self, lane: usize) -> bool {
        let batches = &self.batches[lane];
        if let Some(wait) = self.policy.balance_wait.filter(|_| self.policy.ranks > 1) {
            let all_prompts = batches.iter().all(|batch| !batch.candidates.is_empty());
            let all_decode = batches.iter().all(|batch| batch.decoding > 0);
            let free_slots = batches.iter().all(|batch| batch.decoding < self.policy.slots());
            if all_prompts && free_slots {
                self.unbalanced = 0;
                let hold = all_decode && self.gathered < wait.gather;
                self.gathered = if hold { self.gathered + 1 } else { 0 };
                return hold;
            }
            self.unbalanced += 1;
            let hold = all_decode && self.unbalanced < wait.iterations;
            self.unbalanced = if hold { self.unbalanced } else { 0 };
            return hold;
        }
        let (Some(wait), [batch]) = (self.policy.batch_wait, batches.as_slice()) else { return false };
        if batch.candidates.is_empty() || batch.decoding == 0 {
            return false;
        }
        let prompts = batch.candidates.iter().map(|candidate| candidate.1);
        let prompts: u64 = prompts.chain(batch.chunks.iter().map(|chunk| chunk.new)).map(u64::from).sum();
        let decode = u64::from(batch.decoding) * u64::from(self.policy.drafted() + 1);
        if self.held >= wait.iterations || prompts + decode >= u64::from(wait.tokens) {
            self.held = 0;
            return false;
        }
        self.held += 1;
        true
    }

    fn launch(&mut self, lane: usize) -> Result<(), SimError> {
        let batches = &self.batches[lane];
        let prompts = batches.iter().any(|batch| !batch.chunks.is_empty());
        let most = batches.iter().map(|batch| batch.decoding).max().unwrap_or(0);
        let padded = if prompts { 0 } else { self.graph_size(most) };
        let loads: Vec<StepLoad> = batches
            .iter()
            .map(|batch| StepLoad {
                chunks: &batch.chunks,
                decoding: batch.decoding.max(padded),
                decoding_kv: batch.decoding_kv,
                drafted: self.policy.drafted(),
            })
            .collect();
        let seconds = self.cost.seconds(&loads);
        self.counts.steps += 1;
        self.counts.prompt_steps += u64::from(prompts);
        if !(seconds.is_finite() && seconds >= 0.0) {
            return Err(SimError::StepTime { step: self.counts.steps });
        }
        self.began = self.now;
        let part = seconds / self.stages.len() as f64;
        let mut end = self.now;
        for free in &mut self.stages {
            end = end.max(*free) + part;
            *free = end;
        }
        self.in_flight.push_back((lane, end));
        self.receive_count = self.receive_count.saturating_add(if prompts { PREFILL_STEP_COUNTS } else { 1 });
        Ok(())
    }

    /// The size of the CUDA graph that runs `decoding` sequences; as many where none is that large.
    fn graph_size(&self, decoding: u32) -> u32 {
        let sizes = self.policy.graph_sizes.as_deref().unwrap_or_default();
        let index = sizes.partition_point(|&size| size < decoding);
        sizes.get(index).copied().unwrap_or(decoding)
    }

    fn complete(&mut self, lane: usize, end: f64, jobs: &mut [Job], tokens: &mut Vec<Token>) {
        self.now = end;
        self.stalled = false;
        self.idle.push_back(lane);
        for (rank, batch) in self.ranks.iter_mut().zip(&self.batches[lane]) {
            if batch.decoding > 0 {
                rank.lanes[lane].crew.advance(end, &mut self.gaps);
                while let Some(id) = rank.lanes[lane].crew.pop_ended(jobs) {
                    let job = &mut jobs[id as usize];
                    let kv = rank.lanes[lane].crew.kv_of(job);
                    job.generated = job.target;
                    rank.release(self.policy, lane, job, kv);
                    tokens.push(Token { id, at: end, last: true });
                }
            }
            for &id in &batch.filling {
                let job = &mut jobs[id as usize];
                if job.filled < job.fill {
                    continue;
                }
                if job.generated == 0 {
                    tokens.push(Token { id, at: end, last: false });
                } else {
                    self.gaps.add(end - job.last, 1);
                }
                job.generated += 1;
                job.last = end;
                if job.left() == 0 {
                    let kv = u64::from(job.fill);
                    rank.release(self.policy, lane, job, kv);
                    tokens.push(Token { id, at: end, last: true });
                } else {
                    rank.lanes[lane].crew.join(id, job);
                }
            }
        }
    }
}
