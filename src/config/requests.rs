//! Derived request properties of a setup: lengths, computed tokens, decode steps.

use super::catalog::SHARE_GPT;
use super::{Setup, Shape, Turns, Workload};

/// Log-normal lengths are truncated at this many standard deviations: one draw in 700 is beyond.
const DEVIATIONS: f64 = 3.0;

impl Workload {
    /// The longest prompt and output over all requests, or per bin; for sessions, those of the last turn.
    pub(super) fn longest(&self, context: u32) -> Vec<(u32, u32)> {
        if !self.histogram.is_empty() {
            let message = self.message();
            return self.histogram.iter().map(|bin| self.last(bin.prompt, message, bin.output)).collect();
        }
        let [prompt, message, output] = self.most(context);
        vec![self.last(prompt, message, output)]
    }

    /// The longest prompt plus output, in tokens.
    pub(super) fn longest_sequence(&self, context: u32) -> f64 {
        let all = self.longest(context).into_iter();
        all.map(|(prompt, output)| f64::from(prompt) + f64::from(output)).fold(0.0, f64::max)
    }

    /// The longest first prompt, message and output, if not given by a histogram.
    fn most(&self, context: u32) -> [u32; 3] {
        let (message, output) = (self.message(), self.osl);
        let prompt = self.isl.each().iter().copied().max().unwrap_or(1);
        let [of_prompts, of_outputs] = self.log_spread;
        // Log-normal lengths are limited to the context in proportion, so that all requests fit if the means do.
        let (last, _) = self.last(prompt, message, output);
        let fitting = f64::from(context) / (f64::from(last) + f64::from(output)).max(1.0);
        let most = |length: u32, log: f64, table: Option<&[u32]>| {
            let factor = match table {
                Some(table) => f64::from(table.last().copied().unwrap_or(1)) / mean_of(table),
                None if self.log_spread == [0.0; 2] => {
                    return (f64::from(length) * (1.0 + self.spread)).floor() as u32;
                }
                None => (DEVIATIONS * log - log * log / 2.0).exp(),
            };
            ((f64::from(length) * factor.min(fitting)).floor() as u32).max(length)
        };
        let [prompts, outputs] = self.shape.map_or([None; 2], |shape| shape.tables().map(Some));
        [
            most(prompt, of_prompts, prompts),
            most(message, of_prompts, prompts),
            most(output, of_outputs, outputs),
        ]
    }

    /// Prompt and output of a session's last turn; without turns, the only one.
    fn last(&self, prompt: u32, message: u32, output: u32) -> (u32, u32) {
        let later = self.session().map_or(0, |turns| turns.count.saturating_sub(1));
        (prompt.saturating_add(later.saturating_mul(message.saturating_add(output))), output)
    }

    /// The turns of a session, if the load consists of sessions.
    pub fn session(&self) -> Option<Turns> {
        self.load.is_sessions().then_some(self.turns)
    }

    /// Tokens of a session's message; 0 if the load is none.
    fn message(&self) -> u32 {
        self.session().map_or(0, |turns| turns.message)
    }

    /// Whether requests differ in length, other than by turn.
    pub fn varies(&self) -> bool {
        self.spread > 0.0 || self.log_spread != [0.0; 2] || self.shape.is_some() || self.histogram.len() > 1
    }
}

impl Shape {
    /// Prompt and output lengths at evenly spaced shares of the requests, in tokens; setups scale them to their means.
    pub fn tables(self) -> [&'static [u32]; 2] {
        match self {
            Self::Sharegpt => SHARE_GPT,
        }
    }
}

/// The mean of lengths at evenly spaced shares of the requests.
pub fn mean_of(table: &[u32]) -> f64 {
    let halves = table.windows(2).map(|pair| (f64::from(pair[0]) + f64::from(pair[1])) / 2.0).sum::<f64>();
    halves / (table.len().max(2) - 1) as f64
}

