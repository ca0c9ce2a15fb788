//! Token events of replicas, and the handover of prefilled requests.

use super::replica::Replica;

/// A request's first or last token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub id: u32,
    /// End of the step that produced it, in seconds.
    pub at: f64,
    /// When the server has sent it.
    pub sent: f64,
    pub event: Event,
    /// The rank that produced it.
    pub rank: u32,
    /// Prompt tokens in that step.
    pub chunk: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    First,
    Last,
    /// A sequence that arrived with its KV cache got its slot, or finished its first step.
    Joined,
    Stepped,
}

impl Replica<'_> {
    /// Keeps whole blocks for a prompt that has finished here and is not yet taken over elsewhere.
    pub fn keep(&mut self, rank: u32, tokens: u32) {
        let blocks = self.policy.blocks_for(u64::from(tokens));
        self.ranks.get_mut(rank as usize).into_iter().for_each(|rank| rank.take(blocks));
    }

    /// Frees that memory at `time`.
    pub fn release(&mut self, rank: u32, tokens: u32, time: f64) {
        let blocks = self.policy.blocks_for(u64::from(tokens));
        self.ranks.get_mut(rank as usize).into_iter().for_each(|rank| rank.free += blocks);
        if self.stalled {
            self.stalled = false;
            self.now = self.now.max(time);
        }
    }

    /// Reports sequences that arrived with their KV cache.
    pub fn joined(&mut self, micro: usize, tokens: &mut Vec<Token>) {
        for (index, rank) in self.ranks.iter_mut().enumerate() {
            let (at, event, rank_of) = (self.now, Event::Joined, index as u32);
            let sent = self.stream.begin(at);
            let joined = rank.micro_batches[micro].joined.drain(..);
            tokens.extend(joined.map(|id| Token { id, at, sent, event, rank: rank_of, chunk: 0 }));
        }
    }
}
