//! The scheduling rules of one replica.

use serde::Deserialize;

use crate::config::{Batching, Drafts, cached_tokens};

use super::{HostCache, Request, SimError};

/// A scheduler's rules. Budgets and limits are per attention data parallel rank, each with its own queue, slots and
/// KV cache; the ranks step together.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub batching: Batching,
    /// Tokens per step: `max_num_batched_tokens` (vLLM), `chunked_prefill_size` (SGLang, prompts only),
    /// `max_num_tokens` (TensorRT-LLM). If decode shares the budget, it also limits the number of sequences.
    pub token_budget: u32,
    /// Prompt tokens at which a prefill batch stops taking requests (SGLang's `max_prefill_tokens`).
    pub max_prefill_tokens: Option<u32>,
    /// Sequences also decode in steps with prompts, and their tokens count in both budgets (SGLang's
    /// `enable_mixed_chunk`). Other prefill-first schedulers keep the two apart.
    pub mixed_chunk: bool,
    /// Prompts may be chunked to fit the budget; otherwise they are scheduled whole.
    pub chunked: bool,
    /// Maximum running sequences.
    pub max_seqs: u32,
    /// New requests are read when a counter reaches this: a decode step adds 1, a prefill step 1000 (SGLang's
    /// `scheduler_recv_interval`). An idle scheduler reads immediately. 1: every step.
    pub receive_interval: u32,
    /// Asynchronous scheduling: a step is scheduled when the previous one starts, so the GPU never waits for the
    /// host, and requests arriving in between miss it (vLLM's async scheduling, SGLang's and TensorRT-LLM's overlap
    /// scheduler). An idle scheduler decides immediately. Only with a single pipeline stage.
    pub ahead: bool,
    /// Only with a single rank.
    pub batch_wait: Option<BatchWait>,
    pub balance_wait: Option<BalanceWait>,
    /// Attention data parallel ranks. A request goes to the least loaded one.
    pub ranks: u32,
    /// Pipeline stages, each taking an equal part of a step. There are as many micro-batches in flight; a sequence
    /// stays in its own.
    pub stages: u32,
    /// KV cache of one rank, in tokens.
    pub kv_tokens: u64,
    /// Tokens of a KV block.
    pub kv_block: u32,
    /// Maximum prompt plus output tokens of a request.
    pub context_tokens: Option<u32>,
    pub preempt: Preempt,
    /// With [`Preempt::Recompute`]: a waiting request starts once its first chunk fits in the KV cache, though the rest of
    /// its prompt may not.
    pub admits_by_chunk: bool,
    /// Batch sizes of the CUDA graphs: decode-only steps are padded to the next one.
    pub graph_sizes: Vec<u32>,
    /// Fraction of each prompt found in the prefix cache, rounded down to blocks. It occupies KV cache as if not
    /// shared.
    pub cached_share: f64,
    /// Fraction of a session's earlier turns that may be found in the cache, where they stay until running
    /// sequences need the memory; 0 without prefix caching.
    pub history_cached: f64,
    /// Where the histories of sessions are kept in addition.
    pub host: HostCache,
    /// Speculative decoding: a step yields a mean of `1 + accepted` tokens per sequence, the same for all.
    pub drafts: Drafts,
    /// Seconds from when the API server takes a request until the scheduler sees it.
    pub admission_delay: f64,
    /// Seconds that each token of the prompt adds to `admission_delay`.
    pub admission_per_token: f64,
    /// Seconds from when the API server takes a request until it can take the next.
    pub admission_interval: f64,
    /// Requests that arrive while the API server is busy are forwarded together once it has handled all of them:
    /// its event loop only then moves on to a request's next stage. Otherwise each is forwarded immediately.
    pub admission_together: bool,
    /// Seconds the API server spends on a token before it sends the next. Those of a step, and requests that arrive meanwhile,
    /// wait for each other.
    pub stream_interval: f64,
    /// Tokens that come faster than they are sent queue; otherwise each step's are sent from its end.
    pub stream_queues: bool,
}

/// TensorRT-LLM's batch waiting: while sequences decode, prompts wait until a step would have `tokens` (prompts and
/// decode together) or `iterations` steps have passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchWait {
    pub tokens: u32,
    pub iterations: u32,
}

