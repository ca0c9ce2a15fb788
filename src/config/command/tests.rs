mod benchmarks;
mod drafts;
mod files;
mod manifests;

use proptest::prelude::*;

use super::*;
use crate::config::catalog::catalog;
use crate::config::{Dtype, ModelChoice, check, link};

/// The link for what a command starts, with the findings; `None` if it is not a launch command.
fn read_link(text: &str) -> Option<(String, Vec<String>)> {
    let (scenario, issues) = read(text, &Scenario::default())?;
    let link = scenario.map(|scenario| link::encode(&scenario)).unwrap_or_default();
    let texts = issues.into_iter().filter(|issue| issue.severity != crate::config::Severity::Note);
    Some((link, texts.map(|issue| issue.text).collect()))
}

fn link_of(text: &str) -> String {
    let (link, issues) = read_link(text).unwrap_or_else(|| panic!("no command: {text}"));
    assert_eq!(issues, Vec::<String>::new(), "{text}");
    link
}

#[test]
fn commands_of_each_engine_are_read() {
    for (text, link) in [
        ("vllm serve Qwen/Qwen3-32B --tensor-parallel-size 4", "v=1&m=qwen3-32b&tp=4"),
        ("vllm serve Qwen/Qwen3-32B -tp=4 -pp 2", "v=1&m=qwen3-32b&tp=4&pp=2"),
        (
            "$ VAR=1 vllm serve deepseek-ai/DeepSeek-R1-0528 \\\n  --data-parallel-size 8 --enable-expert-parallel \\\n  --max-num-seqs=256 --max-num-batched-tokens 8k --port 8000\n",
            "v=1&m=deepseek-r1&n=8&dp=8&ep=8&tb=8000&ms=256",
        ),
        (
            "python3 -m vllm.entrypoints.openai.api_server --model=RedHatAI/Qwen3-32B-quantized.w4a16 --kv-cache-dtype fp8 --gpu-memory-utilization 0.85",
            "v=1&m=qwen3-32b&w=int4&kv=fp8&mem=0.85",
        ),
        (
            "vllm serve Qwen/Qwen3-32B -tp=4 -pp 2 --kv-offloading-backend native --kv-offloading-size 256",
            "v=1&m=qwen3-32b&tp=4&pp=2&hm=32",
        ),
        (
            "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --enable-hierarchical-cache --hicache-size 1073.741824",
            "v=1&m=qwen3-8b&e=sglang&hm=1000",
        ),
        ("vllm serve Qwen/Qwen3-32B --quantization fp8", "v=1&m=qwen3-32b&w=fp8"),
        ("vllm serve Qwen/Qwen3-32B-AWQ --quantization awq_marlin", "v=1&m=qwen3-32b&w=int4"),
        ("vllm serve Qwen/Qwen3-32B --data-parallel-size 2", "v=1&m=qwen3-32b&n=2"),
        (
            "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3.1 --tp 8 --dp 8 --enable-dp-attention --ep-size 8 --chunked-prefill-size 4096",
            "v=1&m=deepseek-v3&e=sglang&dp=8&ep=8&tb=512",
        ),
        (
            "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp 2 --dp 2",
            "v=1&m=qwen3-8b&e=sglang&n=4&tp=2",
        ),
        (
            "trtllm-serve nvidia/DeepSeek-R1-FP4 --tp_size 8 --ep_size 8",
            "v=1&m=deepseek-r1&e=trtllm&tp=8&ep=8&w=nvfp4&kv=fp8",
        ),
        ("cd /x && source venv/bin/activate; /opt/bin/vllm serve Qwen/Qwen3-8B > log 2>&1", "v=1&m=qwen3-8b"),
        ("export TP=2; vllm serve Qwen/Qwen3-8B -tp $TP; echo done", "v=1&m=qwen3-8b&tp=2"),
        ("TP=2;vllm serve Qwen/Qwen3-8B > out.log 2>&1 -tp $TP&", "v=1&m=qwen3-8b&tp=2"),
        ("bash -c 'export TP=2; vllm serve Qwen/Qwen3-8B -tp $TP'", "v=1&m=qwen3-8b&tp=2"),
        ("nohup vllm serve Qwen/Qwen3-8B -tp 2 >server.log 2>/dev/null &", "v=1&m=qwen3-8b&tp=2"),
        (
            "docker run --gpus all -e HF_TOKEN=x -p 8000:8000 vllm/vllm-openai:latest --model Qwen/Qwen3-8B --tensor-parallel-size 2",
            "v=1&m=qwen3-8b&tp=2",
        ),
        (
            "docker run lmsysorg/sglang:latest python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B",
            "v=1&m=qwen3-8b&e=sglang",
        ),
        ("bash -c 'vllm serve Qwen/Qwen3-8B -tp 2'", "v=1&m=qwen3-8b&tp=2"),
        ("vllm serve --trust-remote-code Qwen/Qwen3-8B -tp 2", "v=1&m=qwen3-8b&tp=2"),
        (
            "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 8 --moe-a2a-backend deepep",
            "v=1&m=deepseek-r1&e=sglang&tp=8&ep=8",
        ),
        (
            "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 8 --moe-a2a-backend none",
            "v=1&m=deepseek-r1&e=sglang&tp=8",
        ),
    ] {
        let (_, issues) = link::decode(&format!("#{link}"));
        assert_eq!(issues, [], "{link}");
        let (expected, _) = link::decode(link);
        assert_eq!(link_of(text), expected.encode(), "{text}");
    }
}

