//! The prompts of a rank's next step: chunks of those in progress, and new ones.

use super::Chunk;
use super::admission::Claims;
use super::policy::Preempt;
use super::rank::Rank;
use super::request::RequestState;

impl Rank<'_> {
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

    /// Chooses waiting requests within `budget` tokens; `taken` tokens are already in the step.
    pub fn find_candidates(
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

    /// Gives a micro-batch the prompts in progress, whose last chunks may still be in the pipeline. All engines let the
    /// chunks of a prompt follow each other through the stages: vLLM counts a chunk as computed once it is scheduled,
    /// SGLang has one chunked request for all micro-batches, and TensorRT-LLM calls only last chunks in flight.
    pub fn take_prompts(&mut self, micro: usize, requests: &[RequestState]) {
        for other in 0..self.micro_batches.len() {
            if other == micro {
                continue;
            }
            while let Some(id) = self.micro_batches[other].partial.pop_front() {
                let entry = (id, requests[id as usize].epoch);
                let from = &mut self.micro_batches[other];
                from.started.retain(|&started| started != entry);
                from.running -= 1;
                let to = &mut self.micro_batches[micro];
                to.started.push(entry);
                to.running += 1;
                to.partial.push_back(id);
            }
        }
    }

    /// Schedules chunks of prompts in progress within `budget` tokens.
    pub fn continue_prompts(
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
}