/// TensorRT-LLM's attention DP balance: while all ranks decode, prompts wait until every rank has one, and then for
/// more of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BalanceWait {
    /// Maximum steps to wait until every rank has a prompt (`timeout_iters`). As in TensorRT-LLM, the count
    /// continues while no prompt waits.
    pub iterations: u32,
    /// Steps to wait once every rank has one (`batching_wait_iters`).
    #[serde(rename = "batching")]
    pub gather: u32,
}

/// What happens when the KV cache is full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Preempt {
    /// The newest sequence is preempted and recomputed, ahead of the queue (vLLM).
    Recompute,
    /// A request starts only if its prompt and whole output fit (TensorRT-LLM's `GUARANTEED_NO_EVICT`).
    Never,
    /// SGLang: a request starts if its prompt and output fit in addition to a share of the outstanding outputs; the
    /// share starts at 0.7 times the conservativeness and falls to 0.14 of that over 600 decode steps. If memory
    /// runs out, the sequences with the least output are recomputed, behind the queue.
    Retract { conservativeness: f64 },
    /// SGLang with known output lengths (`ignore_eos`) and no prefix cache: a request starts if the KV cache will
    /// never run out.
    LookAhead,
}

/// The size of the smallest CUDA graph that holds `decoding` sequences; `decoding` itself if none does.
pub fn padded(sizes: &[u32], decoding: u32) -> u32 {
    sizes.get(sizes.partition_point(|&size| size < decoding)).copied().unwrap_or(decoding)
}

impl Policy {
    /// A vLLM-like scheduler (mixed chunks, recomputation) with this budget, slots and KV tokens: everything else
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
            admits_by_chunk: false,
            graph_sizes: Vec::new(),
            cached_share: 0.0,
            history_cached: 0.0,
            host: HostCache::default(),
            drafts: Drafts::default(),
            admission_delay: 0.0,
            admission_per_token: 0.0,
            admission_interval: 0.0,
            admission_together: false,
            stream_interval: 0.0,
            stream_queues: false,
        }
    }

    /// The policy behind an API server that takes no time.
    pub fn without_frontend(&self) -> Self {
        Self {
            admission_delay: 0.0,
            admission_per_token: 0.0,
            admission_interval: 0.0,
            stream_interval: 0.0,
            ..self.clone()
        }
    }

    /// Sequences a rank may run, limited by the tokens per step.
    pub fn slots(&self) -> u32 {
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

    /// Of the `fill` tokens that a request needs in its KV cache to go on, those found in the prefix cache; `kept`
    /// blocks are from earlier turns, or its own from before a preemption. The last token is always computed.
    pub(super) fn cached(&self, prompt: u32, fill: u32, kept: u64) -> u32 {
        let block = u64::from(self.kv_block);
        let whole = u64::from(fill.saturating_sub(1)) / block;
        let history = ((kept as f64 * self.history_cached) as u64).min(whole) * block;
        cached_tokens(prompt, self.cached_share, self.kv_block).max(history as u32)
    }

    /// KV cache tokens a lone request needs. The last token is never written, but drafts are.
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
        let sizes = &self.graph_sizes;
        let rules = [
            (self.token_budget > 0, "the token budget must not be 0"),
            (self.max_seqs > 0, "at least one sequence must run"),
            (self.slots() > 0, "a sequence and its drafted tokens must fit into the token budget"),
            (self.max_prefill_tokens != Some(0), "the limit on prefill tokens must not be 0"),
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
            (delay(self.host.seconds_per_block), "reading the host's memory must take a finite time"),
            (delay(conservativeness), "the conservativeness must be finite and not negative"),
            (
                [self.admission_delay, self.admission_per_token, self.admission_interval]
                    .into_iter()
                    .all(delay),
                "delays must be finite and not negative",
            ),
            (delay(self.stream_interval), "sending a token must take a finite time"),
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
    /// The first request that this scheduler can never serve.
    pub(super) fn check_requests(&self, requests: &[Request]) -> Result<(), SimError> {
        let capacity = self.blocks();
        for (request, &Request { prompt, output, .. }) in requests.iter().enumerate() {
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
            if capacity == 0 {
                return Err(SimError::NoRoom);
            }
            if self.blocks_for(whole) > capacity {
                let capacity = capacity * u64::from(self.kv_block);
                return Err(SimError::KvCapacity { request, tokens: whole, capacity });
            }
            let computed = prompt - self.cached(prompt, prompt, 0);
            if !self.chunked && computed > self.token_budget {
                return Err(SimError::StepBudget { request, tokens: computed, budget: self.token_budget });
            }
        }
        Ok(())
    }
}
