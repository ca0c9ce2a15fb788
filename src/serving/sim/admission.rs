//! Whether a waiting request may start: does the KV cache have room for it?

use super::crew::Life;
use super::job::Job;
use super::policy::{Policy, Preempt};
use super::rank::Rank;

/// Most output tokens that SGLang reckons with (`CLIP_MAX_NEW_TOKENS`).
const MOST_RECKONED: u32 = 4096;
/// Tokens that SGLang's look-ahead leaves per sequence (`IGNORE_EOS_RESERVE_TOKENS`).
const LOOK_AHEAD_RESERVE: f64 = 1.0;

/// What the requests chosen so far in one step will take, before any has started.
#[derive(Debug, Default)]
pub(super) struct Claims {
    blocks: u64,
    /// Tokens, with the outputs reckoned with.
    tokens: f64,
    /// Of each, for the look-ahead.
    lives: Vec<Life>,
}

impl Claims {
    /// Takes note of `tokens` more of a prompt under way; `ends` says that its output follows.
    pub fn continue_prompt(&mut self, job: &Job, tokens: u32, ends: bool) {
        let output = if ends { job.left().min(MOST_RECKONED) } else { 0 };
        self.tokens += f64::from(tokens) + f64::from(output);
    }

    /// Whether `job` may start with `end` of its tokens in the KV cache after this step; if so they are
    /// claimed.
    pub fn admit(&mut self, policy: &Policy, rank: &Rank, jobs: &[Job], job: &Job, end: u32) -> bool {
        let blocks = match policy.preempt {
            Preempt::Never => policy.blocks_for(policy.whole(job.prompt, job.target)),
            _ => policy.blocks_for(u64::from(end)),
        };
        if self.blocks + blocks > rank.free {
            return false;
        }
        let fill = f64::from(job.fill - policy.cached(job.prompt));
        let page = f64::from(policy.kv_block);
        let output = f64::from(job.left().min(MOST_RECKONED));
        let alone = rank.running == 0 && self.blocks == 0;
        let fits = match policy.preempt {
            Preempt::Recompute | Preempt::Never => true,
            Preempt::Retract { .. } => {
                alone || {
                    let room = free_tokens(policy, rank) - reckoned(rank) - self.tokens;
                    fill + output + page < room
                }
            }
            Preempt::LookAhead => alone || self.lasts(policy, rank, jobs, job),
        };
        if fits {
            self.blocks += blocks;
            let whole = end == job.fill;
            let taken = if whole { fill + output } else { f64::from(end) };
            self.tokens += taken + page;
            self.lives.push(life(job));
        }
        fits
    }

    /// Whether the KV cache lasts until all sequences, `job` among them, have ended one after the other.
    fn lasts(&self, policy: &Policy, rank: &Rank, jobs: &[Job], job: &Job) -> bool {
        let partial = || rank.lanes.iter().flat_map(|lane| &lane.partial).map(|&id| &jobs[id as usize]);
        let pending: u64 = partial().map(|job| u64::from(job.fill - job.filled)).sum();
        let own = life(job);
        let starting = self.lives.iter().chain([&own]);
        let free = free_tokens(policy, rank)
            - pending as f64
            - starting.clone().map(|life| life.held).sum::<u64>() as f64;

        let begun = || partial().map(life).chain(starting.clone().copied());
        let left: u64 = rank.lanes.iter().map(|lane| lane.crew.left()).sum::<u64>()
            + begun().map(|life| life.left).sum::<u64>();
        let count = begun().count() as f64 + f64::from(rank.running);
        if free - left as f64 > LOOK_AHEAD_RESERVE * count {
            return true;
        }
        let mut lives: Vec<Life> =
            rank.lanes.iter().flat_map(|lane| lane.crew.lives()).chain(begun()).collect();
        // Those of a lane are in order already.
        lives.sort_by_key(|life| life.left);
        let mut free = free;
        for (index, life) in lives.iter().enumerate() {
            let sequences = (lives.len() - index) as f64;
            if free - life.left as f64 * sequences <= LOOK_AHEAD_RESERVE * sequences {
                return false;
            }
            free += life.held as f64;
        }
        true
    }
}

/// Of a job that does not decode yet.
fn life(job: &Job) -> Life {
    Life { id: 0, left: u64::from(job.left()), held: u64::from(job.fill) }
}

fn free_tokens(policy: &Policy, rank: &Rank) -> f64 {
    rank.free as f64 * f64::from(policy.kv_block)
}

/// Tokens that SGLang keeps free for the outputs still to come.
fn reckoned(rank: &Rank) -> f64 {
    let left = rank.lanes.iter().flat_map(|lane| lane.crew.lives()).map(|life| life.left);
    left.map(|left| left.min(u64::from(MOST_RECKONED))).sum::<u64>() as f64 * rank.share
}
