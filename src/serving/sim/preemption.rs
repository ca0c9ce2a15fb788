//! What a rank does when KV blocks run out: which sequence is preempted, and the memory that SGLang reserves
//! afterwards.

use std::cmp::Reverse;

use super::decoding::Remaining;
use super::policy::Preempt;
use super::rank::Rank;
use super::request::RequestState;
use crate::config::catalog::numbers::sglang::constants as sglang;

impl Rank<'_> {
    /// Allocates KV blocks for the next token of all decoding sequences, preempting others where they run out.
    pub fn make_room(&mut self, micro: usize, requests: &mut [RequestState]) -> bool {
        if self.policy.preempt == Preempt::Never {
            return true;
        }
        let mut retracted = false;
        loop {
            let decoding = &self.micro_batches[micro].decoding;
            let blocks = decoding.blocks_for(decoding.gain(1));
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

    /// The sequence to preempt next, if any may be.
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

    /// The first running request if several micro-batches share the memory: they could otherwise keep taking it
    /// from each other.
    pub fn spared(&self, requests: &[RequestState]) -> Option<u32> {
        if self.micro_batches.len() < 2 {
            return None;
        }
        let started = self.micro_batches.iter().flat_map(|micro| &micro.started);
        started.filter(|&&(id, epoch)| requests[id as usize].epoch == epoch).map(|entry| entry.0).min()
    }

    /// Preempts `id`: it waits first or last, and loses its KV cache except for what the prefix cache keeps.
    pub fn preempt(&mut self, micro: usize, id: u32, requests: &mut [RequestState]) {
        let request = &mut requests[id as usize];
        let mut kv = u64::from(request.filled);
        if request.decoding {
            let decoding = &mut self.micro_batches[micro].decoding;
            kv = decoding.kv_of(request);
            decoding.leave(id, request);
            self.micro_batches[micro].fresh.retain(|&other| other != id);
        } else {
            self.micro_batches[micro].partial.retain(|&other| other != id);
        }
        self.release(micro, request, kv);
        if self.policy.history_cached > 0.0 && self.policy.preempt == Preempt::Recompute {
            // With a prefix cache its blocks stay until running sequences take them.
            let session = *request.session.get_or_insert(id);
            self.prefixes.keep(session, kv / u64::from(self.policy.kv_block.max(1)));
        }
        request.fill = request.prompt + request.generated;
        request.filled = 0;
        match self.policy.preempt {
            Preempt::Recompute => self.waiting.push_front(id),
            _ => self.waiting.push_back(id),
        }
        self.preemptions += 1;
    }

    /// Lowers the share for this many decode steps.
    pub fn lower_share(&mut self, steps: u64) {
        let first = first_share(self.policy.preempt);
        let least = first * sglang().least_of_first;
        let lower = (first - least) / sglang().share_steps * steps as f64;
        self.share = (self.share - lower).max(least);
    }

    pub fn reset_share(&mut self) {
        self.share = first_share(self.policy.preempt);
    }
}

/// The share of outstanding outputs that SGLang keeps free at first.
pub(super) fn first_share(preempt: Preempt) -> f64 {
    match preempt {
        Preempt::Retract { conservativeness } => (sglang().first_share * conservativeness).min(1.0),
        _ => 0.0,
    }
}
