//! The options of the engines: the one table by which commands are both read and written.

use crate::config::{Batching, Engine};

/// A program that commands are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    Vllm,
    Sglang,
    Trtllm,
    TrtllmBench,
}

impl Program {
    /// The engine's server.
    pub fn of(engine: &Engine) -> Self {
        match engine.scheduler.batching {
            Batching::MixedChunks => Self::Vllm,
            Batching::PrefillFirst => Self::Sglang,
            Batching::InFlight => Self::Trtllm,
        }
    }
}

struct EngineOption {
    /// As each [`Program`] is given it, in their order; empty where no command has it.
    written: [&'static str; 4],
    /// Other names, without dashes and with underscores, and keys of files as `outer.inner`.
    also: &'static str,
    /// Changes times or memory considerably where its value is not read.
    is_heavy: bool,
}

const fn read(also: &'static str) -> EngineOption {
    written([""; 4], also)
}

const fn written(written: [&'static str; 4], also: &'static str) -> EngineOption {
    EngineOption { written, also, is_heavy: false }
}

const fn vllm(flag: &'static str, also: &'static str) -> EngineOption {
    written([flag, "", "", ""], also)
}

const fn sglang(flag: &'static str, also: &'static str) -> EngineOption {
    written(["", flag, "", ""], also)
}

const fn heavy(option: EngineOption) -> EngineOption {
    EngineOption { is_heavy: true, ..option }
}

macro_rules! options {
    ($($(#[$about:meta])* $setting:ident = $option:expr,)+) => {
        /// What an option sets. Engines may name it differently.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Setting {
            $($(#[$about])* $setting,)+
        }

        /// Commands are written in this order.
        static OPTIONS: &[(Setting, EngineOption)] = &[$((Setting::$setting, $option),)+];
    };
}

options! {
    Model = read("model model_path"),
    Tp = written(["--tensor-parallel-size", "--tp-size", "--tp_size", "--tp"], ""),
    /// Tokens of the longest request served.
    Longest = vllm("--max-model-len", "context_length max_seq_len"),
    Pp = written(["--pipeline-parallel-size", "--pp-size", "--pp_size", "--pp"], ""),
    /// Data-parallel ranks, of replicas or of attention alone.
    Dp = written(["--data-parallel-size", "--dp-size", "", ""], "dp"),
    /// The switch that makes data parallelism attention-only.
    DpAttention = sglang("--enable-dp-attention", ""),
    Ep = written(["", "--ep-size", "--ep_size", "--ep"], "expert_parallel_size moe_expert_parallel_size"),
    /// The switch that spreads experts over all GPUs. SGLang's backends for exchanging tokens between experts imply it.
    EpOverAll = vllm("--enable-expert-parallel", "moe_a2a_backend enable_deepep_moe enable_ep_moe"),
    KvFormat = heavy(written(["--kv-cache-dtype", "--kv-cache-dtype", "", ""], "")),
    /// The format the engine quantises to, or expects.
    Quantization = heavy(written(["--quantization", "--quantization", "", ""], "q")),
    /// Tokens per step.
    TokenBudget = written(["--max-num-batched-tokens", "", "--max_num_tokens", "--max_num_tokens"], ""),
    /// Tokens per prefill chunk, of all ranks of attention together.
    PrefillChunk = heavy(sglang("--chunked-prefill-size", "")),
    MaxSeqs = written(["--max-num-seqs", "--max-running-requests", "--max_batch_size", "--max_batch_size"], ""),
    MemoryShare = written(
        ["--gpu-memory-utilization", "--mem-fraction-static", "--kv_cache_free_gpu_memory_fraction",
            "--kv_cache_free_gpu_mem_fraction"],
        "free_gpu_memory_fraction",
    ),
    /// The largest decode step with a CUDA graph.
    LargestGraph = written(
        ["--max-cudagraph-capture-size", "--cuda-graph-max-bs", "", ""],
        "cuda_graph_config.max_batch_size",
    ),
    /// All sizes with one.
    GraphSizes = read("cudagraph_capture_sizes cuda_graph_bs cuda_graph_config.batch_sizes"),
    /// The switch without which steps replay CUDA graphs.
    Eager = written(["--enforce-eager", "--disable-cuda-graph", "", ""], ""),
    /// vLLM's kind of graphs.
    GraphMode = heavy(read("cudagraph_mode")),
    /// vLLM's level, as `-O0` or `-O3`, or JSON of compilation.
    OptimizationLevel = read("o0 o1 o2 o3 o optimization_level"),
    /// vLLM's JSON that contains the same.
    Compilation = heavy(read("compilation_config cc")),
    PrefixCache = vllm("--enable-prefix-caching", "enable_block_reuse"),
    NoPrefixCache = written(["--no-enable-prefix-caching", "--disable-radix-cache", "", ""], ""),
    ChunkedPrefill = heavy(read("enable_chunked_prefill no_enable_chunked_prefill")),
    /// The switch without which a size of host memory has no effect.
    HostCacheOn = sglang("--enable-hierarchical-cache", ""),
    /// Host memory for KV cache, in the engine's [unit](super::HostCacheUnit).
    HostCache = written(["--kv-offloading-size", "--hicache-size", "", ""], ""),
    /// How tokens are drafted; only their number matters.
    DraftedHow = sglang("--speculative-algorithm",
        "speculative_algo speculative_config.method speculative_config.model speculative_config.decoding_type \
         speculative_config.speculative_model"),
    DraftModel = sglang("--speculative-draft-model-path", ""),
    /// Tokens drafted per step.
    Drafted = sglang("--speculative-num-steps",
        "num_speculative_tokens speculative_config.num_speculative_tokens num_nextn_predict_layers \
         speculative_config.num_nextn_predict_layers speculative_config.max_draft_len"),
    /// SGLang's number of branches of a tree of drafts.
    DraftTree = heavy(sglang("--speculative-eagle-topk", "")),
    /// Tokens verified per step and sequence: those drafted and one more.
    Verified = sglang("--speculative-num-draft-tokens", ""),
    /// vLLM's JSON of how many tokens are drafted, and how.
    Drafting = vllm("--speculative-config", ""),
    /// The format that computes.
    Dtype = heavy(read("dtype")),
    /// TensorRT-LLM's runtime.
    Backend = heavy(read("backend")),
    OptionsFile = heavy(written(
        ["", "", "--extra_llm_api_options", "--extra_llm_api_options"],
        "config extra_engine_args",
    )),
    /// Affects neither time nor memory, or is counted as it is by default.
    Idle = read(
        "host port served_model_name trust_remote_code reasoning_parser tool_call_parser max_seq_len_to_capture log_level \
         seed tokenizer tokenizer_path tokenizer_mode revision download_dir load_format api_key chat_template \
         enable_auto_tool_choice generation_config disable_log_requests disable_log_stats no_enable_log_requests \
         enable_metrics uvicorn_log_level max_log_len allowed_origins random_seed watchdog_timeout show_time_cost \
         kv_offloading_backend nnodes node_rank dist_init_addr distributed_executor_backend print_iter_log \
         cuda_graph_config.enable_padding",
    ),
    /// Not counted, whatever its value.
    Uncounted = heavy(read(
        "api_server_count attn_cp_size cpu_offload_gb dcp decode_context_parallel_size disable_piecewise_cuda_graph \
         disaggregation_mode enable_dbo enable_lora enable_mixed_chunk kv_cache_memory_bytes kv_transfer_config \
         lora_modules max_beam_width max_loras max_prefill_tokens max_total_tokens num_gpu_blocks_override \
         pcp prefill_context_parallel_size",
    )),
}

impl EngineOption {
    fn is_named(&self, name: &str) -> bool {
        let letters = |flag: &'static str| {
            flag.trim_start_matches('-').bytes().map(|letter| if letter == b'-' { b'_' } else { letter })
        };
        self.also.split(' ').chain(self.written).any(|flag| letters(flag).eq(name.bytes()))
    }
}

fn option(name: &str) -> Option<&'static (Setting, EngineOption)> {
    OPTIONS.iter().find(|(_, option)| !name.is_empty() && option.is_named(name))
}

/// What a flag sets, given its name with underscores and without dashes.
pub fn setting(name: &str) -> Option<Setting> {
    option(name).map(|(setting, _)| *setting)
}

/// Whether a flag, or the one that it is a part of, changes times or memory considerably where its value is not read.
pub(super) fn is_heavy(name: &str) -> bool {
    let whole = || option(name.split_once('.')?.0);
    option(name).or_else(whole).is_some_and(|(_, option)| option.is_heavy)
}

impl Setting {
    /// The option that sets it in a program's commands; empty if there is none.
    pub fn written(self, program: Program) -> &'static str {
        written_for(program).find(|(setting, _)| *setting == self).map_or("", |(_, flag)| flag)
    }
}

/// The options of a program's commands, in order.
pub fn written_for(program: Program) -> impl Iterator<Item = (Setting, &'static str)> {
    let of = move |(setting, option): &(Setting, EngineOption)| (*setting, option.written[program as usize]);
    OPTIONS.iter().map(of).filter(|(_, flag)| !flag.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::command::{self, Flag};

    #[test]
    fn a_name_sets_one_thing() {
        for (setting, option) in OPTIONS {
            for name in option.also.split_whitespace().chain(option.written).filter(|name| !name.is_empty()) {
                let name = Flag::new(name, None).name;
                let all = OPTIONS.iter().filter(|(_, option)| option.is_named(&name));
                assert!(all.map(|(other, _)| other).eq([setting]), "{name}");
            }
        }
    }

    #[test]
    fn what_is_written_is_documented() {
        let text = include_str!("../../../static/catalog/options.json");
        let documented: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let programs = documented["programs"].as_array().expect("a list");
        for (column, of) in programs[..4].iter().enumerate() {
            let known = of["options"].as_array().expect("a list");
            let mut written = OPTIONS.iter().map(|(_, option)| option.written[column]);
            assert!(written.all(|flag| flag.is_empty() || known.contains(&flag.into())), "{}", of["program"]);
        }
    }

    #[test]
    fn what_changes_results_is_said_so() {
        for (launch, flag) in [
            ("vllm serve", "--decode-context-parallel-size 2"),
            ("vllm serve", "--pcp 2"),
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
