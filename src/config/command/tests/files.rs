//! Files of options that a text writes.

use super::*;

fn trtllm(file: &str) -> (String, Vec<String>) {
    let text = format!(
        "cat > o.yaml <<EOF\n{file}\nEOF\ntrtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8 --extra_llm_api_options o.yaml"
    );
    read_link(&text).expect("a command")
}

#[test]
fn lists_and_mappings_are_read_in_each_style() {
    let link = |settings: &str| (format!("v=1&m=deepseek-r1&tp=8&e=trtllm{settings}"), Vec::<String>::new());
    for sizes in [
        "cuda_graph_config:\n  batch_sizes:\n  - 1\n  - 2  # few\n  - 512",
        "cuda_graph_config:\n  batch_sizes:\n    - 512\n    - 2\n  enable_padding: true",
        "cuda_graph_config:\n  batch_sizes: [1,\n    2, 512]",
        "cuda_graph_config: {batch_sizes: [1, 2, 512], enable_padding: true}",
        "cuda_graph_config: {\n  \"batch_sizes\": [1, 512],\n}",
    ] {
        assert_eq!(trtllm(sizes), link("&cg=512"), "{sizes}");
    }
    let cache =
        "kv_cache_config: {dtype: \"fp8\", free_gpu_memory_fraction: 0.85, host_cache_size: 10737418240}";
    assert_eq!(trtllm(cache), link("&kv=fp8&hm=10&mem=0.85"));
    assert!(
        trtllm("speculative_config: {decoding_type: MTP, num_nextn_predict_layers: 2}").0.contains("&sd=2")
    );
    let (_, issues) =
        trtllm("kv_cache_config: {sink_token_length: 4}\nmoe_config: {backend: TRTLLM}\nstop:\n- a");
    let listed =
        "not recognised and ignored: `--sink-token-length 4`, `--moe-config.backend TRTLLM`, `--stop a`";
    assert_eq!(issues, [listed]);
}

#[test]
fn json_of_a_file_stays_whole() {
    let text = "cat > c.yaml <<EOF\ncompilation-config: '{\"cudagraph_mode\": \"NONE\"}'\nkv-transfer-config: {\"kv_connector\": \"X\"}\n\
                EOF\nvllm serve Qwen/Qwen3-8B --config c.yaml";
    let (link, issues) = read_link(text).expect("a command");
    assert_eq!(link, "v=1&m=qwen3-8b&cg=0");
    let listed = format!("{CHANGES_RESULTS}: `--kv-transfer-config {{\"kv_connector\": \"X\"}}`");
    assert_eq!(issues, [listed]);
}

#[test]
fn a_file_may_name_the_model() {
    for (model, launch, link) in [
        ("model: Qwen/Qwen3-8B", "vllm serve", ""),
        ("model: \"Qwen/Qwen3-8B\"", "vllm serve -tp 2", "&tp=2"),
        ("model-path: Qwen/Qwen3-8B", "python -m sglang.launch_server", "&e=sglang"),
    ] {
        let text = format!("cat > c.yaml <<EOF\n{model}\nEOF\n{launch} --config c.yaml");
        assert_eq!(link_of(&text), format!("v=1&m=qwen3-8b{link}"));
    }
    // The command's own comes first, and a draft model is another.
    let text = "cat > c.yaml <<EOF\nmodel: Qwen/Qwen3-32B\nEOF\nvllm serve Qwen/Qwen3-8B --config c.yaml";
    assert_eq!(link_of(text), "v=1&m=qwen3-8b");
    let drafts = "cat > c.yaml <<EOF\nspeculative_config:\n  model: a/b\nEOF\nvllm serve --config c.yaml";
    assert!(read_link(drafts).expect("a command").1[0].contains("names no model"));
}

#[test]
fn what_is_neither_level_nor_json_is_named() {
    for (flag, named) in [("-O foo", "`-o foo`"), ("-O 7", "`-o 7`"), ("--optimization-level 2", "")] {
        let (_, issues) = read_link(&format!("vllm serve Qwen/Qwen3-8B {flag}")).expect("a command");
        assert!(issues.concat().ends_with(named) && issues.is_empty() == named.is_empty(), "{issues:?}");
    }
}
