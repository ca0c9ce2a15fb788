//! Decides one rank's work in its next step.

use std::cmp::Reverse;

use crate::config::Batching;

use super::admission::Claims;
use super::decoding::Remaining;
use super::policy::Preempt;
use super::rank::{MicroBatch, Rank};
use super::request::RequestState;
use super::sglang::constants as sglang;
use super::{Chunk, Gaps, RankStep};

/// One rank's part of a step.
#[derive(Debug, Default)]
pub(super) struct Scheduled {
    pub chunks: Vec<Chunk>,
    /// The requests they belong to.
    pub prefilling: Vec<u32>,
    /// How many of them begin, with no earlier turn of their session in the KV cache.
    begun: u32,
    pub decoding: u32,
    pub decoding_kv: u64,
    /// KV blocks that decoding takes in a shortcut step.
    blocks: u64,
    /// Requests that could start, with the tokens of their first chunk.
    pub candidates: Vec<(u32, u32)>,
}

impl Scheduled {
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.decoding == 0
    }

    /// The step as the cost model sees it, decoding padded to at least `padded` sequences.
    pub fn step(&self, padded: u32, drafted: u32) -> RankStep<'_> {
        let &Self { ref chunks, begun, decoding, decoding_kv, .. } = self;
        RankStep { chunks, begun, decoding: decoding.max(padded), decoding_kv, drafted }
    }

    fn clear(&mut self) {
        self.chunks.clear();
        self.prefilling.clear();
        self.candidates.clear();
        self.begun = 0;
        self.decoding = 0;
        self.decoding_kv = 0;
    }
}