#[test]
fn another_version_and_too_short_a_context_are_said() {
    let said = |text: &str| -> Vec<String> {
        let (_, issues) = read(text, &Scenario::default()).expect("a command");
        issues.into_iter().map(|issue| issue.text).collect()
    };
    let run = |image: &str, flags: &str| said(&format!("docker run {image} --model Qwen/Qwen3-8B {flags}"));
    let current = &catalog().engine("vllm").expect("in the catalog").version;
    for image in
        ["vllm/vllm-openai", "vllm/vllm-openai:latest", &format!("vllm/vllm-openai:v{current}-cu129")]
    {
        assert_eq!(run(image, "--max-model-len 1536"), Vec::<String>::new(), "{image}");
    }
    let other = format!("the image is of vLLM 0.6.3; the prediction is for {current}");
    assert_eq!(run("registry:5000/vllm/vllm-openai:v0.6.3", "--max-model-len auto"), [other]);
    let short = run("vllm/vllm-openai", "--max-model-len 1024");
    assert!(short.len() == 1 && short[0].contains("up to 1024 tokens"), "{short:?}");
}

#[test]
fn a_prefix_cache_that_finds_nothing_is_said_to_be_off() {
    let notes = |link: &str| {
        let (form, _) = link::decode(link);
        let (_, issues) =
            read("vllm serve Qwen/Qwen3-8B --enable-prefix-caching", &form.scenario).expect("a command");
        issues.iter().filter(|issue| issue.field == Field::CachedShare).count()
    };
    assert_eq!([notes("v=1"), notes("v=1&pc=0.5"), notes("v=1&sn=4")], [1, 0, 0]);
}

#[test]
fn a_prefix_cache_that_is_off_finds_nothing() {
    let found = |command: &str, link: &str| {
        let (scenario, issues) = read(command, &link::decode(link).0.scenario).expect("a command");
        let scenario = scenario.expect("a scenario");
        let said = issues.iter().any(|issue| issue.text.contains("prefix cache off"));
        (scenario.workload.cached_share, scenario.workload.turns.history_cached, said)
    };
    for off in [
        "vllm serve Qwen/Qwen3-8B --no-enable-prefix-caching",
        "vllm serve Qwen/Qwen3-8B --enable-prefix-caching=False",
        "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --disable-radix-cache",
        "printf 'kv_cache_config:\\n  enable_block_reuse: false\\n' > options.yaml\ntrtllm-serve Qwen/Qwen3-8B \
         --extra_llm_api_options options.yaml",
    ] {
        assert_eq!(found(off, "v=1&pc=0.5"), (0.0, 1.0, true), "{off}");
        assert_eq!(found(off, "v=1&sn=4"), (0.0, 0.0, true), "{off}");
    }
    assert_eq!(found("vllm serve Qwen/Qwen3-8B --enable-prefix-caching", "v=1&pc=0.5"), (0.5, 1.0, false));
}

