//! Engine flags and what they set, under all of their names.

/// A setting, which engines may name differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    Model,
    /// The format the engine quantises to, or expects.
    Quantization,
    Tp,
    Pp,
    /// Data-parallel ranks, of replicas or of attention alone.
    Dp,
    /// The switch that makes data parallelism attention-only (SGLang).
    DpAttention,
    Ep,
    /// The switch that spreads experts over all GPUs.
    EpOverAll,
    /// Tokens per step; in SGLang, per prefill chunk.
    TokenBudget,
    MaxSeqs,
    MemoryShare,
    /// The largest decode step with a CUDA graph.
    LargestGraph,
    /// All sizes with one.
    GraphSizes,
    /// The switch without which steps replay CUDA graphs.
    Eager,
    /// vLLM's kind of graphs.
    GraphMode,
    /// vLLM's level, as `-O0` or `-O3`.
    OptimizationLevel,
    /// vLLM's JSON that contains the same.
    Compilation,
    KvFormat,
    /// Tokens of the longest request served.
    Longest,
    /// Host memory for KV cache.
    HostCache,
    /// The switch that has SGLang use it.
    HostCacheOn,
    /// Tokens drafted per step.
    Drafted,
    /// vLLM's JSON that contains the same.
    Drafting,
    /// Tokens verified per step and sequence: those drafted and one more.
    Verified,
    /// How tokens are drafted; only their number matters.
    DraftedHow,
    /// SGLang's number of branches of a tree of drafts.
    DraftTree,
    /// Prefix caching, on or off.
    PrefixCache,
    ChunkedPrefill,
    /// The format that computes.
    Dtype,
    /// TensorRT-LLM's runtime.
    Backend,
    /// A file of options.
    OptionsFile,
    /// Affects neither time nor memory.
    Idle,
}

const NAMES: &[(Setting, &[&str])] = &[
    (Setting::Model, &["model", "model_path"]),
    (Setting::Quantization, &["quantization", "q"]),
    (Setting::Tp, &["tp", "tp_size", "tensor_parallel_size"]),
    (Setting::Pp, &["pp", "pp_size", "pipeline_parallel_size"]),
    (Setting::Dp, &["dp", "dp_size", "data_parallel_size"]),
    (Setting::DpAttention, &["enable_dp_attention"]),
    (Setting::Ep, &["ep", "ep_size", "expert_parallel_size", "moe_expert_parallel_size"]),
    // SGLang's backends for exchanging tokens between experts imply it.
    (
        Setting::EpOverAll,
        &["enable_expert_parallel", "moe_a2a_backend", "enable_deepep_moe", "enable_ep_moe"],
    ),
    (Setting::TokenBudget, &["max_num_batched_tokens", "chunked_prefill_size", "max_num_tokens"]),
    (Setting::MaxSeqs, &["max_num_seqs", "max_running_requests", "max_batch_size"]),
    (
        Setting::MemoryShare,
        &[
            "gpu_memory_utilization",
            "mem_fraction_static",
            "kv_cache_free_gpu_memory_fraction",
            "kv_cache_free_gpu_mem_fraction",
            "free_gpu_memory_fraction",
        ],
    ),
    (
        Setting::LargestGraph,
        &["max_cudagraph_capture_size", "cuda_graph_max_bs", "cuda_graph_config.max_batch_size"],
    ),
    (Setting::GraphSizes, &["cudagraph_capture_sizes", "cuda_graph_bs", "cuda_graph_config.batch_sizes"]),
    (Setting::Eager, &["enforce_eager", "disable_cuda_graph"]),
    (Setting::GraphMode, &["cudagraph_mode"]),
    (Setting::OptimizationLevel, &["o0", "o1", "o2", "o3", "o", "optimization_level"]),
    (Setting::Compilation, &["compilation_config", "cc"]),
    (Setting::KvFormat, &["kv_cache_dtype"]),
    (Setting::Longest, &["max_model_len", "context_length", "max_seq_len"]),
    (Setting::HostCacheOn, &["enable_hierarchical_cache"]),
    (Setting::HostCache, &["kv_offloading_size", "hicache_size"]),
    (
        Setting::Drafted,
        &[
            "num_speculative_tokens",
            "speculative_config.num_speculative_tokens",
            "speculative_num_steps",
            "num_nextn_predict_layers",
        ],
    ),
    (Setting::Drafting, &["speculative_config"]),
    (
        Setting::DraftedHow,
        &[
            "speculative_config.method",
            "speculative_config.model",
            "speculative_algorithm",
            "speculative_algo",
        ],
    ),
    (Setting::Verified, &["speculative_num_draft_tokens"]),
    (Setting::DraftTree, &["speculative_eagle_topk"]),
    (
        Setting::PrefixCache,
        &["enable_prefix_caching", "no_enable_prefix_caching", "disable_radix_cache", "enable_block_reuse"],
    ),
    (Setting::ChunkedPrefill, &["enable_chunked_prefill", "no_enable_chunked_prefill"]),
    (Setting::Dtype, &["dtype"]),
    (Setting::Backend, &["backend"]),
    (Setting::OptionsFile, &["extra_llm_api_options", "config"]),
    (
        Setting::Idle,
        &[
            "host",
            "port",
            "served_model_name",
            "trust_remote_code",
            "reasoning_parser",
            "tool_call_parser",
            "max_seq_len_to_capture",
            "log_level",
            "seed",
            "tokenizer",
            "tokenizer_path",
            "tokenizer_mode",
            "revision",
            "download_dir",
            "load_format",
            "api_key",
            "chat_template",
            "enable_auto_tool_choice",
            "generation_config",
            "disable_log_requests",
            "disable_log_stats",
            "no_enable_log_requests",
            "enable_metrics",
            "uvicorn_log_level",
            "max_log_len",
            "allowed_origins",
            "random_seed",
            "watchdog_timeout",
            "show_time_cost",
            "kv_offloading_backend",
            "nnodes",
            "node_rank",
            "dist_init_addr",
            "distributed_executor_backend",
            "print_iter_log",
            // As is counted.
            "cuda_graph_config.enable_padding",
        ],
    ),
];

