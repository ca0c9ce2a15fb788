//! KV cache of sessions in the host's memory.

use super::admission::Claims;
use super::rank::Rank;
use super::request::RequestState;

/// Host memory for KV cache. Everything that a turn leaves is also written to it, as in vLLM and SGLang. A turn that
/// could start and finds more there than on the GPU waits until that has been read, while others continue. A rank reads
/// for one turn after the other.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostCache {
    /// KV blocks of one rank; 0 if there is none.
    pub blocks: u64,
    /// Seconds to read one.
    pub seconds_per_block: f64,
}

impl Rank<'_> {
    /// Blocks of a waiting request's history that only the host holds.
    pub fn only_on_host(&self, request: &RequestState) -> u64 {
        if self.policy.host.blocks == 0 || request.is_ready() {
            return 0;
        }
        self.host.blocks_of(request.session).saturating_sub(self.kept(request))
    }

    /// Starts to read the histories of waiting requests that could start with them, in addition to those being read.
    pub fn fetch_histories(&mut self, micro: usize, requests: &mut [RequestState], now: f64) {
        if self.policy.host.blocks == 0 {
            return;
        }
        let mut claims = Claims::default();
        let mut fits = self.reading.iter().all(|&(_, id)| self.fits_whole(&mut claims, requests, id));
        while fits
            && let Some(&id) = self.waiting.front()
            && self.only_on_host(&requests[id as usize]) > 0
            && self.free_slots(micro) as usize > self.reading.len()
        {
            fits = self.fits_whole(&mut claims, requests, id);
            if fits {
                self.read_from_host(id, &mut requests[id as usize], now);
            }
        }
    }

    fn fits_whole(&self, claims: &mut Claims, requests: &[RequestState], id: u32) -> bool {
        let request = &requests[id as usize];
        claims.admit(self, requests, request, request.fill)
    }

    /// The GPU's own part of the history stays while the rest is read: engines hold the blocks that a request found.
    fn read_from_host(&mut self, id: u32, request: &mut RequestState, now: f64) {
        let used = self.only_on_host(request) as f64 * self.policy.history_cached;
        request.read = self.host.blocks_of(request.session);
        self.waiting.pop_front();
        let begin = self.reading.back().map_or(now, |&(time, _)| time.max(now));
        self.reading.push_back((begin + used * self.policy.host.seconds_per_block, id));
    }

    /// Puts requests whose histories have been read by `now` at the front of the queue.
    pub fn end_reading(&mut self, now: f64) {
        let done = self.reading.partition_point(|&(time, _)| time <= now);
        self.reading.drain(..done).rev().for_each(|(_, id)| self.waiting.push_front(id));
    }

    /// A turn of `session` leaves these blocks in the host's memory too.
    pub fn write_to_host(&mut self, session: u32, blocks: u64) {
        if self.policy.host.blocks > 0 {
            self.host.keep(session, blocks);
            self.host.give_way(self.policy.host.blocks);
        }
    }
}