#[test]
fn the_cache_follows_the_scales_of_a_checkpoint() {
    let kv = |text: &str| {
        let (scenario, issues) = read(text, &Scenario::default()).unwrap();
        (scenario.unwrap().kv, issues.iter().filter(|issue| issue.field == Field::Kv).count())
    };
    assert_eq!(kv("vllm serve nvidia/Llama-3.1-8B-Instruct-FP8"), (Dtype::Fp8, 1));
    // In the catalog, the checkpoint's own files decide.
    assert_eq!(kv("vllm serve Qwen/Qwen3-32B-FP8-Static-PerTensor"), (Dtype::Fp8, 1));
    assert_eq!(kv("vllm serve /models/Qwen3-32B-FP8-Static-PerTensor"), (Dtype::Fp8, 1));
    assert_eq!(kv("vllm serve nvidia/DeepSeek-V4-Flash-NVFP4"), (Dtype::Bf16, 0));
    assert_eq!(kv("trtllm-serve nvidia/Qwen3-235B-A22B-NVFP4 --kv_cache_dtype auto"), (Dtype::Fp8, 1));
    assert_eq!(kv("vllm serve nvidia/Llama-3.1-8B-Instruct-FP8 --kv-cache-dtype bfloat16"), (Dtype::Bf16, 0));
    assert_eq!(kv("vllm serve amd/Llama-3.1-70B-Instruct-FP8-KV"), (Dtype::Fp8, 1));
    assert_eq!(kv("vllm serve RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8"), (Dtype::Bf16, 0));
}

#[test]
fn a_script_has_its_values() {
    let script = "#!/bin/bash\nexport MODEL=Qwen/Qwen3-8B\nTP=2\ndocker pull vllm/vllm-openai:latest\n\
                  docker run -e HF_TOKEN vllm/vllm-openai:latest --model $MODEL \\\n  -tp ${TP} --max-num-seqs ${SEQS:-64}";
    assert_eq!(link_of(script), "v=1&m=qwen3-8b&tp=2&ms=64");
    let (_, issues) =
        read_link("export VLLM_USE_V1=1 # old\nvllm serve Qwen/Qwen3-8B -tp $TP").expect("a command");
    assert_eq!(
        issues,
        ["`--tp` is `$TP`: expected a whole number", "not recognised and ignored: `VLLM_USE_V1=1`"]
    );
}

#[test]
fn graphs_are_limited_or_switched_off_in_every_engine() {
    for (command, graph) in [
        ("vllm serve Qwen/Qwen3-8B --enforce-eager", "&cg=0"),
        ("vllm serve Qwen/Qwen3-8B --max-cudagraph-capture-size 64", "&cg=64"),
        ("vllm serve Qwen/Qwen3-8B --enforce-eager --max-cudagraph-capture-size 64", "&cg=0"),
        ("sglang serve --model-path Qwen/Qwen3-8B --disable-cuda-graph", "&e=sglang&cg=0"),
        ("sglang serve --model-path Qwen/Qwen3-8B --cuda-graph-max-bs 64", "&e=sglang&cg=64"),
        (
            "printf 'cuda_graph_config: null\\n' > o.yaml\ntrtllm-serve Qwen/Qwen3-8B --extra_llm_api_options o.yaml",
            "&e=trtllm&cg=0",
        ),
    ] {
        assert_eq!(link_of(command), format!("v=1&m=qwen3-8b{graph}"), "{command}");
    }
}

