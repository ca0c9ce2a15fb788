//! What one rank does in its next step.

use std::cmp::Reverse;

use crate::config::Batching;

use super::Chunk;
use super::admission::Claims;
use super::crew::Life;
use super::job::Job;
use super::policy::{Policy, Preempt};
use super::rank::Rank;

/// Decode steps for which SGLang makes room when it has to retract (`retract_decode_steps`).
const RETRACT_STEPS: u64 = 20;

/// One rank's part of a batch.
#[derive(Debug, Default)]
pub(super) struct RankBatch {
    pub chunks: Vec<Chunk>,
    /// Whose they are.
    pub filling: Vec<u32>,
    pub decoding: u32,
    pub decoding_kv: u64,
    /// Requests that could start, with the tokens of their first chunk.
    pub candidates: Vec<(u32, u32)>,
}

impl RankBatch {
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.decoding == 0
    }

    fn clear(&mut self) {
        self.chunks.clear();
        self.filling.clear();
        self.candidates.clear();
        self.decoding = 0;
        self.decoding_kv = 0;
    }
}

/// One rank at the moment its lane is to be scheduled.
pub(super) struct Turn<'t> {
    pub policy: &'t Policy,
    pub rank: &'t mut Rank,
    pub lane: usize,
    pub jobs: &'t mut [Job],
    pub batch: &'t mut RankBatch,
    pub preemptions: &'t mut u64,
}

