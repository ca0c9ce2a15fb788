//! Decides one rank's work in its next step.

use crate::config::Batching;

use super::admission::Claims;
use super::rank::{MicroBatch, Rank};
use super::request::RequestState;

impl Rank<'_> {
    /// Schedules decode and prompts in progress for a micro-batch's next step, and finds requests that could start
    /// in addition.
    pub fn plan(&mut self, micro: usize, requests: &mut [RequestState], now: f64) {
        let batch = &mut self.micro_batches[micro];
        batch.scheduled.clear();
        batch.tidy(requests);
        self.take_prompts(micro, requests);
        self.join_ready(micro, requests, now);
        self.fetch_histories(micro, requests, now);
        match self.policy.batching {
            Batching::PrefillFirst if !self.policy.mixed_chunk => self.prefill_or_decode(micro, requests),
            Batching::PrefillFirst | Batching::MixedChunks | Batching::InFlight => {
                self.decode_and_prefill(micro, requests);
            }
        }
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
                let own = (slots / self.policy.stages).max(1);
                free.min(own.saturating_sub(self.micro_batches[micro].running))
            }
            Batching::MixedChunks | Batching::InFlight => free,
        }
    }

    /// Allocates KV blocks for the next token of all decoding sequences, and lets them decode if that succeeds.
    fn decode(&mut self, micro: usize, requests: &mut [RequestState]) {
        if !self.make_room(micro, requests) {
            return;
        }
        if self.schedule_decoding(micro) > 0 {
            self.lower_share(1);
        }
    }

    fn schedule_decoding(&mut self, micro: usize) -> u32 {
        let MicroBatch { scheduled, decoding, .. } = &mut self.micro_batches[micro];
        scheduled.decode(decoding, 0);
        decoding.count
    }
}
