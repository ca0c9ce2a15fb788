//! One attention data parallel rank: its queue, slots and KV blocks.

use std::collections::VecDeque;

use super::decoding::DecodeBatch;
use super::policy::{Policy, Preempt};
use super::preemption::first_share;
use super::prefixes::Prefixes;
use super::request::RequestState;
use super::scheduled::Scheduled;

/// The sequences of one micro-batch (one per pipeline stage) on a rank.
#[derive(Debug)]
pub(super) struct MicroBatch {
    pub decoding: DecodeBatch,
    /// Partially computed prompts, oldest first.
    pub partial: VecDeque<u32>,
    /// Started requests in order, with their epoch; entries of requests that left are stale.
    pub started: Vec<(u32, u32)>,
    pub running: u32,
    /// Sequences that arrived with their KV cache: those of the last decision, and all without a step here.
    pub joined: Vec<u32>,
    pub fresh: Vec<u32>,
    /// The micro-batch's next step, or the current one.
    pub scheduled: Scheduled,
}

impl MicroBatch {
    fn new(policy: &Policy) -> Self {
        Self {
            decoding: DecodeBatch::new(policy.kv_block, 1.0 + policy.drafts.accepted),
            partial: VecDeque::new(),
            started: Vec::new(),
            running: 0,
            joined: Vec::new(),
            fresh: Vec::new(),
            scheduled: Scheduled::default(),
        }
    }

    /// The most recently started one still running, other than `spared`.
    pub fn latest(&mut self, requests: &[RequestState], spared: Option<u32>) -> Option<u32> {
        let runs = |&(id, epoch): &(u32, u32)| requests[id as usize].epoch == epoch;
        while self.started.pop_if(|entry| !runs(entry)).is_some() {}
        let mut latest_first = self.started.iter().rev().filter(|entry| runs(entry)).map(|entry| entry.0);
        latest_first.find(|&id| Some(id) != spared)
    }

    /// Drops stale entries once they outnumber the sequences.
    pub fn tidy(&mut self, requests: &[RequestState]) {
        if self.started.len() > 64 + 4 * self.running as usize {
            self.started.retain(|&(id, epoch)| requests[id as usize].epoch == epoch);
        }
    }
}

#[derive(Debug)]
pub(super) struct Rank<'a> {
    pub policy: &'a Policy,
    pub waiting: VecDeque<u32>,
    /// Requests whose history is being read from the host, by the time that is done, ascending.
    pub reading: VecDeque<(f64, u32)>,
    /// Sequences with a slot, over all micro-batches.
    pub running: u32,
    /// Free KV blocks.
    pub free: u64,
    /// Session prefixes within those.
    pub prefixes: Prefixes,
    /// The sessions' blocks in the host's memory.
    pub host: Prefixes,
    /// Fraction of the outstanding outputs that SGLang keeps free.
    pub share: f64,
    pub micro_batches: Vec<MicroBatch>,
    pub preemptions: u64,
    /// Prompt tokens found in the prefix cache.
    pub found: u64,
}

impl<'a> Rank<'a> {
    pub fn new(policy: &'a Policy) -> Self {
        Self {
            policy,
            waiting: VecDeque::new(),
            reading: VecDeque::new(),
            running: 0,
            free: policy.blocks(),
            prefixes: Prefixes::default(),
            host: Prefixes::default(),
            share: first_share(policy.preempt),
            micro_batches: (0..policy.stages).map(|_| MicroBatch::new(policy)).collect(),
            preemptions: 0,
            found: 0,
        }
    }

    /// Unfinished requests here.
    pub fn load(&self) -> usize {
        self.waiting.len() + self.reading.len() + self.running as usize
    }

    /// Whether these idle micro-batches may have a step: prompts in progress go on in any of them.
    pub fn has_work(&self, idle: &VecDeque<usize>) -> bool {
        let decodes = idle.iter().any(|&micro| self.micro_batches[micro].decoding.count > 0);
        let fills = || self.micro_batches.iter().any(|batch| !batch.partial.is_empty());
        decodes || !self.waiting.is_empty() || fills()
    }

    /// Gives `id` a slot and the blocks of its cached tokens (all blocks if reserved).
    pub fn start(&mut self, micro: usize, id: u32, request: &mut RequestState) {
        if !request.is_ready() {
            request.filled = self.cached(request);
            self.found += if request.fill == request.prompt { u64::from(request.filled) } else { 0 };
            request.read = 0;
            request.session.into_iter().for_each(|session| self.prefixes.take(session));
        }
        let blocks = match self.policy.preempt {
            Preempt::Never => {
                request.reserved = self.policy.blocks_for(self.policy.whole(request.prompt, request.target));
                request.reserved
            }
            _ => self.policy.blocks_for(u64::from(request.filled)),
        };
        self.take(blocks);
        self.running += 1;
        let micro = &mut self.micro_batches[micro];
        micro.running += 1;
        micro.started.push((id, request.epoch));
    }

    /// Allocates KV blocks, evicting idle sessions.
    pub fn take(&mut self, blocks: u64) {
        self.free = self.free.saturating_sub(blocks);
        self.prefixes.give_way(self.free);
    }

    /// Prompt tokens of a waiting request that need not be computed.
    pub fn cached(&self, request: &RequestState) -> u32 {
        let found = request.found.min(request.prompt.saturating_sub(1));
        self.policy.cached(request.prompt, request.fill, self.kept(request)).max(found)
    }

    /// Blocks that a waiting request finds of its session's earlier turns.
    pub fn kept(&self, request: &RequestState) -> u64 {
        self.prefixes.blocks_of(request.session).max(request.read)
    }

    /// Whether the KV cache holds earlier turns of the request's session, or its own from before a preemption.
    pub fn resumes(&self, request: &RequestState) -> bool {
        self.policy.history_cached > 0.0 && self.kept(request) > 0
    }

    /// Blocks needed for the next `tokens` of a started prompt.
    pub fn blocks_to_fill(&self, request: &RequestState, tokens: u32) -> u64 {
        if request.reserved > 0 {
            return 0;
        }
        let held = u64::from(request.filled);
        self.policy.blocks_for(held + u64::from(tokens)) - self.policy.blocks_for(held)
    }

    /// Frees a finished request; whole blocks of its `kv` cached tokens stay for the session's next turn.
    pub fn end(&mut self, micro: usize, request: &mut RequestState, kv: u64) {
        self.release(micro, request, kv);
        if let Some(session) = request.session {
            let blocks = kv / u64::from(self.policy.kv_block.max(1));
            self.prefixes.keep(session, blocks);
            self.write_to_host(session, blocks);
        }
    }

    /// Frees slot and blocks of a finished or preempted request; `kv` are its cached tokens.
    pub fn release(&mut self, micro: usize, request: &mut RequestState, kv: u64) {
        let blocks = if request.reserved > 0 { request.reserved } else { self.policy.blocks_for(kv) };
        self.free += blocks;
        self.running -= 1;
        self.micro_batches[micro].running -= 1;
        request.reserved = 0;
        request.epoch = request.epoch.wrapping_add(1);
    }
}