#[test]
fn unrecognised_options_are_listed() {
    let issues = |text: &str| read_link(text).map(|(_, issues)| issues).unwrap_or_default();
    assert_eq!(
        issues("VLLM_USE_V1=1 vllm serve Qwen/Qwen3-8B --enable-lora --cpu-offload-gb 4 stray"),
        [
            "not recognised and ignored: `stray`, `VLLM_USE_V1=1`",
            "ignored, although it would change the results considerably: `--enable-lora`, `--cpu-offload-gb 4`"
        ]
    );
    let one = |text: &str| issues(text).concat();
    assert!(
        one("vllm serve Qwen/Qwen3-8B --served-model-name 'a b").contains("quotation mark is not closed")
    );
    assert!(one("vllm serve Qwen/Qwen3-8B -tp x").starts_with("`--tp` is `x`: expected a whole number"));
    assert!(one("vllm serve Qwen/Qwen3-8B --max-model-len 1k").contains("takes up to 1000 tokens"));
    assert_eq!(one("vllm serve Qwen/Qwen3-8B --max-model-len 0.5M --max-num-batched-tokens 32.7k"), "");
    assert!(one("vllm serve Qwen/Qwen3-8B -tp").starts_with("`--tp` is `nothing`"));
    assert!(one("vllm serve").starts_with("the command names no model"));
    assert!(one("vllm serve some/Model-7B").contains("no model `some/Model-7B`"));
    assert!(one("vllm serve Qwen/Qwen3-8B --kv-cache-dtype nvfp4").contains("`--kv-cache-dtype nvfp4`"));
    assert!(one("vllm serve Qwen/Qwen3-8B --dtype float32").contains("`--dtype float32`"));
    assert!(one("vllm serve Qwen/Qwen3-8B --enable-chunked-prefill=False").contains("chunked"));
    assert!(one("vllm serve Qwen/Qwen3-8B --no-enable-chunked-prefill").contains("chunked"));
    assert!(one("trtllm-serve Qwen/Qwen3-8B --enable_chunked_prefill").contains("chunked"));
    assert!(one("vllm serve Qwen/Qwen3-8B-FP8 --quantization awq").contains("`--quantization awq`"));
    assert_eq!(one("vllm serve Qwen/Qwen3-8B-FP8 --quantization fp8"), "");
    assert!(one("vllm serve Qwen/Qwen3-8B-FP8 --quantization w4afp8").contains("`--quantization w4afp8`"));
    assert_eq!(one("vllm serve Qwen/Qwen3-8B-FP8 --quantization compressed-tensors"), "");
    assert!(one("vllm serve a/b\nvllm serve c/d").contains("several engines"));
    let file = "trtllm-serve Qwen/Qwen3-8B --extra_llm_api_options extra.yml";
    assert!(one(file).contains("`--extra-llm-api-options extra.yml`"));
    assert!(one(file).contains("would change the results considerably"));
    let tree = "python -m sglang.launch_server --model Qwen/Qwen3-8B --speculative-algorithm EAGLE \
                --speculative-num-steps 3 --speculative-eagle-topk 8 --speculative-num-draft-tokens 32";
    assert!(one(tree).contains("considerably: `--speculative-eagle-topk 8`"));
    let nodes = "python -m sglang.launch_server --model Qwen/Qwen3-8B --nnodes 2 --node-rank 0 --dist-init-addr HOST:20000";
    assert_eq!(issues(nodes), [""; 0]);
    for text in ["", "Qwen/Qwen3-8B", "v=1&m=qwen3-8b", "it's a text", "docker run nginx", "args:\n", "{}"] {
        assert!(read(text, &Scenario::default()).is_none(), "{text}");
    }
}

#[test]
fn a_manifest_without_a_command_says_what_is_read() {
    let kserve = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nspec:\n  predictor:\n    model:\n      args:\n      - --model_id=Qwen/Qwen3-8B\n";
    let values = "servingEngineSpec:\n  modelSpec:\n  - name: qwen\n    repository: vllm/vllm-openai\n    modelURL: Qwen/Qwen3-8B\n";
    for text in [kserve, values] {
        let (_, issues) = read_link(text).expect(text);
        assert!(issues.len() == 1 && issues[0].contains("paste the launch command"), "{issues:?}");
    }
}

#[test]
fn the_short_form_of_a_switch_takes_no_value() {
    let text = "vllm serve deepseek-ai/DeepSeek-R1 -tp 4 -dp 2 -ep --port 80";
    let (scenario, issues) = read(text, &Scenario::default()).unwrap();
    assert_eq!(scenario.expect(text).parallel.ep, 8, "{issues:?}");
    assert!(!issues.iter().any(Issue::is_error), "{issues:?}");
}

#[test]
fn a_command_that_leaves_the_drafts_to_the_engine_is_told_apart_from_one_without() {
    let text =
        "python -m sglang.launch_server --model deepseek-ai/DeepSeek-R1 --tp 8 --speculative-algorithm EAGLE";
    let (_, issues) = read(text, &Scenario::default()).unwrap();
    assert!(issues.iter().any(|issue| issue.field == Field::Drafted && !issue.is_error()), "{issues:?}");
}

#[test]
fn workload_and_gpu_stay_and_no_setting_of_another_server() {
    let (form, _) = link::decode("m=qwen3-32b&g=h200-sxm&n=8&w=fp8&kv=fp8&isl=77&tp=4&ms=9&sd=3&sa=2&pw=2");
    let (read, _) = read("vllm serve Qwen/Qwen3-8B", &form.scenario).unwrap();
    assert_eq!(link::encode(&read.unwrap()), "v=1&m=qwen3-8b&g=h200-sxm&isl=77");
}

