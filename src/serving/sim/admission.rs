//! Whether a waiting request may start: does the KV cache have room for it?

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
    /// `(tokens still to produce, tokens held)` of each, for the look-ahead.
    lives: Vec<(f64, f64)>,
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
                    let room = free_tokens(policy, rank) - reckoned(rank, jobs) - self.tokens;
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
            self.lives.push((f64::from(job.left()), f64::from(job.fill)));
        }
        fits
    }

    /// Whether the KV cache lasts until all sequences, `job` among them, have ended one after the other.
    fn lasts(&self, policy: &Policy, rank: &Rank, jobs: &[Job], job: &Job) -> bool {
        let mut lives = self.lives.clone();
        lives.push((f64::from(job.left()), f64::from(job.fill)));
        for lane in &rank.lanes {
            let partial = lane.partial.iter().map(|&id| &jobs[id as usize]);
            lives.extend(partial.map(|job| (f64::from(job.left()), f64::from(job.fill))));
            lives.extend(lane.crew.members(jobs).map(|(_, job)| {
                let left = job.target - lane.crew.generated(job);
                (f64::from(left), lane.crew.kv_of(job) as f64)
            }));
        }
        lives.sort_by(|one, other| one.0.total_cmp(&other.0));
        // What was chosen before is claimed in blocks, what partial prompts still need is not.
        let pending = rank.lanes.iter().flat_map(|lane| &lane.partial).map(|&id| &jobs[id as usize]);
        let pending: f64 = pending.map(|job| f64::from(job.fill - job.filled)).sum();
        let mut free = free_tokens(policy, rank) - pending;
        free -= self.lives.iter().map(|life| life.1).sum::<f64>() + f64::from(job.fill);
        for (index, (left, held)) in lives.iter().enumerate() {
            let sequences = (lives.len() - index) as f64;
            if free - left * sequences <= LOOK_AHEAD_RESERVE * sequences {
                return false;
            }
            free += held;
        }
        true
    }
}

fn free_tokens(policy: &Policy, rank: &Rank) -> f64 {
    rank.free as f64 * f64::from(policy.kv_block)
}

/// Tokens that SGLang keeps free for the outputs still to come.
fn reckoned(rank: &Rank, jobs: &[Job]) -> f64 {
    let of_lane = |lane: &super::rank::Lane| {
        let left = |job: &Job| (job.target - lane.crew.generated(job)).min(MOST_RECKONED);
        lane.crew.members(jobs).map(|(_, job)| f64::from(left(job))).sum::<f64>()
    };
    rank.lanes.iter().map(of_lane).sum::<f64>() * rank.share
}