impl Rank<'_> {
    /// Schedules decode and prompts in progress for a micro-batch's next step, and finds requests that could start
    /// in addition.
    pub fn plan(&mut self, micro: usize, requests: &mut [RequestState], now: f64) {
        let batch = &mut self.micro_batches[micro];
        batch.scheduled.clear();
        batch.tidy(requests);
        self.join_ready(micro, requests, now);
        self.fetch_histories(micro, requests, now);
        match self.policy.batching {
            Batching::PrefillFirst if !self.policy.mixed_chunk => self.prefill_or_decode(micro, requests),
            Batching::PrefillFirst | Batching::MixedChunks | Batching::InFlight => {
                self.decode_and_prefill(micro, requests);
            }
        }
    }

    /// Starts the candidates.
    pub fn start_candidates(&mut self, micro: usize, requests: &mut [RequestState]) {
        for index in 0..self.micro_batches[micro].scheduled.candidates.len() {
            let (id, tokens) = self.micro_batches[micro].scheduled.candidates[index];
            let request = &mut requests[id as usize];
            self.waiting.pop_front();
            let begins = !self.resumes(request);
            self.micro_batches[micro].scheduled.begun += u32::from(begins);
            self.start(micro, id, request);
            self.take(self.blocks_to_fill(request, tokens));
            self.add_chunk(micro, id, request, tokens);
            if request.filled < request.fill {
                self.micro_batches[micro].partial.push_back(id);
            }
        }
        self.micro_batches[micro].scheduled.candidates.clear();
    }

    /// Sequences with a KV cache from elsewhere start to decode.
    fn join_ready(&mut self, micro: usize, requests: &mut [RequestState], now: f64) {
        while let Some(&id) = self.waiting.front()
            && requests[id as usize].is_ready()
            && self.free_slots(micro) > 0
        {
            let request = &requests[id as usize];
            if !Claims::default().admit(self, requests, request, request.fill) {
                break;
            }
            self.waiting.pop_front();
            let request = &mut requests[id as usize];
            self.start(micro, id, request);
            if request.last == f64::INFINITY {
                request.last = now;
            }
            let batch = &mut self.micro_batches[micro];
            batch.decoding.join(id, request);
            batch.joined.push(id);
            batch.fresh.push(id);
        }
    }

    /// vLLM, TensorRT-LLM, SGLang with mixed chunks: decode, then prompts in progress, then new ones, in one
    /// budget.
    fn decode_and_prefill(&mut self, micro: usize, requests: &mut [RequestState]) {
        let before = self.preemptions;
        self.decode(micro, requests);
        let decoding = self.micro_batches[micro].scheduled.decoding;
        let decode_tokens = decoding.saturating_mul(self.policy.drafts.drafted + 1);
        let mut budget = self.policy.token_budget.saturating_sub(decode_tokens);
        let mut claims = Claims::default();
        let whole = budget;
        self.continue_prompts(micro, requests, &mut budget, &mut claims);
        let taken = decode_tokens.saturating_add(whole - budget);
        // A request just preempted for lack of memory must not restart in the same step.
        if self.preemptions == before {
            self.find_candidates(micro, requests, budget, taken, claims);
        }
    }

    /// SGLang: prompts if there are any and they fit, else decode.
    fn prefill_or_decode(&mut self, micro: usize, requests: &mut [RequestState]) {
        let before = self.preemptions;
        let mut budget = self.policy.token_budget;
        let mut claims = Claims::default();
        self.continue_prompts(micro, requests, &mut budget, &mut claims);
        if self.preemptions == before {
            let taken = self.policy.token_budget - budget;
            self.find_candidates(micro, requests, budget, taken, claims);
        }
        let scheduled = &self.micro_batches[micro].scheduled;
        if scheduled.chunks.is_empty() && scheduled.candidates.is_empty() {
            self.decode(micro, requests);
        }
    }

    pub fn free_slots(&self, micro: usize) -> u32 {
        let slots = self.policy.slots();
        let free = slots.saturating_sub(self.running);
        match self.policy.batching {
            // SGLang divides its slots among the micro-batches.
            Batching::PrefillFirst => {
                let own = slots.div_ceil(self.policy.stages);
                free.min(own.saturating_sub(self.micro_batches[micro].running))
            }
            Batching::MixedChunks | Batching::InFlight => free,
        }
    }

    /// Chooses waiting requests within `budget` tokens; `taken` tokens are already in the step.
    fn find_candidates(
        &mut self,
        micro: usize,
        requests: &[RequestState],
        mut budget: u32,
        taken: u32,
        mut claims: Claims,
    ) {
        // Prompt tokens at which no further request is taken.
        let mut input = self.policy.max_prefill_tokens.map_or(u32::MAX, |most| most.saturating_sub(taken));
        let mut candidates = std::mem::take(&mut self.micro_batches[micro].scheduled.candidates);
        for &id in self.waiting.iter().take(self.free_slots(micro) as usize) {
            let request = &requests[id as usize];
            if budget == 0 || input == 0 || request.is_ready() || self.only_on_host(request) > 0 {
                break;
            }
            let cached = self.cached(request);
            let left = request.fill - cached;
            // After a preemption the prompt may exceed the budget.
            let divisible = self.policy.chunked || left > self.policy.token_budget;
            if left > budget && !divisible {
                break;
            }
            let tokens = left.min(budget);
            if !claims.admit(self, requests, request, cached + tokens) {
                break;
            }
            candidates.push((id, tokens));
            budget -= tokens;
            input = input.saturating_sub(tokens);
        }
        self.micro_batches[micro].scheduled.candidates = candidates;
    }

    fn continue_prompts(
        &mut self,
        micro: usize,
        requests: &mut [RequestState],
        budget: &mut u32,
        claims: &mut Claims,
    ) {
        let mut index = 0;
        while *budget > 0
            && let Some(&id) = self.micro_batches[micro].partial.get(index)
        {
            let request = &mut requests[id as usize];
            let tokens = self.affordable(request, (request.fill - request.filled).min(*budget));
            let blocks = self.blocks_to_fill(request, tokens);
            if tokens == 0 || blocks > self.free {
                // The newest prompt in progress is preempted, possibly this one.
                let spared = self.spared(requests);
                let youngest = self.micro_batches[micro].partial.back().copied();
                let youngest = youngest.filter(|&id| Some(id) != spared);
                match (self.policy.preempt, youngest) {
                    (Preempt::Recompute, Some(youngest)) => self.preempt(micro, youngest, requests),
                    _ => index += 1,
                }
                continue;
            }
            self.take(blocks);
            let ends = request.filled + tokens == request.fill;
            claims.continue_prompt(request, tokens, ends);
            self.add_chunk(micro, id, request, tokens);
            *budget -= tokens;
            if ends {
                self.micro_batches[micro].partial.remove(index);
            } else {
                index += 1;
            }
        }
    }

    /// `tokens`, or the chunk SGLang cuts it to when fewer are free.
    fn affordable(&self, request: &RequestState, tokens: u32) -> u32 {
        if matches!(self.policy.preempt, Preempt::Recompute | Preempt::Never) {
            return tokens;
        }
        let block = u64::from(self.policy.kv_block);
        let slack = u64::from(request.filled).next_multiple_of(block) - u64::from(request.filled);
        let room = slack + self.free * block;
        tokens.min(u32::try_from(room).unwrap_or(u32::MAX))
    }

    fn add_chunk(&mut self, micro: usize, id: u32, request: &mut RequestState, tokens: u32) {
        let scheduled = &mut self.micro_batches[micro].scheduled;
        scheduled.chunks.push(Chunk { new: tokens, past: request.filled });
        scheduled.prefilling.push(id);
        request.filled += tokens;
    }

    /// Allocates KV blocks for the next token of all decoding sequences, and lets them decode if that succeeds.
    fn decode(&mut self, micro: usize, requests: &mut [RequestState]) {
        if !self.make_room(micro, requests) {
            return;
        }
        if self.schedule_decoding(micro) > 0 {
            self.lower_share();
        }
    }

    fn schedule_decoding(&mut self, micro: usize) -> u32 {
        let MicroBatch { scheduled, decoding, .. } = &mut self.micro_batches[micro];
        scheduled.decoding = decoding.count;
        scheduled.decoding_kv = decoding.kv() + u64::from(decoding.count);
        decoding.count
    }

    /// Whether the next step only decodes and no sequence ends in it; if so, schedules it.
    pub fn decodes_on(&mut self) -> bool {
        let batch = &mut self.micro_batches[0];
        let blocks = match self.policy.preempt {
            Preempt::Never => 0,
            _ => batch.decoding.blocks_for(batch.decoding.next_gain()),
        };
        let none_starts = self.waiting.is_empty() && batch.partial.is_empty() && batch.fresh.is_empty();
        let goes_on = none_starts && blocks <= self.free && batch.decoding.goes_on();
        if goes_on {
            batch.scheduled.clear();
            batch.scheduled.blocks = blocks;
            self.schedule_decoding(0);
        }
        goes_on
    }

    /// Completes the step scheduled by `decodes_on`.
    pub fn decode_on(&mut self, end: f64, gaps: &mut Gaps) {
        let &Scheduled { blocks, decoding, .. } = &self.micro_batches[0].scheduled;
        if decoding > 0 {
            self.take(blocks);
            self.lower_share();
            self.micro_batches[0].decoding.advance(end, gaps);
        }
    }

    fn make_room(&mut self, micro: usize, requests: &mut [RequestState]) -> bool {
        if self.policy.preempt == Preempt::Never {
            return true;
        }
        let mut retracted = false;
        loop {
            let decoding = &self.micro_batches[micro].decoding;
            let blocks = decoding.blocks_for(decoding.next_gain());
            let spare = f64::from(decoding.count) * sglang().retract_steps;
            let enough = blocks <= self.free
                && (!retracted
                    || decoding.count < 2
                    || (self.free * u64::from(self.policy.kv_block)) as f64 >= spare);
            if enough {
                self.take(blocks);
                if retracted {
                    self.raise_share(micro, requests);
                }
                return true;
            }
            let Some(victim) = self.victim(micro, requests) else { return false };
            retracted = self.policy.preempt != Preempt::Recompute;
            self.preempt(micro, victim, requests);
        }
    }

    fn victim(&mut self, micro: usize, requests: &[RequestState]) -> Option<u32> {
        let spared = self.spared(requests);
        let batch = &mut self.micro_batches[micro];
        if self.policy.preempt == Preempt::Recompute {
            return batch.latest(requests, spared);
        }
        if batch.decoding.count < 2 {
            return batch.partial.back().copied().filter(|&id| Some(id) != spared);
        }
        let order = |sequence: &Remaining| {
            let request = &requests[sequence.id as usize];
            (batch.decoding.generated(request), Reverse(request.prompt), Reverse(sequence.id))
        };
        let others = batch.decoding.remaining().filter(|sequence| Some(sequence.id) != spared);
        others.min_by_key(order).map(|sequence| sequence.id)
    }

    /// After a retraction SGLang reserves memory based on the outputs so far.
    fn raise_share(&mut self, micro: usize, requests: &[RequestState]) {
        if !matches!(self.policy.preempt, Preempt::Retract { .. }) {
            return;
        }
        let decoding = &self.micro_batches[micro].decoding;
        let (mut made, mut wanted) = (0.0, 0.0);
        for sequence in decoding.remaining() {
            let request = &requests[sequence.id as usize];
            made += f64::from(decoding.generated(request)) + sglang().retract_steps;
            wanted += f64::from(request.target);
        }
        if wanted > 0.0 {
            self.share = f64::min(made / wanted, 1.0);
        }
    }
}
