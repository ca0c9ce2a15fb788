//! What the requests of a setup come to: their lengths, what of them is computed, and in how many steps.

use super::{Bin, Setup};

/// Standard deviations up to which log-normal lengths are drawn: one draw in 700 lies beyond.
const DEVIATIONS: f64 = 3.0;

/// How lengths vary about their means.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variation {
    pub spread: f64,
    pub log_spread: f64,
    /// Prompt and output at most.
    pub context: u32,
}

impl Variation {
    /// The longest of the lengths around these.
    pub fn longest(self, prompt: u32, output: u32) -> (u32, u32) {
        let log = self.log_spread;
        if log <= 0.0 {
            let up = |length: u32| (f64::from(length) * (1.0 + self.spread)).floor() as u32;
            return (up(prompt), up(output));
        }
        // Cut to the context in proportion, so that every pair of them fits it where the means do.
        let factor = (DEVIATIONS * log - log * log / 2.0).exp();
        let fitting = f64::from(self.context) / (f64::from(prompt) + f64::from(output)).max(1.0);
        let up = |length: u32| ((f64::from(length) * factor.min(fitting)).floor() as u32).max(length);
        (up(prompt), up(output))
    }
}

/// Tokens of a prompt that a prefix cache of such blocks holds; the last is always computed.
pub fn cached_tokens(prompt: u32, share: f64, block: u32) -> u32 {
    let block = block.max(1);
    let tokens = (f64::from(prompt) * share) as u32 / block * block;
    tokens.min(prompt.saturating_sub(1))
}

impl Setup {
    /// Tokens of a prompt, on average.
    pub fn mean_prompt(&self) -> f64 {
        let tokens: f64 = self.prompts.iter().copied().map(f64::from).sum();
        tokens / self.prompts.len().max(1) as f64
    }

    /// The most tokens of a prompt, and of an output.
    pub fn longest(&self) -> (u32, u32) {
        if !self.histogram.is_empty() {
            let most = |of: fn(&Bin) -> u32| self.histogram.iter().map(of).max().unwrap_or(1);
            return (most(|bin| bin.prompt), most(|bin| bin.output));
        }
        let prompt = self.prompts.iter().copied().max().unwrap_or(1);
        self.variation().longest(prompt, self.osl)
    }

    /// The most tokens of a prompt and its output together.
    pub fn longest_sequence(&self) -> f64 {
        let whole = |prompt, output| f64::from(prompt) + f64::from(output);
        let of_bins = self.histogram.iter().map(|bin| whole(bin.prompt, bin.output)).reduce(f64::max);
        of_bins.unwrap_or_else(|| {
            let (prompt, output) = self.longest();
            whole(prompt, output)
        })
    }

    fn variation(&self) -> Variation {
        let Self { spread, log_spread, .. } = *self;
        Variation { spread, log_spread, context: self.model.max_context }
    }

    /// Whether requests differ in length.
    pub fn varies(&self) -> bool {
        self.spread > 0.0 || self.log_spread > 0.0 || self.histogram.len() > 1
    }

    /// Tokens of a KV block.
    pub fn kv_block(&self) -> u32 {
        self.engine.scheduler.kv_block_tokens.0.unwrap_or(1.0) as u32
    }

    /// Tokens of a prompt that the prefix cache holds.
    pub fn cached(&self, prompt: u32) -> u32 {
        cached_tokens(prompt, self.cached_share, self.kv_block())
    }

    /// Tokens of each decoding sequence in one step: its newest, and those drafted.
    pub fn tokens_verified(&self) -> u32 {
        self.drafts.drafted.saturating_add(1)
    }

    /// Steps in which a request decodes, on average. With drafts a step yields `1 + accepted` tokens, and a request
    /// ends within a step: `(1 - 1 / yield) / 2` of one is lost.
    pub fn decode_steps(&self) -> f64 {
        let tokens = f64::from(self.osl.saturating_sub(1));
        let per_step = 1.0 + self.drafts.accepted;
        let steps = tokens / per_step + 0.5 * (1.0 - 1.0 / per_step);
        if tokens > 0.0 { steps.max(1.0) } else { 0.0 }
    }
}
