//! Drafted tokens.

use super::*;

#[test]
fn drafts_are_read_and_their_acceptance_asked_for() {
    let trtllm = "printf 'speculative_config:\\n  decoding_type: MTP\\n  num_nextn_predict_layers: 2\\n' > options.yaml\ntrtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8 --extra_llm_api_options options.yaml";
    for text in [
        "vllm serve deepseek-ai/DeepSeek-R1 -tp 8 --speculative-config '{\"method\":\"mtp\",\"num_speculative_tokens\":2}'",
        "python -m sglang.launch_server --model deepseek-ai/DeepSeek-R1 --tp 8 --speculative-algorithm EAGLE --speculative-num-steps 2 --speculative-num-draft-tokens 3",
        "vllm serve deepseek-ai/DeepSeek-R1 -tp 8 --speculative-config.method mtp --speculative-config.num_speculative_tokens 2",
        trtllm,
    ] {
        let (scenario, issues) = read(text, &Scenario::default()).unwrap();
        let scenario = scenario.expect(text);
        let drafts = scenario.workload.drafts;
        assert_eq!((drafts.drafted, drafts.accepted), (2, 0.0), "{text}");
        assert!(!issues.iter().any(|issue| issue.text.contains("speculative")), "{issues:?}");
        let asked = |issue: &Issue| issue.field == Field::Accepted && !issue.is_error();
        let (_, issues) = check(&scenario, catalog());
        assert!(issues.iter().any(asked), "{issues:?}");
    }
}

/// SGLang's flag counts the tokens verified, one more than are drafted.
#[test]
fn sglang_drafts_one_token_less_than_it_verifies() {
    let read = read_link(
        "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --speculative-algorithm NGRAM \
         --speculative-num-draft-tokens 8",
    );
    assert_eq!(read.expect("a command").0, "v=1&m=qwen3-8b&e=sglang&sd=7");
}
