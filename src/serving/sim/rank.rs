//! One rank of attention data parallelism: its queue, its slots and its KV blocks.

use std::collections::VecDeque;

use super::crew::Crew;
use super::job::Job;
use super::policy::{Policy, Preempt};

/// Share of the outputs still to come that SGLang keeps free at first, and what it falls to
/// (`global_config.default_init_new_token_ratio`, `default_min_new_token_ratio_factor`).
const FIRST_SHARE: f64 = 0.7;
const LEAST_OF_FIRST: f64 = 0.14;
/// Decode steps over which it falls (`default_new_token_ratio_decay_steps`).
const SHARE_STEPS: f64 = 600.0;

/// The sequences of one batch (pipeline stages have several) on one rank.
#[derive(Debug)]
pub(super) struct Lane {
    pub crew: Crew,
    /// Prompts computed in part, oldest first.
    pub partial: VecDeque<u32>,
    /// What was started, in order, with its epoch then; entries of what has left are stale.
    started: Vec<(u32, u32)>,
    pub running: u32,
}

impl Lane {
    fn new(policy: &Policy) -> Self {
        let accepted = policy.speculation.map_or(0.0, |speculation| speculation.accepted);
        Self {
            crew: Crew::new(policy.kv_block, 1.0 + accepted),
            partial: VecDeque::new(),
            started: Vec::new(),
            running: 0,
        }
    }

    pub fn has_work(&self) -> bool {
        self.crew.count > 0 || !self.partial.is_empty()
    }

    /// What started last and still runs, other than `spared`.
    pub fn latest(&mut self, jobs: &[Job], spared: Option<u32>) -> Option<u32> {
        let runs = |&(id, epoch): &(u32, u32)| jobs[id as usize].epoch == epoch;
        while self.started.pop_if(|entry| !runs(entry)).is_some() {}
        let mut latest_first = self.started.iter().rev().filter(|entry| runs(entry)).map(|entry| entry.0);
        latest_first.find(|&id| Some(id) != spared)
    }
}

#[derive(Debug)]
pub(super) struct Rank {
    pub waiting: VecDeque<u32>,
    /// Sequences that have a slot, of all lanes.
    pub running: u32,
    /// KV blocks not taken.
    pub free: u64,
    /// Share of the outputs still to come that SGLang keeps free.
    pub share: f64,
    pub lanes: Vec<Lane>,
}

impl Rank {
    pub fn new(policy: &Policy) -> Self {
        Self {
            waiting: VecDeque::new(),
            running: 0,
            free: policy.blocks(),
            share: first_share(policy.preempt),
            lanes: (0..policy.stages).map(|_| Lane::new(policy)).collect(),
        }
    }

    /// Gives `id` a slot and the blocks of its cached tokens (all of them where they are set aside).
    pub fn start(&mut self, policy: &Policy, lane: usize, id: u32, job: &mut Job) {
        if !job.is_ready() {
            job.filled = policy.cached(job.prompt);
        }
        let blocks = match policy.preempt {
            Preempt::Never => {
                job.reserved = policy.blocks_for(policy.whole(job.prompt, job.target));
                job.reserved
            }
            _ => policy.blocks_for(u64::from(job.filled)),
        };
        self.free = self.free.saturating_sub(blocks);
        self.running += 1;
        let lane = &mut self.lanes[lane];
        lane.running += 1;
        lane.started.push((id, job.epoch));
    }

    /// The first request of those that run, where several batches share the memory: each could otherwise take
    /// it from the other for ever.
    pub fn spared(&self, jobs: &[Job]) -> Option<u32> {
        if self.lanes.len() < 2 {
            return None;
        }
        let started = self.lanes.iter().flat_map(|lane| &lane.started);
        started.filter(|&&(id, epoch)| jobs[id as usize].epoch == epoch).map(|entry| entry.0).min()
    }

    /// Forgets stale entries once they outnumber the sequences.
    pub fn tidy(&mut self, lane: usize, jobs: &[Job]) {
        let lane = &mut self.lanes[lane];
        if lane.started.len() > 64 + 4 * lane.running as usize {
            lane.started.retain(|&(id, epoch)| jobs[id as usize].epoch == epoch);
        }
    }

    /// Blocks that the next `tokens` of a started prompt take.
    pub fn blocks_to_fill(policy: &Policy, job: &Job, tokens: u32) -> u64 {
        if job.reserved > 0 {
            return 0;
        }
        let held = u64::from(job.filled);
        policy.blocks_for(held + u64::from(tokens)) - policy.blocks_for(held)
    }

    /// Frees the slot and the blocks of what ended or was preempted; `kv` is what stood in the cache.
    pub fn release(&mut self, policy: &Policy, lane: usize, job: &mut Job, kv: u64) {
        let blocks = if job.reserved > 0 { job.reserved } else { policy.blocks_for(kv) };
        self.free += blocks;
        self.running -= 1;
        self.lanes[lane].running -= 1;
        job.reserved = 0;
        job.epoch = job.epoch.wrapping_add(1);
    }

    /// Preempts `id`: its KV cache is lost, it waits first or last.
    pub fn preempt(&mut self, policy: &Policy, lane: usize, id: u32, jobs: &mut [Job]) {
        let job = &mut jobs[id as usize];
        let mut kv = u64::from(job.filled);
        if job.decoding {
            kv = self.lanes[lane].crew.kv_of(job);
            self.lanes[lane].crew.leave(id, job);
        } else {
            self.lanes[lane].partial.retain(|&other| other != id);
        }
        self.release(policy, lane, job, kv);
        job.fill = job.prompt + job.generated;
        job.filled = 0;
        match policy.preempt {
            Preempt::Recompute => self.waiting.push_front(id),
            _ => self.waiting.push_back(id),
        }
    }

    /// A decode step passed without preemption.
    pub fn lower_share(&mut self, preempt: Preempt) {
        let first = first_share(preempt);
        let least = first * LEAST_OF_FIRST;
        self.share = (self.share - (first - least) / SHARE_STEPS).max(least);
    }

    pub fn reset_share(&mut self, preempt: Preempt) {
        self.share = first_share(preempt);
    }
}

fn first_share(preempt: Preempt) -> f64 {
    match preempt {
        Preempt::Retract { conservativeness } => (FIRST_SHARE * conservativeness).min(1.0),
        _ => 0.0,
    }
}