/// What a flag sets, given its name with underscores and without dashes.
pub fn setting(name: &str) -> Option<Setting> {
    NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(setting, _)| *setting)
}

/// Flags that change times or memory considerably where their value is not read, or none of it is counted.
pub(super) const HEAVY: [&str; 33] = [
    "api_server_count",
    "attn_cp_size",
    "backend",
    "cc",
    "chunked_prefill_size",
    "compilation_config",
    "config",
    "cpu_offload_gb",
    "cudagraph_mode",
    "dcp",
    "decode_context_parallel_size",
    "disable_piecewise_cuda_graph",
    "disaggregation_mode",
    "dtype",
    "enable_chunked_prefill",
    "enable_dbo",
    "enable_lora",
    "enable_mixed_chunk",
    "extra_llm_api_options",
    "kv_cache_dtype",
    "kv_cache_memory_bytes",
    "kv_transfer_config",
    "lora_modules",
    "max_beam_width",
    "max_loras",
    "max_prefill_tokens",
    "max_total_tokens",
    "no_enable_chunked_prefill",
    "num_gpu_blocks_override",
    "prefill_context_parallel_size",
    "q",
    "quantization",
    "speculative_eagle_topk",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::command;

    #[test]
    fn a_name_sets_one_thing() {
        let mut names: Vec<&str> = NAMES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(!HEAVY.iter().any(|name| setting(name) == Some(Setting::Idle)));
    }

    #[test]
    fn what_changes_results_is_said_so() {
        for (launch, flag) in [
            ("vllm serve", "--decode-context-parallel-size 2"),
            ("vllm serve", "--kv-cache-dtype nvfp4"),
            ("vllm serve", "--kv-transfer-config {}"),
            ("vllm serve", "--no-enable-chunked-prefill"),
            ("python -m sglang.launch_server --model", "--disaggregation-mode prefill"),
            ("trtllm-serve", "--backend tensorrt"),
            ("trtllm-serve", "--config x.yml"),
        ] {
            let text = format!("{launch} Qwen/Qwen3-8B {flag}");
            let (_, issues) = command::read(&text, &Default::default()).expect("a command");
            let said = |text: &str| text.starts_with(command::CHANGES_RESULTS) && text.contains(flag);
            assert!(issues.iter().any(|issue| said(&issue.text)), "{text}: {issues:?}");
        }
        for idle in [
            "trtllm-serve Qwen/Qwen3-8B --backend pytorch",
            "vllm serve Qwen/Qwen3-8B --enable-chunked-prefill",
        ] {
            let (_, issues) = command::read(idle, &Default::default()).expect("a command");
            assert!(issues.iter().all(|issue| !issue.text.contains("ignored")), "{issues:?}");
        }
    }

    #[test]
    fn only_files_that_the_engine_is_given_are_read() {
        let of = |flag: &str, file: &str| {
            let text = format!("vllm serve Qwen/Qwen3-8B {flag}\ncat > {file} <<EOF\nmax_num_seqs: 7\nEOF");
            let (scenario, _) = command::read(&text, &Default::default()).expect("a command");
            scenario.and_then(|scenario| scenario.overrides.max_seqs)
        };
        assert_eq!(of("--config options.yaml", "options.yaml"), Some(7));
        assert_eq!(of("--config-format mistral", "override.yaml"), None);
        assert_eq!(of("--config options.yaml", "conversations.json"), None);
    }

    #[test]
    fn a_command_starts_one_server() {
        let onto = crate::config::Scenario { replicas: 3, ..Default::default() };
        let (_, issues) = command::read("vllm serve Qwen/Qwen3-8B", &onto).expect("a command");
        assert!(issues.iter().any(|issue| issue.field == crate::config::Field::Gpus), "{issues:?}");
    }
}
