//! Whether a waiting request may start: does the KV cache have room for it?

use super::decoding::Remaining;
use super::policy::Preempt;
use super::rank::Rank;
use super::request::RequestState;
use crate::config::catalog::numbers::sglang::constants as sglang;

/// What the requests chosen so far in one step will need, before any has started.
#[derive(Debug, Default)]
pub(super) struct Claims {
    blocks: u64,
    /// Tokens, including expected outputs.
    tokens: f64,
    /// Per request, for the look-ahead.
    starting: Vec<Remaining>,
}

impl Claims {
    /// Records `tokens` more of a prompt in progress; `ends` if its output follows.
    pub fn continue_prompt(&mut self, request: &RequestState, tokens: u32, ends: bool) {
        let output = if ends { reckoned_output(request) } else { 0.0 };
        self.tokens += f64::from(tokens) + output;
    }

    /// Whether `request` may start with `end` of its tokens in the KV cache after this step; if so they are
    /// claimed.
    pub fn admit(
        &mut self,
        rank: &Rank,
        requests: &[RequestState],
        request: &RequestState,
        end: u32,
    ) -> bool {
        let policy = rank.policy;
        let step = policy.blocks_for(u64::from(end));
        let [blocks, needed] = match policy.preempt {
            Preempt::Never => [policy.blocks_for(policy.whole(request.prompt, request.target)); 2],
            Preempt::Recompute if !policy.admits_by_chunk => {
                [step, policy.blocks_for(u64::from(request.fill))]
            }
            _ => [step; 2],
        };
        if self.blocks + needed > rank.free {
            return false;
        }
        // A prefix found in the cache can no longer give way.
        let fill = f64::from(request.fill);
        let page = f64::from(policy.kv_block);
        let output = reckoned_output(request);
        let alone = rank.running == 0 && self.blocks == 0;
        let fits = match policy.preempt {
            Preempt::Recompute | Preempt::Never => true,
            Preempt::Retract { .. } => {
                alone || fill + output + page < free_tokens(rank) - reckoned(rank) - self.tokens
            }
            Preempt::LookAhead => alone || self.lasts(rank, requests, request),
        };
        if fits {
            self.blocks += blocks;
            let whole = end == request.fill;
            let taken = if whole { fill + output } else { f64::from(end) };
            self.tokens += taken + page;
            self.starting.push(remaining(request));
        }
        fits
    }

    /// Whether the KV cache lasts until all sequences, including `request`, have finished one by one.
    fn lasts(&self, rank: &Rank, requests: &[RequestState], request: &RequestState) -> bool {
        let partial =
            || rank.micro_batches.iter().flat_map(|micro| &micro.partial).map(|&id| &requests[id as usize]);
        let pending: u64 = partial().map(|request| u64::from(request.fill - request.filled)).sum();
        let own = remaining(request);
        let starting = self.starting.iter().chain([&own]);
        let held = starting.clone().map(|one| one.held).sum::<u64>();
        let free = free_tokens(rank) - pending as f64 - held as f64;

        let begun = || partial().map(remaining).chain(starting.clone().copied());
        let left: u64 = rank.micro_batches.iter().map(|micro| micro.decoding.left()).sum::<u64>()
            + begun().map(|one| one.left).sum::<u64>();
        let count = begun().count() as f64 + f64::from(rank.running);
        if free - left as f64 > sglang().look_ahead_reserve * count {
            return true;
        }
        let mut begun: Vec<Remaining> = begun().collect();
        begun.sort_unstable_by_key(|one| one.left);
        let longest = rank.micro_batches.iter().map(|micro| micro.decoding.longest_left());
        let longest = longest.chain(begun.last().map(|one| one.left)).max().unwrap_or(0);
        // All of these are sorted: the next to finish is at the front of one of them.
        let mut decoding: Vec<_> =
            rank.micro_batches.iter().map(|micro| micro.decoding.remaining().peekable()).collect();
        let decode: u32 = rank.micro_batches.iter().map(|micro| micro.decoding.count).sum();
        let (mut free, mut sequences) = (free, f64::from(decode) + begun.len() as f64);
        let mut begun = begun.into_iter().peekable();
        loop {
            // From here on sequences only get fewer and room grows: there is enough even if all last as long as the
            // longest.
            if free - longest as f64 * sequences > sglang().look_ahead_reserve * sequences {
                return true;
            }
            let left = |next: Option<&Remaining>| next.map_or(u64::MAX, |one| one.left);
            let other = left(begun.peek());
            let first = (0..decoding.len()).min_by_key(|&batch| left(decoding[batch].peek()));
            let first = first.and_then(|batch| decoding[batch].next_if(|one| one.left <= other));
            let Some(one) = first.or_else(|| begun.next()) else { return true };
            if free - one.left as f64 * sequences <= sglang().look_ahead_reserve * sequences {
                return false;
            }
            free += one.held as f64;
            sequences -= 1.0;
        }
    }
}

/// What remains of a request that does not decode yet.
fn remaining(request: &RequestState) -> Remaining {
    Remaining { id: 0, left: u64::from(request.left()), held: u64::from(request.fill) }
}

fn free_tokens(rank: &Rank) -> f64 {
    rank.free as f64 * f64::from(rank.policy.kv_block)
}

/// Output tokens that SGLang expects for a request.
fn reckoned_output(request: &RequestState) -> f64 {
    f64::from(request.left()).min(sglang().clip_new_tokens)
}

/// Tokens that SGLang keeps free for outputs still to come.
fn reckoned(rank: &Rank) -> f64 {
    let left = rank.micro_batches.iter().map(|micro| micro.decoding.left_within(sglang().clip_new_tokens));
    left.sum::<f64>() * rank.share
}