/// Prompt tokens found in a prefix cache with these blocks; the last token is always computed.
pub fn cached_tokens(prompt: u32, share: f64, block: u32) -> u32 {
    let block = block.max(1);
    let found = (f64::from(prompt) * share) as u32;
    found.min(prompt.saturating_sub(1)) / block * block
}

impl Setup {
    /// Mean prompt tokens; for sessions, over all turns.
    pub fn mean_prompt(&self) -> f64 {
        let prompts = self.workload.isl.each();
        let tokens: f64 = prompts.iter().copied().map(f64::from).sum();
        tokens / prompts.len().max(1) as f64 + self.mean_history()
    }

    /// Mean tokens by which a session's prompts exceed the first.
    fn mean_history(&self) -> f64 {
        let each = |turns: Turns| f64::from(turns.message) + f64::from(self.workload.osl);
        self.workload
            .session()
            .map_or(0.0, |turns| f64::from(turns.count.saturating_sub(1)) / 2.0 * each(turns))
    }

    /// Requests per second that arrive at a rate of `amount`, which may be of sessions.
    pub fn requests_at(&self, amount: f64) -> f64 {
        amount * f64::from(self.workload.session().map_or(1, |turns| turns.count))
    }

    /// The longest prompt and the longest output, in tokens.
    pub fn longest(&self) -> (u32, u32) {
        let all = self.workload.longest(self.model.max_context);
        all.into_iter().fold((1, 1), |most, of| (most.0.max(of.0), most.1.max(of.1)))
    }

    /// The longest prompt plus output, in tokens.
    pub fn longest_sequence(&self) -> f64 {
        self.workload.longest_sequence(self.model.max_context)
    }

    /// The longest first prompt, message and output of sessions, if not given by a histogram.
    pub fn most(&self) -> [u32; 3] {
        self.workload.most(self.model.max_context)
    }

    /// Whether the engine has its prefix cache on.
    pub fn keeps_prefixes(&self) -> bool {
        self.workload.cached_share > 0.0 || self.keeps_histories()
    }

    /// Whether turns of sessions find their history in it.
    pub fn keeps_histories(&self) -> bool {
        self.workload.session().is_some_and(|turns| turns.history_cached > 0.0)
    }

    /// GiB of host memory per GPU that keep the histories of sessions; 0 if none does. Decode-only workers find no
    /// history to keep.
    pub fn host_gib(&self) -> f64 {
        let keeps = self.prefill.is_none() && self.keeps_histories();
        if keeps { self.workload.turns.host_gib } else { 0.0 }
    }

    /// Tokens per KV block.
    pub fn kv_block(&self) -> u32 {
        self.engine.scheduler.kv_block_tokens.checked() as u32
    }

    /// Prompt tokens found in the prefix cache.
    pub fn cached(&self, prompt: u32) -> u32 {
        cached_tokens(prompt, self.workload.cached_share, self.kv_block())
    }

    /// Tokens per decoding sequence in one step: the newest one and the drafts.
    pub fn tokens_verified(&self) -> u32 {
        self.workload.drafts.drafted.saturating_add(1)
    }

    /// Mean number of decode steps per request. With drafts a step yields `1 + accepted` tokens, and the last step
    /// is partly wasted: `(1 - 1 / yield) / 2` of one.
    pub fn decode_steps(&self) -> f64 {
        let tokens = f64::from(self.workload.osl.saturating_sub(1));
        let per_step = 1.0 + self.workload.drafts.accepted;
        let steps = tokens / per_step + 0.5 * (1.0 - 1.0 / per_step);
        if tokens > 0.0 { steps.max(1.0) } else { 0.0 }
    }

    /// Mean number of tokens that a decode step yields per request.
    pub fn tokens_per_step(&self) -> f64 {
        let steps = self.decode_steps();
        if steps > 0.0 { f64::from(self.workload.osl.saturating_sub(1)) / steps } else { 1.0 }
    }
}
