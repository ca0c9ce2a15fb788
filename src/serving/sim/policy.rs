//! The rules of one replica's scheduler.

use crate::config::{Batching, Drafts, cached_tokens};

use super::{Request, SimError};

/// How a scheduler works. Budgets and limits are those of one rank of attention data parallelism, each of
/// which has its own queue, slots and KV cache; the ranks step together.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub batching: Batching,
    /// Tokens of one step: `max_num_batched_tokens` (vLLM), `chunked_prefill_size` (SGLang, prompts only),
    /// `max_num_tokens` (TensorRT-LLM). Where decode shares the budget, so many sequences run at most.
    pub token_budget: u32,
    /// Prompt tokens from which on a prefill batch takes no further request (SGLang's `max_prefill_tokens`).
    pub max_prefill_tokens: Option<u32>,
    /// Sequences decode in the steps with prompts too, and their tokens count in both budgets (SGLang's
    /// `enable_mixed_chunk`). Other schedulers that put prompts first keep the two apart.
    pub mixed_chunk: bool,
    /// Prompts may be cut to fit into the budget; else they are taken whole.
    pub chunked: bool,
    /// Sequences that run at once.
    pub max_seqs: u32,
    /// New requests are read when a counter reaches this: a decode step adds 1, a step with prompts 1000
    /// (SGLang's `scheduler_recv_interval`). An idle scheduler reads at once. 1: every step.
    pub receive_interval: u32,
    /// A step is decided when the one before it begins, so that the GPU never waits for the host: what arrives
    /// meanwhile misses it (vLLM's async scheduling, SGLang's and TensorRT-LLM's overlap scheduler). An idle
    /// scheduler decides at once. With one pipeline stage only.
    pub ahead: bool,
    /// Not with more than one rank.
    pub batch_wait: Option<BatchWait>,
    pub balance_wait: Option<BalanceWait>,
    /// Ranks of attention data parallelism. A request goes to the one with the fewest.
    pub ranks: u32,
    /// Pipeline stages, each of which takes an equal part of a step. As many batches are in flight; a
    /// sequence stays in its batch.
    pub stages: u32,
    /// KV cache of one rank, in tokens.
    pub kv_tokens: u64,
    /// Tokens of a KV block.
    pub kv_block: u32,
    /// Prompt and output tokens of a request at most.
    pub context_tokens: Option<u32>,
    pub preempt: Preempt,
    /// Batch sizes of the CUDA graphs: steps of decode only are padded up to the next.
    pub graph_sizes: Option<Vec<u32>>,
    /// Share of each prompt found in the prefix cache, rounded down to blocks. It takes KV cache as if the
    /// sequence were alone to use it.
    pub cached_share: f64,
    /// Share that may be found of what earlier turns of a session left there, which stays until running sequences need the
    /// room: 0 where prefixes are not kept.
    pub history_cached: f64,
    /// Speculative decoding: a step yields `1 + accepted` tokens of each sequence on average, the same for all.
    pub drafts: Drafts,
    /// Seconds from a request's arrival until the scheduler can see it.
    pub admission_delay: f64,
    /// Seconds that the API server works on a request before it takes the next.
    pub admission_interval: f64,
    /// Requests that arrive while the API server works on others are handed on together, when it has worked on all of them:
    /// its event loop goes on to the next stage of a request only then. Otherwise each goes on at once.
    pub admission_together: bool,
    /// Seconds from the end of a step until the client sees its tokens.
    pub output_delay: f64,
}

/// TensorRT-LLM's batch waiting: while sequences decode, prompts wait until a step would have `tokens`
/// (prompts and decode together) or `iterations` steps have passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchWait {
    pub tokens: u32,
    pub iterations: u32,
}

/// TensorRT-LLM's attention DP balance: while all ranks decode, prompts wait until every rank has one, and
/// then for more of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalanceWait {
    /// Steps to wait at most until every rank has a prompt (`timeout_iters`). As there, the count runs on
    /// while no prompt waits.
    pub iterations: u32,
    /// Steps to wait once every rank has one (`batching_wait_iters`).
    pub gather: u32,
}

/// What happens when the KV cache is full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Preempt {
    /// The latest of the batch gives way and is computed anew, before all that wait (vLLM).
    Recompute,
    /// A request starts only when its prompt and whole output fit (TensorRT-LLM's `GUARANTEED_NO_EVICT`).
    Never,
    /// SGLang: a request starts when its prompt and output fit beside a share of the outputs still to come;
    /// the share begins at 0.7 times the conservativeness and falls to 0.14 of that over 600 decode steps.
    /// Should memory run out, those with the least output are computed anew, after all that wait.
    Retract { conservativeness: f64 },
    /// SGLang where output lengths are known (`ignore_eos`) and no prefix cache is used: a request starts
    /// when the KV cache will never run out.
    LookAhead,
}

impl Policy {
    /// vLLM's kind of scheduler (mixed chunks, recomputation) with this budget, slots and KV tokens: the rest
    /// is off, blocks have 16 tokens.
    pub fn new(token_budget: u32, max_seqs: u32, kv_tokens: u64) -> Self {
        Self {
            batching: Batching::MixedChunks,
            token_budget,
            max_prefill_tokens: None,
            mixed_chunk: false,
            chunked: true,
            max_seqs,
            receive_interval: 1,
            ahead: false,
            batch_wait: None,
            balance_wait: None,
            ranks: 1,
            stages: 1,
            kv_tokens,
            kv_block: 16,
            context_tokens: None,
            preempt: Preempt::Recompute,
            graph_sizes: None,
            cached_share: 0.0,
            history_cached: 0.0,
            drafts: Drafts::default(),
            admission_delay: 0.0,
            admission_interval: 0.0,
            admission_together: false,
            output_delay: 0.0,
        }
    }

