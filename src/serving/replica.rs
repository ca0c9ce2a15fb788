//! A setup's replica as input to the simulator.

use super::report::Memory;
use super::sim::{self, HostCache, Policy, Preempt};
use super::table::{Extent, Phases};
use crate::config::catalog::numbers::graphs::constants;
use crate::config::catalog::numbers::sglang;
use crate::config::model::Attention;
use crate::config::{Batching, HostTime, Setup, Support};
use crate::units::{GIB, Seconds};

/// Tokens of the largest prefill step that replays a CUDA graph, but for its attention. vLLM captures such steps too,
/// and pads all ranks to the busiest only in those (its pull requests 34102 and 46428). SGLang captures up to its chunk
/// size, with latent attention less, and only what its `piecewise_cuda_graph` supports. TensorRT-LLM launches prompts
/// kernel by kernel.
pub(super) fn mixed_graph(setup: &Setup) -> u64 {
    if let Some(tokens) = setup.engine.graph_tokens {
        return u64::from(tokens);
    }
    match setup.engine.scheduler.batching {
        Batching::MixedChunks => u64::from(setup.largest_graph.min(setup.token_budget)),
        Batching::PrefillFirst if setup.largest_graph > 0 && captures_prompts(setup) => {
            let latent = setup.model.attentions().any(|of| matches!(of, Attention::Mla(_)));
            let most = if latent { constants().latent_tokens } else { f64::INFINITY };
            (most as u64).min(u64::from(setup.token_budget))
        }
        Batching::PrefillFirst | Batching::InFlight => 0,
    }
}

/// Whether SGLang's graphs of steps with prompts support the model.
fn captures_prompts(setup: &Setup) -> bool {
    let indexed = |of: &Attention| matches!(of, Attention::Mla(mla) if mla.indexer.is_some());
    setup.parallel.batches() == 1
        && setup.workload.drafts.drafted == 0
        && setup.model.encoder.is_none()
        && !setup.gpu.arch.is_amd()
        && !setup.model.attentions().any(indexed)
}

/// The scheduler of one replica of `setup`, with the engine's rules and the KV cache size.
///
/// Sequences and budget are per attention data parallel rank, as engines count them.
pub fn policy(setup: &Setup, memory: &Memory) -> Policy {
    let batching = setup.engine.scheduler.batching;
    Policy {
        batching,
        ahead: decides_ahead(setup),
        chunked: batching != Batching::InFlight,
        max_prefill_tokens: (batching == Batching::PrefillFirst)
            .then(|| sglang::constants().max_prefill_tokens as u32),
        ranks: setup.parallel.dp,
        stages: setup.parallel.pp,
        kv_block: setup.kv_block(),
        context_tokens: Some(setup.model.max_context),
        preempt: match batching {
            Batching::MixedChunks => Preempt::Recompute,
            // With its prefix cache on, SGLang reserves a share of the outputs; the default is used.
            Batching::PrefillFirst if setup.keeps_prefixes() => Preempt::Retract { conservativeness: 1.0 },
            Batching::PrefillFirst => Preempt::LookAhead,
            Batching::InFlight => Preempt::Never,
        },
        admits_by_chunk: setup.engine.admits_by_chunk,
        cached_share: setup.workload.cached_share,
        history_cached: histories(setup),
        host: host_cache(setup, memory),
        drafts: setup.workload.drafts,
        admission_delay: admission(&setup.engine.host, 0.0).0,
        admission_per_token: Seconds::from_micros(setup.engine.host.prompt_token_us.checked()).0,
        admission_interval: frontend(setup).0,
        stream_interval: streaming(setup).0,
        stream_queues: setup.engine.host.stream_queues,
        graph_sizes: graph_sizes(setup),
        ..Policy::new(
            setup.token_budget,
            setup.max_seqs,
            (memory.kv_tokens / f64::from(setup.parallel.dp)) as u64,
        )
    }
}