impl Turn<'_> {
    /// Decides on decode and on prompts under way, and names the requests that could start beside them.
    pub fn plan(&mut self) {
        self.batch.clear();
        self.rank.tidy(self.lane, self.jobs);
        self.join_ready();
        match self.policy.batching {
            Batching::PrefillFirst if !self.policy.mixed_chunk => self.prefill_or_decode(),
            Batching::PrefillFirst | Batching::MixedChunks | Batching::InFlight => self.decode_and_prefill(),
        }
    }

    /// Starts the candidates.
    pub fn start(&mut self) {
        for index in 0..self.batch.candidates.len() {
            let (id, tokens) = self.batch.candidates[index];
            self.rank.waiting.pop_front();
            self.rank.start(self.policy, self.lane, id, &mut self.jobs[id as usize]);
            let blocks = Rank::blocks_to_fill(self.policy, &self.jobs[id as usize], tokens);
            self.rank.free = self.rank.free.saturating_sub(blocks);
            self.add_chunk(id, tokens);
            let job = &self.jobs[id as usize];
            if job.filled < job.fill {
                self.rank.lanes[self.lane].partial.push_back(id);
            }
        }
        self.batch.candidates.clear();
    }

    /// Sequences whose KV cache came from elsewhere begin to decode.
    fn join_ready(&mut self) {
        while let Some(&id) = self.rank.waiting.front()
            && self.jobs[id as usize].is_ready()
            && self.free_slots() > 0
        {
            let job = &self.jobs[id as usize];
            if !Claims::default().admit(self.policy, self.rank, self.jobs, job, job.fill) {
                break;
            }
            self.rank.waiting.pop_front();
            let job = &mut self.jobs[id as usize];
            self.rank.start(self.policy, self.lane, id, job);
            self.rank.lanes[self.lane].crew.join(id, job);
        }
    }

    /// vLLM, TensorRT-LLM, SGLang with mixed chunks: decode, then prompts under way, then new ones, in one
    /// budget.
    fn decode_and_prefill(&mut self) {
        let before = *self.preemptions;
        self.decode();
        let decode_tokens = self.batch.decoding.saturating_mul(self.policy.drafted() + 1);
        let mut budget = self.policy.token_budget.saturating_sub(decode_tokens);
        let mut claims = Claims::default();
        let whole = budget;
        self.continue_prompts(&mut budget, &mut claims);
        let taken = decode_tokens.saturating_add(whole - budget);
        // What was just preempted for lack of room must not start over in the same step.
        if *self.preemptions == before {
            self.find_candidates(budget, self.input_left(taken), claims);
        }
    }

    /// Prompt tokens from which on no further request is taken, `taken` tokens being in the step already.
    fn input_left(&self, taken: u32) -> u32 {
        self.policy.max_prefill_tokens.map_or(u32::MAX, |most| most.saturating_sub(taken))
    }

    /// SGLang: prompts if there are any and room for them, else decode.
    fn prefill_or_decode(&mut self) {
        let before = *self.preemptions;
        let mut budget = self.policy.token_budget;
        let mut claims = Claims::default();
        self.continue_prompts(&mut budget, &mut claims);
        let taken = self.policy.token_budget - budget;
        if *self.preemptions == before {
            self.find_candidates(budget, self.input_left(taken), claims);
        }
        if self.batch.chunks.is_empty() && self.batch.candidates.is_empty() {
            self.decode();
        }
    }

    fn free_slots(&self) -> u32 {
        let slots = self.policy.slots();
        let free = slots.saturating_sub(self.rank.running);
        match self.policy.batching {
            // SGLang shares its slots out to the micro-batches.
            Batching::PrefillFirst => {
                let of_lane = slots.div_ceil(self.policy.stages);
                free.min(of_lane.saturating_sub(self.rank.lanes[self.lane].running))
            }
            Batching::MixedChunks | Batching::InFlight => free,
        }
    }

    /// `input`: prompt tokens from which on no further request is taken.
    fn find_candidates(&mut self, mut budget: u32, mut input: u32, mut claims: Claims) {
        let slots = self.free_slots() as usize;
        for &id in self.rank.waiting.iter().take(slots) {
            let job = &self.jobs[id as usize];
            if budget == 0 || input == 0 || job.is_ready() {
                break;
            }
            let cached = self.policy.cached(job.prompt);
            let left = job.fill - cached;
            // After a preemption the prompt may have outgrown the budget.
            let may_cut = self.policy.chunked || left > self.policy.token_budget;
            if left > budget && !may_cut {
                break;
            }
            let tokens = left.min(budget);
            if !claims.admit(self.policy, self.rank, self.jobs, job, cached + tokens) {
                break;
            }
            self.batch.candidates.push((id, tokens));
            budget -= tokens;
            input = input.saturating_sub(tokens);
        }
    }

    fn continue_prompts(&mut self, budget: &mut u32, claims: &mut Claims) {
        let mut index = 0;
        while *budget > 0
            && let Some(&id) = self.rank.lanes[self.lane].partial.get(index)
        {
            let job = &self.jobs[id as usize];
            let tokens = self.affordable(job, (job.fill - job.filled).min(*budget));
            let blocks = Rank::blocks_to_fill(self.policy, job, tokens);
            if tokens == 0 || blocks > self.rank.free {
                // The youngest prompt under way gives way, this one if it is itself the youngest.
                let spared = self.rank.spared(self.jobs);
                let youngest = self.rank.lanes[self.lane].partial.back().copied();
                let youngest = youngest.filter(|&id| Some(id) != spared);
                match (self.policy.preempt, youngest) {
                    (Preempt::Recompute, Some(youngest)) => self.preempt(youngest),
                    _ => index += 1,
                }
                continue;
            }
            self.rank.free -= blocks;
            let ends = job.filled + tokens == job.fill;
            claims.continue_prompt(job, tokens, ends);
            self.add_chunk(id, tokens);
            *budget -= tokens;
            if ends {
                self.rank.lanes[self.lane].partial.remove(index);
            } else {
                index += 1;
            }
        }
    }

    /// `tokens`, or what SGLang cuts a chunk to when fewer are free.
    fn affordable(&self, job: &Job, tokens: u32) -> u32 {
        if matches!(self.policy.preempt, Preempt::Recompute | Preempt::Never) {
            return tokens;
        }
        let block = u64::from(self.policy.kv_block);
        let slack = u64::from(job.filled).next_multiple_of(block) - u64::from(job.filled);
        let room = slack + self.rank.free * block;
        tokens.min(u32::try_from(room).unwrap_or(u32::MAX))
    }

    fn add_chunk(&mut self, id: u32, tokens: u32) {
        let job = &mut self.jobs[id as usize];
        self.batch.chunks.push(Chunk { new: tokens, past: job.filled });
        self.batch.filling.push(id);
        job.filled += tokens;
    }

    /// Takes KV blocks for the next token of all that decode, and lets them decode if that succeeds.
    fn decode(&mut self) {
        if !self.make_room() {
            return;
        }
        let crew = &self.rank.lanes[self.lane].crew;
        self.batch.decoding = crew.count;
        self.batch.decoding_kv = crew.kv() + u64::from(crew.count);
        if crew.count > 0 {
            self.rank.lower_share(self.policy.preempt);
        }
    }

    fn make_room(&mut self) -> bool {
        if self.policy.preempt == Preempt::Never {
            return true;
        }
        let mut retracted = false;
        loop {
            let crew = &self.rank.lanes[self.lane].crew;
            let blocks = crew.blocks_for(crew.next_gain());
            let spare = u64::from(crew.count) * RETRACT_STEPS;
            let enough = blocks <= self.rank.free
                && (!retracted
                    || crew.count < 2
                    || self.rank.free * u64::from(self.policy.kv_block) >= spare);
            if enough {
                self.rank.free -= blocks;
                if retracted {
                    self.raise_share();
                }
                return true;
            }
            let Some(victim) = self.victim() else { return false };
            retracted = self.policy.preempt != Preempt::Recompute;
            self.preempt(victim);
        }
    }

    fn victim(&mut self) -> Option<u32> {
        let spared = self.rank.spared(self.jobs);
        let lane = &mut self.rank.lanes[self.lane];
        if self.policy.preempt == Preempt::Recompute {
            return lane.latest(self.jobs, spared);
        }
        if lane.crew.count < 2 {
            return lane.partial.back().copied().filter(|&id| Some(id) != spared);
        }
        let order = |life: &Life| {
            let job = &self.jobs[life.id as usize];
            (lane.crew.generated(job), Reverse(job.prompt), Reverse(life.id))
        };
        lane.crew.lives().filter(|life| Some(life.id) != spared).min_by_key(order).map(|life| life.id)
    }

    fn preempt(&mut self, id: u32) {
        self.rank.preempt(self.policy, self.lane, id, self.jobs);
        *self.preemptions += 1;
    }

    /// After a retraction SGLang keeps free what the outputs so far let it expect.
    fn raise_share(&mut self) {
        if !matches!(self.policy.preempt, Preempt::Retract { .. }) {
            return;
        }
        let crew = &self.rank.lanes[self.lane].crew;
        let (mut made, mut asked) = (0.0, 0.0);
        for life in crew.lives() {
            let job = &self.jobs[life.id as usize];
            made += f64::from(crew.generated(job)) + RETRACT_STEPS as f64;
            asked += f64::from(job.target);
        }
        if asked > 0.0 {
            self.rank.share = f64::min(made / asked, 1.0);
        }
    }
}