    /// Sequences one rank may run, with room for their tokens in a step.
    pub(super) fn slots(&self) -> u32 {
        match self.batching {
            Batching::PrefillFirst => self.max_seqs,
            Batching::MixedChunks | Batching::InFlight => {
                self.max_seqs.min(self.token_budget / self.drafts.drafted.saturating_add(1))
            }
        }
    }

    /// KV blocks of one rank.
    pub(super) fn blocks(&self) -> u64 {
        self.kv_tokens / u64::from(self.kv_block.max(1))
    }

    pub(super) fn blocks_for(&self, tokens: u64) -> u64 {
        tokens.div_ceil(u64::from(self.kv_block.max(1)))
    }

    /// Tokens of a prompt that the prefix cache holds, `kept` blocks of them from earlier turns; the last is always computed.
    pub(super) fn cached(&self, prompt: u32, kept: u64) -> u32 {
        let history = (kept as f64 * self.history_cached) as u64 * u64::from(self.kv_block);
        let history = history.min(u64::from(prompt.saturating_sub(1))) as u32;
        cached_tokens(prompt, self.cached_share, self.kv_block).max(history)
    }

    /// Tokens the KV cache must hold for a request on its own. The last token is never written, but drafts are.
    pub(super) fn whole(&self, prompt: u32, output: u32) -> u64 {
        u64::from(prompt) + u64::from(output) + u64::from(self.drafts.drafted)
    }

    /// # Errors
    /// What is wrong with the policy itself.
    pub(super) fn check(&self) -> Result<(), SimError> {
        let Drafts { drafted, accepted } = self.drafts;
        let conservativeness = match self.preempt {
            Preempt::Retract { conservativeness } => conservativeness,
            _ => 0.0,
        };
        let delay = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
        let separate = self.batching == Batching::PrefillFirst;
        let sizes = self.graph_sizes.as_deref().unwrap_or_default();
        let rules = [
            (self.token_budget > 0, "the token budget must not be 0"),
            (self.max_seqs > 0, "at least one sequence must run"),
            (self.slots() > 0, "a sequence and its drafted tokens must fit into the token budget"),
            (self.max_prefill_tokens != Some(0), "the most prefill tokens must not be 0"),
            (self.ranks > 0 && self.ranks <= 4096, "the ranks must be 1 to 4096"),
            (self.stages > 0 && self.stages <= 4096, "the pipeline stages must be 1 to 4096"),
            (self.kv_block > 0 && self.kv_block <= 65_536, "a KV block must have 1 to 65536 tokens"),
            (self.cached_share >= 0.0 && self.cached_share <= 1.0, "the cached share must be 0 to 1"),
            (
                self.history_cached >= 0.0 && self.history_cached <= 1.0,
                "the cached share of a history must be 0 to 1",
            ),
            (
                accepted >= 0.0 && accepted <= f64::from(drafted),
                "accepted tokens must be 0 to the number drafted",
            ),
            (drafted <= 65_536, "at most 65536 tokens can be drafted"),
            (delay(conservativeness), "the conservativeness must be finite and not negative"),
            (
                delay(self.admission_delay) && delay(self.admission_interval) && delay(self.output_delay),
                "delays must be finite and not negative",
            ),
            (!separate || self.batch_wait.is_none(), "batch waiting needs prompts and decode in one step"),
            (!separate || self.balance_wait.is_none(), "rank balancing needs prompts and decode in one step"),
            (self.batch_wait.is_none() || self.ranks == 1, "batch waiting works without attention DP only"),
            (sizes.iter().all(|&size| size > 0), "a graph's batch size must not be 0"),
            (sizes.windows(2).all(|pair| pair[0] < pair[1]), "the graphs' batch sizes must rise"),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, broken)) => Err(SimError::Policy(broken)),
            None => Ok(()),
        }
    }

    /// # Errors
    /// The first request that this scheduler could never serve.
    pub(super) fn check_requests(&self, requests: &[Request]) -> Result<(), SimError> {
        let capacity = self.blocks();
        for (request, &Request { prompt, output }) in requests.iter().enumerate() {
            if prompt == 0 || output == 0 {
                let what = if prompt == 0 { "prompt" } else { "output" };
                return Err(SimError::EmptyRequest { request, what });
            }
            let tokens = u64::from(prompt) + u64::from(output);
            if let Some(limit) = self.context_tokens
                && tokens > u64::from(limit)
            {
                return Err(SimError::ContextLimit { request, tokens, limit });
            }
            let whole = self.whole(prompt, output);
            if self.blocks_for(whole) > capacity {
                let capacity = capacity * u64::from(self.kv_block);
                return Err(SimError::KvCapacity { request, tokens: whole, capacity });
            }
            let computed = prompt - self.cached(prompt, 0);
            if !self.chunked && computed > self.token_budget {
                return Err(SimError::StepBudget { request, tokens: computed, budget: self.token_budget });
            }
        }
        Ok(())
    }
}