/// The least share of a pass of a lone prompt of `tokens` until its first token: its chunks follow each other through the
/// pipeline stages, and only the last one has to pass all of them after the others.
pub fn share_of_pass(setup: &Setup, tokens: f64) -> f64 {
    let (stages, budget) = (f64::from(setup.parallel.pp), f64::from(setup.token_budget));
    if setup.engine.scheduler.batching == Batching::InFlight || tokens <= budget {
        return 1.0;
    }
    let last = tokens - budget * ((tokens / budget).ceil() - 1.0);
    (1.0 + (stages - 1.0) * last / tokens) / stages
}

/// What the prefix cache keeps for a session's next turn, or for a preempted request, if it is on.
fn histories(setup: &Setup) -> f64 {
    let of_request = || if setup.keeps_prefixes() { 1.0 } else { 0.0 };
    setup.workload.session().map_or_else(of_request, |turns| turns.history_cached)
}

/// Each GPU keeps and reads its own part of the cache, all at the same time, at the published rate of the link.
fn host_cache(setup: &Setup, memory: &Memory) -> HostCache {
    let block = memory.kv_per_token * f64::from(setup.kv_block());
    let Ok(bandwidth) = setup.gpu.host_bandwidth() else { return HostCache::default() };
    HostCache { blocks: (setup.host_gib() * GIB / block.0) as u64, seconds_per_block: (block / bandwidth).0 }
}

/// Whether steps are scheduled asynchronously: without pipeline stages, all engines do so by default.
pub fn decides_ahead(setup: &Setup) -> bool {
    setup.parallel.pp == 1
}

/// Sequences of a rank's largest decode step that replays a CUDA graph: larger ones are launched kernel by kernel.
pub fn largest_graph(setup: &Setup) -> u32 {
    if setup.engine.support(&setup.model) == Support::TextEagerly {
        return 0;
    }
    match setup.engine.scheduler.batching {
        Batching::MixedChunks => setup.largest_graph / setup.tokens_verified().max(1),
        Batching::PrefillFirst | Batching::InFlight => setup.largest_graph,
    }
}

/// Time from when the API server takes a request until it can take the next.
pub(super) fn frontend(setup: &Setup) -> Seconds {
    Seconds::from_micros(setup.engine.host.frontend_us.checked() / api_servers(setup))
}

/// Time the API server takes to send one token.
fn streaming(setup: &Setup) -> Seconds {
    Seconds::from_micros(setup.engine.host.stream_us.checked() / api_servers(setup))
}

/// Several API servers of a replica are simulated as one that is as many times as fast.
pub(super) fn api_servers(setup: &Setup) -> f64 {
    if setup.engine.host.server_per_rank { f64::from(setup.parallel.dp) } else { 1.0 }
}

/// Time from the API server to the engine's scheduler, including tokenising.
pub fn admission(host: &HostTime, prompt: f64) -> Seconds {
    Seconds::from_micros(host.admission_us.checked() + host.prompt_token_us.checked() * prompt)
}

/// Decode batch sizes with a CUDA graph.
pub fn graph_sizes(setup: &Setup) -> Vec<u32> {
    let (most, step) = (setup.max_seqs.min(largest_graph(setup)), constants().step as u32);
    if most == 0 {
        return Vec::new();
    }
    let multiples = (1..).map(|count| count * step);
    let scheduler = &setup.engine.scheduler;
    let listed = match setup.workload.drafts.drafted {
        0 => &scheduler.small_graphs,
        _ => &scheduler.drafting_graphs,
    };
    let powers = std::iter::successors(Some(1), |size| Some(size * 2)).take_while(|&size| size < step);
    let small: Vec<u32> = if listed.is_empty() { powers.collect() } else { listed.clone() };
    let last = small.last().copied().unwrap_or(0);
    let larger = multiples.skip_while(|&size| size <= last);
    let mut sizes: Vec<u32> = small.iter().copied().chain(larger).take_while(|&size| size < most).collect();
    sizes.push(most);
    sizes
}

/// How many sequences a decode step of one rank runs with: the size of its CUDA graph.
pub fn padded(setup: &Setup, decoding: u64) -> u64 {
    let graph = |decoding| u64::from(sim::padded(&graph_sizes(setup), decoding));
    u32::try_from(decoding).map_or(decoding, graph)
}