#[test]
fn a_command_overrides_its_options_file_except_for_tensorrt() {
    let text = "cat > o.yaml <<EOF\ntensor-parallel-size: 4\nmax-num-seqs: 64\nEOF\n\
                vllm serve Qwen/Qwen3-8B -tp 2 --config o.yaml";
    assert_eq!(link_of(text), "v=1&m=qwen3-8b&tp=2&ms=64");
    let text = "cat > o.yaml <<EOF\nenable-prefix-caching: true\nenable-lora: true\nEOF\n\
                vllm serve Qwen/Qwen3-8B --no-enable-prefix-caching --cpu-offload-gb 4 --config o.yaml";
    let (_, issues) = read_link(text).expect("a command");
    let said = issues.join(" ");
    assert!(said.contains("enable-lora") && said.contains("cpu-offload-gb"), "{said}");
    let (scenario, _) = read(text, &link::decode("v=1&pc=0.5").0.scenario).expect("a command");
    assert_eq!(scenario.expect("a scenario").workload.cached_share, 0.0);
}

#[test]
fn options_written_in_other_forms_are_read() {
    let file = "kv_cache_config:\n  dtype: fp8  # halves it\nenable_attention_dp: true\n";
    let text = format!(
        "cat > extra.yaml <<'EOF'\n{file}EOF\ntrtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8 \
         --extra_llm_api_options extra.yaml"
    );
    assert_eq!(link_of(&text), "v=1&m=deepseek-r1&dp=8&e=trtllm&kv=fp8");
    let nested = "cuda_graph_config:\n  max_batch_size: 128\nkv_cache_config:\n  free_gpu_memory_fraction: 0.8\n\
                  moe_config:\n  backend: TRTLLM\ndtype: bfloat16\nmax_batch_size: 512\n";
    let text = text.replace("--tp_size 8", "--tp_size 8 --max_batch_size 64").replace(file, nested);
    let (link, issues) = read_link(&text).expect("a command");
    assert_eq!(link, "v=1&m=deepseek-r1&tp=8&e=trtllm&ms=512&mem=0.8&cg=128");
    assert_eq!(issues, ["not recognised and ignored: `--moe-config.backend TRTLLM`"]);
    let text = "printf 'kv_cache_config:\\n  enable_block_reuse: true\\n  dtype: fp8\\nenable_attention_dp: true\\n' > options.yaml\ntrtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8 --ep_size 8 --extra_llm_api_options options.yaml";
    let (scenario, _) = read(text, &Scenario::default()).unwrap();
    let scenario = scenario.unwrap();
    assert_eq!(
        (scenario.parallel.tp, scenario.parallel.dp, scenario.parallel.ep, scenario.kv),
        (1, 8, 8, Dtype::Fp8)
    );
    assert_eq!(scenario.model, ModelChoice::Catalog("deepseek-r1".into()));
}

proptest! {
    #[test]
    fn no_text_panics(text in "(vllm serve |trtllm-serve |args:\n|command: |image: vllm/vllm-openai\n)?[ -~\n]{0,80}") {
        let _ = read(&text, &Scenario::default());
    }
}

#[test]
fn options_of_cuda_graphs_are_read_however_they_are_written() {
    let vllm = |flags: &str| link_of(&format!("vllm serve Qwen/Qwen3-8B {flags}"));
    for (flags, graph) in [
        ("--cudagraph-capture-sizes 1 2 4 8 --port 8000", "&cg=8"),
        ("--compilation-config.max_cudagraph_capture_size 64", "&cg=64"),
        ("--compilation-config '{\"max_cudagraph_capture_size\": 64}'", "&cg=64"),
        (
            "-cc '{\"cudagraph_capture_sizes\": [1, 2, 32], \"cudagraph_mode\": \"FULL_AND_PIECEWISE\"}'",
            "&cg=32",
        ),
        ("--compilation-config.cudagraph_mode NONE", "&cg=0"),
        ("-O.cudagraph_mode=NONE", "&cg=0"),
        ("-O0", "&cg=0"),
        ("-O '{\"cudagraph_mode\":\"NONE\"}'", "&cg=0"),
        ("-O '{\"cudagraph_capture_sizes\":[1,2,4,8]}'", "&cg=8"),
        ("-O3", ""),
        ("--enforce-eager --max-cudagraph-capture-size 64", "&cg=0"),
    ] {
        assert_eq!(vllm(flags), format!("v=1&m=qwen3-8b{graph}"), "{flags}");
    }
    let other = read_link("vllm serve Qwen/Qwen3-8B --compilation-config.cudagraph_mode PIECEWISE")
        .expect("a command");
    assert!(other.1[0].contains("cudagraph-mode PIECEWISE"), "{other:?}");
    let sglang = "python -m sglang.launch_server --cuda-graph-bs 1 2 24 --model-path Qwen/Qwen3-8B";
    assert_eq!(link_of(sglang), "v=1&m=qwen3-8b&e=sglang&cg=24");
}
