use proptest::prelude::*;

use super::*;
use crate::config::{Severity, catalog};

/// The model's id, the weight format if the name gives one, and whether there is a note.
fn found(name: &str) -> Result<(&'static str, Option<Dtype>, bool), String> {
    let found = resolve(name)?;
    if let Some(issue) = found.issues.iter().find(|issue| issue.is_error()) {
        return Err(issue.text.clone());
    }
    let warns = found.issues.iter().any(|issue| issue.severity == Severity::Warning);
    Ok((found.model.id.as_str(), found.weights, warns))
}

const AS_IT_IS: Option<Dtype> = None;
const BF16: Option<Dtype> = Some(Dtype::Bf16);
const FP8: Option<Dtype> = Some(Dtype::Fp8);
const BLOCK: Option<Dtype> = Some(Dtype::Fp8Block);
const NVFP4: Option<Dtype> = Some(Dtype::Nvfp4);
const MXFP4: Option<Dtype> = Some(Dtype::Mxfp4);
const INT4: Option<Dtype> = Some(Dtype::Int4);
const INT8: Option<Dtype> = Some(Dtype::Int8);
const W8A8: Option<Dtype> = Some(Dtype::W8a8);

/// Checkpoints in common use, by name.
#[rustfmt::skip]
const TAKEN: &[(&str, &str, Option<Dtype>)] = &[
    ("meta-llama/Meta-Llama-3.1-70B", "llama-3.1-70b", AS_IT_IS),
    ("Meta-Llama/Llama-3.1-70B", "llama-3.1-70b", AS_IT_IS),
    ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b", AS_IT_IS),
    ("meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b", AS_IT_IS),
    ("meta-llama/Llama-3.1-405B-Instruct", "llama-3.1-405b", AS_IT_IS),
    ("meta-llama/Llama-3.1-405B-FP8", "llama-3.1-405b", FP8),
    ("meta-llama/Llama-3.2-1B-Instruct", "llama-3.2-1b", AS_IT_IS),
    ("meta-llama/Llama-3.2-3B-Instruct", "llama-3.2-3b", AS_IT_IS),
    ("meta-llama/Llama-3.2-11B-Vision", "llama-3.2-11b-vision-instruct", AS_IT_IS),
    ("unsloth/Llama-3.2-90B-Vision-Instruct", "llama-3.2-90b-vision-instruct", AS_IT_IS),
    ("RedHatAI/Llama-3.2-90B-Vision-Instruct-FP8-dynamic", "llama-3.2-90b-vision-instruct", FP8),
    ("microsoft/Phi-3-small-8k-instruct", "phi-3-small-128k-instruct", AS_IT_IS),
    ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b-instruct", AS_IT_IS),
    ("meta-llama/Meta-Llama-3-8B-Instruct", "llama-3-8b", AS_IT_IS),
    ("meta-llama/Llama-4-Scout-17B-16E", "llama-4-scout-17b-16e-instruct", AS_IT_IS),
    ("unsloth/Llama-3.3-70B-Instruct", "llama-3.3-70b-instruct", AS_IT_IS),
    ("unsloth/Llama-3.3-70B-Instruct-bnb-4bit", "llama-3.3-70b-instruct", INT4),
    ("unsloth/Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b", AS_IT_IS),
    ("amd/Llama-3.1-70B-Instruct-FP8-KV", "llama-3.1-70b-instruct-fp8", AS_IT_IS),
    ("nvidia/Llama-3.3-70B-Instruct-FP4", "llama-3.3-70b-instruct", NVFP4),
    ("nvidia/Llama-3.3-70B-Instruct-FP8", "llama-3.3-70b-instruct", FP8),
    ("nvidia/Llama-3.1-8B-Instruct-FP8", "llama-3.1-8b", FP8),
    ("nvidia/Llama-4-Scout-17B-16E-Instruct-NVFP4", "llama-4-scout-17b-16e-instruct", NVFP4),
    ("nvidia/Llama-3.1-Nemotron-70B-Instruct-HF", "llama-3.1-70b", AS_IT_IS),
    ("nvidia/Llama-3_3-Nemotron-Super-49B-v1_5", "llama-3.3-nemotron-super-49b-v1", AS_IT_IS),
    ("RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8", "llama-3.1-8b", FP8),
    ("RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8-dynamic", "llama-3.1-8b", FP8),
    ("RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "llama-3.1-8b", INT4),
    ("RedHatAI/Meta-Llama-3.1-70B-Instruct-quantized.w8a8", "llama-3.1-70b", W8A8),
    ("neuralmagic/Meta-Llama-3.1-8B-Instruct-quantized.w8a16", "llama-3.1-8b", INT8),
    ("RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic", "llama-3.3-70b-instruct", FP8),
    ("RedHatAI/Llama-4-Scout-17B-16E-Instruct-FP8-dynamic", "llama-4-scout-17b-16e-instruct", FP8),
    ("hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4", "llama-3.1-70b", INT4),
    ("hugging-quants/Meta-Llama-3.1-8B-Instruct-GPTQ-INT4", "llama-3.1-8b", INT4),
    ("casperhansen/llama-3.3-70b-instruct-awq", "llama-3.3-70b-instruct", INT4),
    ("NousResearch/Hermes-3-Llama-3.1-70B-FP8", "llama-3.1-70b-instruct-fp8", AS_IT_IS),
    ("NousResearch/Hermes-3-Llama-3.1-8B", "llama-3.1-8b", AS_IT_IS),
    ("NousResearch/Hermes-4-70B", "llama-3.1-70b", AS_IT_IS),
    ("allenai/Llama-3.1-Tulu-3-8B", "llama-3.1-8b", AS_IT_IS),
    ("mlabonne/Meta-Llama-3.1-8B-Instruct-abliterated", "llama-3.1-8b", AS_IT_IS),
    ("huihui-ai/Llama-3.3-70B-Instruct-abliterated", "llama-3.3-70b-instruct", AS_IT_IS),
    ("bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q4_K_M", "llama-3.1-8b", INT4),
    ("Meta-Llama-3.1-8B-Instruct.Q8_0.gguf", "llama-3.1-8b", INT8),
    ("deepseek-ai/DeepSeek-R1", "deepseek-r1", AS_IT_IS),
    ("deepseek-ai/DeepSeek-R1-0528", "deepseek-r1", AS_IT_IS),
    ("deepseek-ai/DeepSeek-R1-Zero", "deepseek-r1", AS_IT_IS),
    ("nvidia/DeepSeek-R1-0528-FP4-V2", "deepseek-r1", NVFP4),
    ("nvidia/DeepSeek-R1-FP4", "deepseek-r1", NVFP4),
    ("amd/DeepSeek-R1-MXFP4-Preview", "deepseek-r1", MXFP4),
    ("cognitivecomputations/DeepSeek-R1-AWQ", "deepseek-r1", INT4),
    ("deepseek-ai/DeepSeek-V3-0324", "deepseek-v3", AS_IT_IS),
    ("deepseek-ai/DeepSeek-V3-Base", "deepseek-v3", AS_IT_IS),
    ("deepseek-ai/DeepSeek-V3.1", "deepseek-v3", AS_IT_IS),
    ("deepseek-ai/DeepSeek-V3.1-Terminus", "deepseek-v3", AS_IT_IS),
    ("lukealonso/DeepSeek-V3.1-NVFP4", "deepseek-v3.1-nvfp4", AS_IT_IS),
    ("deepseek-ai/DeepSeek-V3.2-Exp", "deepseek-v3.2", AS_IT_IS),
    ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "deepseek-r1-distill-llama-70b", AS_IT_IS),
    ("RedHatAI/DeepSeek-R1-Distill-Llama-70B-quantized.w4a16", "deepseek-r1-distill-llama-70b", INT4),
    ("Valdemardi/DeepSeek-R1-Distill-Qwen-32B-AWQ", "deepseek-r1-distill-qwen-32b", INT4),
    ("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", "qwen3-8b", AS_IT_IS),
    ("Qwen/Qwen2.5-7B-Instruct-AWQ", "qwen2.5-7b-instruct", INT4),
    ("Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4", "qwen2.5-72b-instruct", INT4),
    ("Qwen/Qwen2.5-32B-Instruct", "qwen2.5-32b", AS_IT_IS),
    ("Qwen/Qwen2.5-Coder-32B-Instruct-AWQ", "qwen2.5-32b", INT4),
    ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8", "qwen2.5-7b-instruct", INT8),
    ("Qwen/QwQ-32B", "qwen2.5-32b", AS_IT_IS),
    ("Qwen/Qwen3-0.6B-Base", "qwen3-0.6b", AS_IT_IS),
    ("Qwen/Qwen3-4B-Thinking-2507", "qwen3-4b-instruct-2507", AS_IT_IS),
    ("someone/Qwen3-4B-Instruct", "qwen3-4b", AS_IT_IS),
    ("Qwen/Qwen3-8B-FP8", "qwen3-8b", BLOCK),
    ("nvidia/Qwen3-8B-FP8", "qwen3-8b", FP8),
    ("Qwen/Qwen3-14B-AWQ", "qwen3-14b", INT4),
    ("Qwen/Qwen3-14B-GPTQ-Int4", "qwen3-14b", INT4),
    ("Qwen/Qwen3-32B-FP8", "qwen3-32b-fp8", AS_IT_IS),
    ("RedHatAI/Qwen3-32B-FP8-dynamic", "qwen3-32b-fp8-static-pertensor", AS_IT_IS),
    ("Qwen/Qwen3-32B-GGUF:Q8_0", "qwen3-32b", INT8),
    ("unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF:Q4_K_M", "qwen3-30b-a3b-instruct-2507", INT4),
    ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3-30b-a3b-instruct-2507", AS_IT_IS),
    ("Qwen/Qwen3-235B-A22B-Thinking-2507", "qwen3-235b-a22b-instruct-2507", AS_IT_IS),
    ("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "qwen3-235b-a22b-instruct-2507", BLOCK),
    ("nvidia/Qwen3-235B-A22B-FP4", "qwen3-235b-a22b-nvfp4", AS_IT_IS),
    ("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", "qwen3-coder-480b-a35b-instruct", BLOCK),
    ("Qwen/Qwen3-Next-80B-A3B-Instruct", "qwen3-next-80b-a3b-thinking", AS_IT_IS),
    ("Qwen/Qwen3-VL-30B-A3B-Instruct-FP8", "qwen3-vl-30b-a3b-instruct", BLOCK),
    ("nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16", "nemotron-3-super-120b-a12b-fp8", BF16),
    ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-FP8", "nemotron-3-nano-30b-a3b-bf16", FP8),
    ("moonshotai/Kimi-K2-Instruct-0905", "kimi-k2-instruct", AS_IT_IS),
    ("moonshotai/Kimi-K2-Thinking", "kimi-k2.5", AS_IT_IS),
    ("nvidia/Kimi-K2-Thinking-NVFP4", "kimi-k2.5-nvfp4", AS_IT_IS),
    ("moonshotai/Kimi-K2.6", "kimi-k2.5", AS_IT_IS),
    ("MiniMaxAI/MiniMax-M2", "minimax-m2.5", AS_IT_IS),
    ("zai-org/GLM-4.6-FP8", "glm-4.6", FP8),
    ("zai-org/GLM-4.7", "glm-4.6", AS_IT_IS),
    ("zai-org/GLM-4.5-Air-FP8", "glm-4.5-air", FP8),
    ("unsloth/gpt-oss-20b-BF16", "gpt-oss-20b", BF16),
    ("openai/gpt-oss-safeguard-120b", "gpt-oss-120b", AS_IT_IS),
    ("google/gemma-4-31B-it", "gemma-4-31b-it-nvfp4", BF16),
    ("google/gemma-4-26B-A4B-it", "gemma-4-26b-a4b", AS_IT_IS),
    ("google/gemma-3-12b-it", "gemma-3-12b-it", AS_IT_IS),
    ("google/gemma-3-27b-pt", "gemma-3-27b-it", AS_IT_IS),
    ("google/gemma-3-12b-it-qat-q4_0-gguf", "gemma-3-12b-it", INT4),
    ("RedHatAI/gemma-3-27b-it-FP8-dynamic", "gemma-3-27b-it", FP8),
    ("google/gemma-2-9b-it", "gemma-2-9b-it", AS_IT_IS),
    ("allenai/Olmo-3-32B-Think", "olmo-3.1-32b-instruct", AS_IT_IS),
    ("cyankiwi/Kimi-Linear-48B-A3B-Instruct-AWQ-4bit", "kimi-linear-48b-a3b-instruct", INT4),
    ("tencent/Hunyuan-A13B-Instruct-FP8", "hunyuan-a13b-instruct", FP8),
    ("ibm-granite/granite-4.0-h-small-base", "granite-4.0-h-small", AS_IT_IS),
    ("zai-org/GLM-5.3-FP8", "glm-5.3-fp8", AS_IT_IS),
    ("zai-org/GLM-5.3", "glm-5.3-fp8", BF16),
    ("nvidia/GLM-5.3-NVFP4", "glm-5.3-fp8", NVFP4),
    ("lmsys/vicuna-7b-v1.5", "llama-2-7b-hf", AS_IT_IS),
    ("Qwen/Qwen2-VL-7B-Instruct-AWQ", "qwen2.5-vl-7b-instruct", INT4),
    ("mistralai/Mistral-7B-Instruct-v0.2", "mistral-7b-instruct-v0.3", AS_IT_IS),
    ("mistralai/Mistral-7B-v0.1", "mistral-7b-instruct-v0.3", AS_IT_IS),
    ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b-v0.1", AS_IT_IS),
    ("TheBloke/Mixtral-8x7B-Instruct-v0.1-GPTQ", "mixtral-8x7b-v0.1", INT4),
    ("mistralai/Mistral-Small-3.1-24B-Instruct-2503", "mistral-small-3.2-24b-instruct-2506", AS_IT_IS),
    ("mistralai/Mistral-Nemo-Instruct-2407", "mistral-nemo-instruct-2407", AS_IT_IS),
    ("mistralai/Devstral-Small-2507", "mistral-small-3.2-24b-instruct-2506", AS_IT_IS),
    ("meta-llama/Llama-2-7b-chat-hf", "llama-2-7b-hf", AS_IT_IS),
    ("TheBloke/Llama-2-70B-Chat-AWQ", "llama-2-70b-hf", INT4),
    ("codellama/CodeLlama-34b-Instruct-hf", "codellama-34b-hf", AS_IT_IS),
    ("microsoft/Phi-3.5-mini-instruct", "phi-3-mini-128k-instruct", AS_IT_IS),
    ("microsoft/Phi-4-mini-instruct", "phi-4-mini-instruct", AS_IT_IS),
    ("Qwen/Qwen2-7B-Instruct", "qwen2.5-7b-instruct", AS_IT_IS),
    ("Qwen/Qwen2.5-VL-7B-Instruct-AWQ", "qwen2.5-vl-7b-instruct", INT4),
    ("deepseek-ai/DeepSeek-V2-Lite-Chat", "deepseek-v2-lite", AS_IT_IS),
    ("deepseek-ai/DeepSeek-Coder-V2-Lite-Instruct", "deepseek-v2-lite", AS_IT_IS),
    ("HuggingFaceTB/SmolLM2-1.7B-Instruct", "smollm2-1.7b", AS_IT_IS),
    ("tiiuae/Falcon3-10B-Instruct", "falcon3-10b-base", AS_IT_IS),
    ("ibm-granite/granite-3.1-8b-instruct", "granite-3.3-8b-instruct", AS_IT_IS),
    ("mistralai/Mistral-Large-Instruct-2407", "mistral-large-instruct-2411", AS_IT_IS),
    ("microsoft/Phi-4-reasoning", "phi-4", AS_IT_IS),
    ("facebook/opt-6.7b", "opt-6.7b", AS_IT_IS),
    ("mosaicml/mpt-7b", "mpt-7b", AS_IT_IS),
    ("mosaicml/mpt-7b-instruct", "mpt-7b", AS_IT_IS),
    ("tiiuae/falcon-7b", "falcon-7b", AS_IT_IS),
    ("EleutherAI/gpt-neox-20b", "gpt-neox-20b", AS_IT_IS),
    ("baichuan-inc/Baichuan2-7B-Chat", "baichuan2-7b-chat", AS_IT_IS),
    ("THUDM/chatglm3-6b", "chatglm3-6b", AS_IT_IS),
    ("THUDM/glm-4-9b-chat", "glm-4-9b-chat", AS_IT_IS),
    ("ai21labs/Jamba-v0.1", "ai21-jamba-1.5-mini", AS_IT_IS),
    ("bigcode/starcoder2-7b", "starcoder2-7b", AS_IT_IS),
    ("internlm/internlm2_5-7b-chat", "internlm2.5-7b-chat", AS_IT_IS),
    ("allenai/OLMo-2-1124-7B", "olmo-2-1124-7b", AS_IT_IS),
    ("allenai/OLMo-2-1124-13B-Instruct", "olmo-2-1124-13b", AS_IT_IS),
    ("allenai/Olmo-3-7B-Think", "olmo-3-7b-instruct", AS_IT_IS),
    ("baidu/ERNIE-4.5-21B-A3B-PT", "ernie-4.5-21b-a3b-pt", AS_IT_IS),
    ("baidu/ERNIE-4.5-21B-A3B-Thinking", "ernie-4.5-21b-a3b-pt", AS_IT_IS),
    ("CohereForAI/c4ai-command-r-plus", "c4ai-command-r-plus", AS_IT_IS),
    ("CohereLabs/c4ai-command-r-plus-08-2024", "c4ai-command-r-plus", AS_IT_IS),
    ("google/gemma-2-27b-it", "gemma-2-27b-it", AS_IT_IS),
    ("mistralai/Mistral-Small-Instruct-2409", "codestral-22b-v0.1", AS_IT_IS),
    ("HuggingFaceH4/zephyr-7b-beta", "mistral-7b-instruct-v0.3", AS_IT_IS),
    ("TheBloke/TinyLlama-1.1B-Chat-v1.0-AWQ", "tinyllama-1.1b-chat-v1.0", INT4),
    ("https://huggingface.co/Qwen/Qwen3-32B", "qwen3-32b", AS_IT_IS),
    ("Qwen3-32B (Qwen)", "qwen3-32b", AS_IT_IS),
    ("/models/Qwen3-32B-AWQ/", "qwen3-32b", INT4),
    ("Llama3.1 8B", "llama-3.1-8b", AS_IT_IS),
    ("DeepSeek R1", "deepseek-r1", AS_IT_IS),
];

/// Checkpoints that match no catalog model or no supported format, with part of the message.
#[rustfmt::skip]
const REFUSED: &[(&str, &str)] = &[
    ("Qwen/Qwen3-5B", "Did you mean"),
    ("Qwen/Qwen3-34B", "Qwen/Qwen3-32B"),
    ("Qwen/Qwen3-Embedding-8B", "Qwen/Qwen3-8B"),
    ("Qwen/Qwen2.5-Omni-7B", "Did you mean"),
    ("Qwen/Qwen2.5-Math-7B", "Qwen/Qwen2.5-7B-Instruct"),
    ("meta-llama/Llama-3.1-3B", "Did you mean"),
    ("meta-llama/Llama-2-7b-vision", "Did you mean"),
    ("meta-llama/Llama-4-Foo", "Did you mean meta-llama/Llama-4-"),
    ("nvidia/Llama-3_1-Nemotron-Ultra-253B-v1", "Did you mean"),
    ("nvidia/Llama-3.1-Minitron-4B-Width-Base", "Did you mean"),
    ("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "no model"),
    ("some/Llama-3.1-8B-Instruct-REAP", "meta-llama/Meta-Llama-3.1-8B"),
    ("cerebras/Qwen3-Coder-REAP-25B-A3B", "no model"),
    ("google/gemma-2-28b-it", "google/gemma-2-27b-it"),
    ("google/gemma-4-E4B-it", "no model"),
    ("microsoft/Phi-4-multimodal-instruct", "microsoft/phi-4"),
    ("microsoft/Phi-3-mini-4k-instruct", "microsoft/Phi-3-mini-128k-instruct"),
    ("codellama/CodeLlama-13b-hf", "codellama/CodeLlama-34b-hf"),
    ("deepseek-ai/DeepSeek-VL2", "no model"),
    ("deepseek-ai/deepseek-llm-67b-chat", "no model"),
    ("zai-org/GLM-4.5V", "zai-org/GLM-4.5-Air"),
    ("zai-org/glm-4-9b-chat-1m", "zai-org/glm-4-9b-chat"),
    ("mistralai/Mistral-Large-3-675B-Instruct-2512", "no model"),
    ("moonshotai/Kimi-K2.7-Code", "kimi-k2.7-code-nvfp4"),
    ("Qwen/Qwen3-32B-GGUF", "names GGUF but no format of it: add one"),
    ("unsloth/Qwen3-32B-GGUF:Q6_K", "6 bits"),
    ("mlx-community/Qwen3-32B-4bit", "4 bits"),
    ("turboderp/Qwen3-32B-exl2", "EXL2"),
    ("some/Qwen3-32B-INT8", "W8A8"),
    ("some/Qwen3-32B-NVFP4-FP8", "several formats"),
    ("some/Model-7B", "no model"),
    ("FP8", "no model"),
    ("", "no model"),
    ("/", "no model"),
    ("Instruct-2507", "no model"),
];

#[test]
fn published_names_stand_for_their_architecture() {
    let wrong = TAKEN.iter().filter_map(|(name, id, weights)| {
        let found = found(name).map(|(id, weights, _)| (id, weights));
        (found != Ok((*id, *weights))).then_some((name, found))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), []);
}

#[test]
fn unknown_names_are_refused_with_suggestions() {
    for (name, part) in REFUSED {
        let reason = found(name).expect_err(name);
        assert!(reason.contains(part), "{name}: {reason}");
    }
}

#[test]
fn the_resolved_model_is_reported() {
    let texts =
        |name: &str| resolve(name).unwrap().issues.into_iter().map(|issue| issue.text).collect::<Vec<_>>();
    assert_eq!(
        texts("nvidia/DeepSeek-R1-0528-FP4-V2"),
        ["`nvidia/DeepSeek-R1-0528-FP4-V2` is read as deepseek-ai/DeepSeek-R1, nvfp4 experts by its name"]
    );
    assert!(texts("zai-org/GLM-4.5")[1].ends_with("Its longest context is 131,072 tokens."));
    assert!(found("zai-org/GLM-4.5").unwrap().2);
    assert!(texts("amd/Llama-3.1-405B-Instruct-FP8-KV")[1].contains("FP8 KV cache"));
    assert!(texts("x/Qwen3-32B-Q4_K_M.gguf")[1].contains("GGUF Q4_K_M"));
}

/// By its name, its id and as lists show it: each is itself.
#[test]
fn every_model_of_the_catalog_is_found_by_its_names() {
    for model in &catalog().models.models {
        let shown = model.name.split_once('/').map(|(publisher, name)| format!("{name} ({publisher})"));
        for name in [Some(model.name.clone()), Some(model.id.clone()), Some(model.name.to_uppercase()), shown]
            .into_iter()
            .flatten()
        {
            assert_eq!(found(&name), Ok((model.id.as_str(), None, false)), "{name}");
        }
    }
}

#[test]
fn the_rules_are_sound() {
    let rules = rules();
    let lower = |text: &str| text == text.to_lowercase();
    for format in &rules.formats {
        assert!(
            format.weights.is_some() != format.without.is_some() && lower(&format.words),
            "{}",
            format.words
        );
    }
    for same in &rules.same {
        assert!(catalog().model(&same.id).is_some(), "{}", same.id);
        let found = resolve(&same.name).unwrap_or_else(|reason| panic!("{reason}"));
        let taken = found.model.name.clone();
        let base = Name::read(&taken).base();
        assert_eq!(base, Name::read(&catalog().model(&same.id).unwrap().name).base(), "{}", same.name);
    }
    for base in rules.native.keys() {
        assert!(NAMED_MODELS.iter().any(|known| known.base == *base), "{base}");
    }
    assert!(rules.tunings.iter().chain(&rules.releases).all(|word| lower(word)));
    assert!(!source().is_empty());
}

#[test]
fn two_models_of_the_catalog_share_a_base_only_where_their_shapes_agree() {
    for one in NAMED_MODELS.iter() {
        for other in NAMED_MODELS.iter().filter(|other| other.base == one.base) {
            let (a, b) = (one.model, other.model);
            assert_eq!(
                (a.hidden, a.layers(), &a.blocks),
                (b.hidden, b.layers(), &b.blocks),
                "{} {}",
                a.id,
                b.id
            );
        }
    }
}

proptest! {
    #[test]
    fn no_name_panics(name in ".{0,60}", tail in "[-_/:.@ a-zA-Z0-9]{0,60}") {
        let _ = resolve(&name);
        let _ = resolve(&format!("{name}/{tail}"));
        let _ = resolve(&format!("Qwen/Qwen3-32B{tail}"));
    }

    /// A name of another size is never taken for one of the catalog.
    #[test]
    fn another_size_is_refused(size in 1u32..2000) {
        for (family, sizes) in [("Qwen/Qwen3-", &[4, 8, 14, 32][..]), ("meta-llama/Llama-3.1-", &[8, 70, 405]), ("meta-llama/Llama-3.2-", &[1, 3])] {
            let taken = resolve(&format!("{family}{size}B-Instruct-FP8")).is_ok();
            prop_assert_eq!(taken, sizes.contains(&size));
        }
    }
}