/// The largest steps of one rank with `clients` at once and prompts and outputs of up to these lengths.
pub fn extent(setup: &Setup, clients: u32, prompt: u32, output: u32) -> Extent {
    let sequences = setup.max_seqs.min(clients.div_ceil(setup.parallel.dp)).max(1);
    let budget = setup.token_budget.max(if setup.engine.scheduler.batching == Batching::InFlight {
        prompt
    } else {
        1
    });
    // No step exceeds all prompts together.
    let tokens = u64::from(budget).min(u64::from(sequences) * u64::from(prompt))
        + u64::from(sequences) * u64::from(setup.tokens_verified());
    Extent {
        tokens: tokens.max(2),
        sequences: u64::from(sequences),
        length: u64::from(prompt) + u64::from(output),
        prompt: u64::from(prompt.min(budget)),
        phases: Phases::Both,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;
    use crate::config::check;
    use crate::config::link::decode;

    #[test]
    fn graphs_end_at_the_largest_batch() {
        let sizes = |link: &str| graph_sizes(&check(&decode(link).0.scenario, catalog()).0.expect("checked"));
        assert_eq!(sizes("c=1&ms=1"), [1]);
        assert_eq!(sizes("c=1&ms=20"), [1, 2, 4, 8, 16, 20]);
        assert_eq!(sizes("e=sglang&c=1&ms=20"), [1, 2, 4, 8, 12, 16, 20]);
        let drafting = sizes("m=deepseek-v3&g=h200-sxm&tp=8&e=sglang&c=1&ms=80&sd=3");
        assert_eq!(drafting[7..10], [8, 10, 12]);
        assert_eq!(drafting[drafting.len() - 4..], [60, 64, 72, 80]);
        // vLLM's limit is in tokens, SGLang's depends on the GPUs, and TensorRT-LLM's is small.
        let largest = |link: &str| sizes(link).last().copied();
        assert_eq!(largest("m=qwen3-8b&c=1"), Some(512));
        assert_eq!(largest("m=deepseek-r1&g=b200&tp=8&c=1&sd=3"), Some(128));
        assert_eq!(largest("m=qwen3-8b&e=sglang&c=1"), Some(256));
        assert_eq!(largest("m=qwen3-8b&e=sglang&tp=4&c=1"), Some(512));
        assert_eq!(largest("m=qwen3-8b&e=sglang&g=l40s&c=1"), Some(32));
        assert_eq!(largest("m=qwen3-8b&e=trtllm&c=1"), Some(128));
        assert_eq!(["cg=64", "cg=0"].map(|own| largest(&format!("m=qwen3-8b&{own}"))), [Some(64), None]);
    }

    #[test]
    fn a_preempted_request_finds_its_blocks_if_the_prefix_cache_is_on() {
        let kept = |link: &str| histories(&check(&decode(link).0.scenario, catalog()).0.expect("checked"));
        assert_eq!(["c=8", "c=8&pc=0.5", "sn=8&hc=0.3"].map(kept), [0.0, 1.0, 0.3]);
    }

    #[test]
    fn prompts_replay_graphs_where_the_engine_captures_them() {
        let most = |link: &str| {
            let setup = check(&decode(link).0.scenario, catalog()).0;
            mixed_graph(&setup.expect("checked"))
        };
        assert_eq!(most("v=1&m=qwen3-32b&tp=4"), 512);
        assert_eq!(most("v=1&m=qwen3-32b&tp=4&e=trtllm"), 0);
        assert_eq!(most("v=1&m=qwen3-32b&tp=4&e=sglang"), 8192, "the chunk size");
        assert_eq!(most("v=1&m=deepseek-r1&g=b200&tp=8&e=sglang"), 2048, "latent attention");
        assert_eq!(most("v=1&m=deepseek-r1&g=b200&dp=8&tp=1&e=sglang"), 0, "attention data parallelism");
        assert_eq!(["", "&e=sglang"].map(|of| most(&format!("m=qwen3-32b&tp=4&cg=0{of}"))), [0, 0], "eager");
    }
}
