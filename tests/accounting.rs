//! Bytes of weights and of KV caches against figures worked by hand, for every kind of layer and cut.
//!
//! Each expectation is the arithmetic itself, from the sizes in the model's published `config.json`.

use rooflight::config::catalog::catalog;
use rooflight::config::model::import::import;
use rooflight::config::model::{Attention, Class, Ffn};
use rooflight::config::{Dtype, Lengths, Load, Model, ModelChoice, Scenario, Slos, Workload, check};
use rooflight::efficiency::Efficiencies;
use rooflight::serving::report::Memory;
use rooflight::serving::{finish, plan_alone};

const BF16: f64 = 2.0;
const FP8: f64 = 1.0;
/// A scale of 4 bytes for each block of 128 x 128.
const FP8_BLOCK: f64 = 1.0 + 4.0 / 16384.0;
/// Half a byte and a scale of 1 byte for 16 weights.
const NVFP4: f64 = 0.5 + 1.0 / 16.0;
/// Half a byte and a scale of 1 byte for 32 weights.
const MXFP4: f64 = 0.5 + 1.0 / 32.0;
/// Half a byte and a scale of 2 bytes for 128 weights.
const INT4: f64 = 0.5 + 2.0 / 128.0;

#[track_caller]
fn model(id: &str) -> &'static Model {
    catalog().model(id).unwrap_or_else(|| panic!("{id} is missing"))
}

/// A served model: how it is cut, and the format of its cache.
#[derive(Clone)]
struct Served {
    model: ModelChoice,
    cut: [u32; 4],
    kv: Dtype,
}

fn served(id: &str) -> Served {
    Served { model: ModelChoice::Catalog(id.into()), cut: [1, 1, 1, 1], kv: Dtype::Bf16 }
}

impl Served {
    fn tp(mut self, tp: u32) -> Self {
        self.cut[0] = tp;
        self
    }

    fn pp(mut self, pp: u32) -> Self {
        self.cut[1] = pp;
        self
    }

    fn dp(mut self, dp: u32) -> Self {
        self.cut[2] = dp;
        self
    }

    fn ep(mut self, ep: u32) -> Self {
        self.cut[3] = ep;
        self
    }

    fn fp8_cache(mut self) -> Self {
        self.kv = Dtype::Fp8;
        self
    }

    fn scenario(&self, tokens: u32) -> Scenario {
        let [tp, pp, dp, ep] = self.cut;
        Scenario {
            model: self.model.clone(),
            gpu: "b300".into(),
            engine: "vllm".into(),
            tp,
            pp,
            dp,
            ep,
            kv: self.kv,
            workload: Workload {
                isl: Lengths::Fixed(tokens - 1),
                osl: 1,
                load: Load::Concurrency(8),
                slos: Slos::default(),
                spread: 0.0,
            },
            ..Scenario::default()
        }
    }

    #[track_caller]
    fn memory(&self, tokens: u32) -> Memory {
        let (setup, issues) = check(&self.scenario(tokens), catalog());
        let setup = setup.unwrap_or_else(|| panic!("{issues:?}"));
        let plan = plan_alone(&setup).unwrap_or_else(|issues| panic!("{issues:?}"));
        finish(&plan, &Efficiencies::Roofline).unwrap().memory
    }

    /// Bytes that one sequence of `tokens` keeps on one GPU.
    #[track_caller]
    fn keeps(&self, tokens: u32, bytes: f64) {
        let counted = self.memory(tokens).kv_per_token.0 * f64::from(tokens);
        assert!((counted / bytes - 1.0).abs() < 1e-9, "{tokens} tokens: counted {counted}, by hand {bytes}");
    }

    /// Bytes of weights on one GPU.
    #[track_caller]
    fn weighs(&self, bytes: f64) {
        let counted = self.memory(100).weights.0;
        assert!((counted / bytes - 1.0).abs() < 1e-9, "counted {counted}, by hand {bytes}");
    }
}

/// Elements and bytes of one class of all layers, in the checkpoint's own formats.
fn class(model: &Model, wanted: Class) -> (f64, f64) {
    let formats = model.formats(model.weights);
    let of = |blocks: &rooflight::config::model::Blocks| {
        let tensors = blocks.tensors(model.hidden);
        let elements: f64 = tensors.iter().filter(|one| one.class == wanted).map(|one| one.elements).sum();
        f64::from(blocks.count) * elements
    };
    let elements: f64 = model.blocks.iter().map(of).sum();
    (elements, elements * wanted.dtype(&formats).bytes())
}

#[track_caller]
fn bytes(id: &str, wanted: Class, elements: f64, each: f64) {
    let counted = class(model(id), wanted);
    assert!(
        (counted.0 / elements - 1.0).abs() < 1e-9,
        "{id} {wanted:?}: {} elements, by hand {elements}",
        counted.0
    );
    let by_hand = elements * each;
    assert!(
        (counted.1 / by_hand - 1.0).abs() < 1e-9,
        "{id} {wanted:?}: {} bytes, by hand {by_hand}",
        counted.1
    );
}

// Bytes of KV cache: keys and values, KV heads, width, bytes of an element, layers.

#[test]
fn grouped_queries() {
    let per_token = 2.0 * 8.0 * 128.0 * BF16 * 32.0;
    assert_eq!(per_token, 131_072.0);
    served("llama-3.1-8b").keeps(2, 2.0 * per_token);
    served("llama-3.1-8b").keeps(3000, 3000.0 * per_token);
    // One of 8 KV heads on each of 8 GPUs.
    served("llama-3.1-70b").tp(8).keeps(1000, 1000.0 * 2.0 * 1.0 * 128.0 * BF16 * 80.0);
}

#[test]
fn a_cache_in_fp8_is_half_as_large() {
    served("llama-3.1-8b").fp8_cache().keeps(1000, 1000.0 * 2.0 * 8.0 * 128.0 * FP8 * 32.0);
}

#[test]
fn kv_heads_are_copied_where_there_are_fewer_than_gpus() {
    // 4 KV heads on 8 GPUs: one each, held twice.
    served("qwen3-235b-a22b-fp8").tp(8).ep(8).keeps(1000, 1000.0 * 2.0 * 1.0 * 128.0 * BF16 * 94.0);
}

#[test]
fn one_kv_head_is_on_every_gpu_and_each_head_its_own_where_all_have_one() {
    let config = |kv: u32| {
        format!(
            r#"{{"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 10, "vocab_size": 32000,
            "num_attention_heads": 16, "num_key_value_heads": {kv}, "intermediate_size": 8192,
            "max_position_embeddings": 8192}}"#
        )
    };
    let custom = |kv: u32| {
        let (model, issues) = import(&config(kv), None);
        let model = model.unwrap_or_else(|| panic!("{issues:?}"));
        Served { model: ModelChoice::Custom(Box::new(model)), ..served("") }
    };
    let multi_query = 2.0 * 1.0 * 128.0 * BF16 * 10.0;
    custom(1).keeps(500, 500.0 * multi_query);
    custom(1).tp(8).keeps(500, 500.0 * multi_query);
    custom(16).keeps(500, 500.0 * 16.0 * multi_query);
    custom(16).tp(8).keeps(500, 500.0 * 2.0 * multi_query);
}

#[test]
fn latent_attention_keeps_one_vector_and_a_shared_key_on_every_gpu() {
    let per_token = (512.0 + 64.0) * 61.0;
    served("deepseek-v3").tp(8).ep(8).keeps(2000, 2000.0 * per_token * BF16);
    served("deepseek-v3").tp(4).ep(4).fp8_cache().keeps(2000, 2000.0 * per_token * FP8);
}

#[test]
fn sparse_attention_adds_a_key_of_the_indexer() {
    // An FP8 key of 128 and its f32 scale, in every layer.
    let per_token = ((512.0 + 64.0) * BF16 + 128.0 + 4.0) * 61.0;
    served("deepseek-v3.2").tp(8).ep(8).keeps(2000, 2000.0 * per_token);
    // GLM-5.2 has an indexer in its first 3 layers and in 18 of the 75 others, which share it.
    let per_token = (512.0 + 64.0) * BF16 * 78.0 + (128.0 + 4.0) * 21.0;
    served("glm-5.2-fp8").tp(8).ep(8).keeps(2000, 2000.0 * per_token);
}

#[test]
fn windows_end_what_a_layer_keeps() {
    // gpt-oss: 18 layers see 128 tokens, 18 see all; 8 KV heads of 64.
    let layer = 2.0 * 8.0 * 64.0 * BF16;
    served("gpt-oss-120b").keeps(100, 36.0 * 100.0 * layer);
    served("gpt-oss-120b").keeps(10_000, 18.0 * 10_000.0 * layer + 18.0 * 128.0 * layer);
    // Gemma 4: 25 layers see 1024 tokens with 8 KV heads of 256, 5 see all with 2 of 512.
    let (local, global) = (2.0 * 8.0 * 256.0 * BF16, 2.0 * 2.0 * 512.0 * BF16);
    served("gemma-4-26b-a4b").keeps(500, 500.0 * (25.0 * local + 5.0 * global));
    served("gemma-4-26b-a4b").keeps(4096, 25.0 * 1024.0 * local + 5.0 * 4096.0 * global);
    // Llama 4: chunks of 8192 in three of four layers.
    let layer = 2.0 * 8.0 * 128.0 * BF16;
    served("llama-4-scout-17b-16e-instruct")
        .tp(2)
        .ep(2)
        .keeps(20_000, (36.0 * 8192.0 + 12.0 * 20_000.0) * layer / 2.0);
}

#[test]
fn values_may_be_narrower_than_keys() {
    // MiMo-V2: 39 layers see 128 tokens with 8 KV heads, 9 see all with 4; keys of 192, values of 128.
    let (local, global) = (8.0 * (192.0 + 128.0) * BF16, 4.0 * (192.0 + 128.0) * BF16);
    served("mimo-v2-flash").tp(2).ep(2).keeps(3000, (39.0 * 128.0 * local + 9.0 * 3000.0 * global) / 2.0);
}

#[test]
fn layers_without_attention_keep_nothing() {
    // Nemotron-NAS left attention in 49 of 80 layers.
    let per_token = 2.0 * 8.0 * 128.0 * BF16 * 49.0;
    served("llama-3.3-nemotron-super-49b-v1").keeps(1000, 1000.0 * per_token);
}

#[test]
fn states_of_delta_rules_have_one_size() {
    // Qwen3.5-27B: 16 layers of attention with 4 KV heads of 256; 48 with an f32 state of 128 x 128 for each
    // of 48 value heads, and the last 3 inputs of a convolution over 2 x 16 x 128 + 48 x 128 channels.
    let per_token = 2.0 * 4.0 * 256.0 * BF16 * 16.0;
    let state = (48.0 * 128.0 * 128.0 * 4.0 + 3.0 * (2.0 * 2048.0 + 6144.0) * BF16) * 48.0;
    assert_eq!(state, 153_944_064.0);
    for tokens in [2, 1000, 100_000] {
        served("qwen3.5-27b").keeps(tokens, f64::from(tokens) * per_token + state);
        served("qwen3.5-27b").tp(2).keeps(tokens, (f64::from(tokens) * per_token + state) / 2.0);
    }
    // Kimi K3: 24 layers of latent attention, on every GPU; 69 of delta attention with 96 heads of 128.
    let per_token = (512.0 + 64.0) * BF16 * 24.0;
    let state = (96.0 * 128.0 * 128.0 * 4.0 + 3.0 * 3.0 * 96.0 * 128.0 * BF16) * 69.0;
    served("kimi-k3").tp(8).ep(8).keeps(5000, 5000.0 * per_token + state / 8.0);
}

#[test]
fn states_of_mamba_have_one_size() {
    // Nemotron 3 Nano: 6 layers of attention with 2 KV heads of 128; 23 with an f32 state of 128 for each of
    // 64 x 64 channels, and the last 3 inputs of a convolution over 4096 + 2 x 8 x 128 channels.
    let per_token = 2.0 * 2.0 * 128.0 * BF16 * 6.0;
    let state = (64.0 * 64.0 * 128.0 * 4.0 + 3.0 * (4096.0 + 2048.0) * BF16) * 23.0;
    assert_eq!(state, 49_082_368.0);
    for tokens in [2, 1000, 100_000] {
        served("nemotron-3-nano-30b-a3b-bf16").keeps(tokens, f64::from(tokens) * per_token + state);
    }
}

#[test]
fn stages_hold_their_layers_only() {
    served("llama-3.1-70b").tp(4).pp(2).keeps(1000, 1000.0 * 2.0 * 2.0 * 128.0 * BF16 * 40.0);
    // 61 layers in 2 stages: 31 on the fuller one.
    served("deepseek-v3").tp(4).ep(4).pp(2).keeps(1000, 1000.0 * 576.0 * BF16 * 31.0);
}

// Bytes of weights by class: elements of one layer, layers, bytes of an element.

#[test]
fn dense_layers_by_class() {
    // Q and output as wide as the model, K and V 8 heads of 128; three projections of 14336.
    let attention = 4096.0 * (4096.0 + 1024.0 + 1024.0 + 4096.0);
    bytes("llama-3.1-8b", Class::Attention, attention * 32.0, BF16);
    bytes("llama-3.1-8b", Class::Mlp, 3.0 * 4096.0 * 14336.0 * 32.0, BF16);
    bytes("llama-3.1-8b", Class::Kept, 2.0 * 4096.0 * 32.0, BF16);
    bytes("qwen3-32b-fp8", Class::Mlp, 3.0 * 5120.0 * 25600.0 * 64.0, FP8_BLOCK);
    bytes("llama-3.1-70b-instruct-fp8", Class::Mlp, 3.0 * 8192.0 * 28672.0 * 80.0, FP8);
}

#[test]
fn latent_attention_and_experts_by_class() {
    // Queries through 1536 to 128 heads of 192; 512 + 64 down, 512 up to 128 heads of 128 + 128; output.
    let attention = 7168.0 * 1536.0
        + 1536.0 * 128.0 * 192.0
        + 7168.0 * 576.0
        + 512.0 * 128.0 * 256.0
        + 128.0 * 128.0 * 7168.0;
    let expert = 3.0 * 7168.0 * 2048.0;
    bytes("deepseek-v3", Class::Attention, attention * 61.0, FP8_BLOCK);
    bytes("deepseek-v3", Class::Mlp, 3.0 * 7168.0 * 18432.0 * 3.0, FP8_BLOCK);
    bytes("deepseek-v3", Class::Shared, expert * 58.0, FP8_BLOCK);
    bytes("deepseek-v3", Class::Experts, 256.0 * expert * 58.0, FP8_BLOCK);
    // NVIDIA's checkpoint keeps four of the five projections of attention in 16 bits.
    bytes("deepseek-v3.1-nvfp4", Class::Attention, attention * 61.0, BF16);
    bytes("deepseek-v3.1-nvfp4", Class::Shared, expert * 58.0, NVFP4);
    bytes("deepseek-v3.1-nvfp4", Class::Experts, 256.0 * expert * 58.0, NVFP4);
    // Kimi K2.5: integers in the experts only.
    bytes("kimi-k2.5", Class::Experts, 384.0 * expert * 60.0, INT4);
    bytes("kimi-k2.5", Class::Shared, expert * 60.0, BF16);
}

#[test]
fn experts_with_biases_in_mxfp4() {
    // Three projections of 2880 x 2880, biases of 2 x 2880 and 2880.
    let expert = 3.0 * 2880.0 * 2880.0 + 3.0 * 2880.0;
    bytes("gpt-oss-120b", Class::Experts, 128.0 * expert * 36.0, MXFP4);
    let attention = 2880.0 * (64.0 * 64.0 + 2.0 * 8.0 * 64.0 + 64.0 * 64.0);
    bytes("gpt-oss-120b", Class::Attention, attention * 36.0, BF16);
}

#[test]
fn hybrids_by_class() {
    // Qwen3.6-35B-A3B: 10 layers with gated attention (2 x 16 heads of 256, 2 KV heads), 30 with delta rules
    // (keys 16 x 128, values 32 x 128; gate and output as wide as the values).
    let gated = 2048.0 * (2.0 * 4096.0 + 2.0 * 512.0 + 4096.0);
    let delta = 2048.0 * (2.0 * 2048.0 + 4096.0 + 4096.0 + 4096.0);
    bytes("qwen3.6-35b-a3b-nvfp4", Class::Attention, 10.0 * gated + 30.0 * delta, FP8);
    bytes("qwen3.6-35b-a3b-nvfp4", Class::Shared, 3.0 * 2048.0 * 512.0 * 40.0, NVFP4);
    // Nemotron 3 Nano: two projections an expert, the shared one twice as wide.
    bytes("nemotron-3-nano-30b-a3b-bf16", Class::Experts, 2.0 * 2688.0 * 1856.0 * 128.0 * 23.0, BF16);
    bytes("nemotron-3-nano-30b-a3b-bf16", Class::Shared, 2.0 * 2688.0 * 3712.0 * 23.0, BF16);
    // Mamba: gate and values of 4096, 2 x 8 groups of 128, a step for each of 64 heads; back from 4096.
    let mamba = 2688.0 * (2.0 * 4096.0 + 2.0 * 1024.0 + 64.0) + 4096.0 * 2688.0;
    let attention = 2688.0 * (4096.0 + 2.0 * 256.0 + 4096.0);
    bytes("nemotron-3-nano-30b-a3b-bf16", Class::Attention, 23.0 * mamba + 6.0 * attention, BF16);
    // Super: experts between projections to 1024 and back.
    bytes("nemotron-3-super-120b-a12b-fp8", Class::Experts, 2.0 * 1024.0 * 2688.0 * 512.0 * 40.0, FP8);
    let shared = 2.0 * 4096.0 * 5376.0 + 2.0 * 4096.0 * 1024.0;
    bytes("nemotron-3-super-120b-a12b-fp8", Class::Shared, shared * 40.0, FP8);
}

// Weights on one GPU, by cut.

#[test]
fn dense_weights_by_cut() {
    let attention = 4096.0 * (4096.0 + 4096.0);
    let kv = 4096.0 * 2.0 * 1024.0;
    let mlp = 3.0 * 4096.0 * 14336.0;
    let (norms, table) = (2.0 * 4096.0, 128_256.0 * 4096.0);
    let one = 32.0 * (attention + kv + mlp + norms) + 2.0 * table;
    served("llama-3.1-8b").weighs(one * BF16);
    // Everything but the norms is dealt over the ranks.
    let cut = 32.0 * ((attention + kv + mlp) / 4.0 + norms) + 2.0 * table / 4.0;
    served("llama-3.1-8b").tp(4).weighs(cut * BF16);
    // Half the layers, and either the embedding or the head.
    let stage = 16.0 * (attention + kv + mlp + norms) + table;
    served("llama-3.1-8b").pp(2).weighs(stage * BF16);
}

#[test]
fn experts_by_cut() {
    let expert = 3.0 * 4096.0 * 1536.0;
    let attention = 2.0 * 4096.0 * 8192.0;
    let kv = 4096.0 * 2.0 * 4.0 * 128.0;
    let kept = 2.0 * 4096.0 + 2.0 * 128.0 + 4096.0 * 128.0;
    let table = 151_936.0 * 4096.0;
    // 4 KV heads on 8 ranks: each rank has one of them, so a quarter of the projections.
    let ranks = attention / 8.0 + kv / 4.0 + 128.0 * expert / 8.0;
    let bytes = 94.0 * (ranks * FP8_BLOCK + kept * BF16) + 2.0 * table / 8.0 * BF16;
    served("qwen3-235b-a22b-fp8").tp(8).ep(8).weighs(bytes);
    // Attention on each of 8 GPUs for itself, the experts dealt over all.
    let own = attention + kv + 128.0 * expert / 8.0;
    let bytes = 94.0 * (own * FP8_BLOCK + kept * BF16) + 2.0 * table * BF16;
    served("qwen3-235b-a22b-fp8").dp(8).ep(8).weighs(bytes);
}

#[test]
fn every_model_of_the_catalog_is_served() {
    for model in &catalog().models.models {
        // Eight GPUs, or as many as heads and blocks of scales divide over.
        let accepted = |served: &Served| check(&served.scenario(4000), catalog()).0.is_some();
        let served = [8, 4, 2, 1].into_iter().map(|tp| served(&model.id).tp(tp)).find(accepted);
        let memory = served.unwrap_or_else(|| panic!("{}", model.id)).memory(4000);
        assert!(memory.kv_per_token.0 > 0.0 && memory.weights.0 > 0.0, "{}", model.id);
    }
}

#[test]
fn every_model_of_the_catalog_adds_up() {
    for model in &catalog().models.models {
        let classes = [Class::Attention, Class::Mlp, Class::Shared, Class::Experts, Class::Kept];
        let blocks: f64 = classes.iter().map(|one| class(model, *one).0).sum();
        let tables = if model.tied_embeddings { 1.0 } else { 2.0 };
        let tables = f64::from(model.hidden) * (tables * f64::from(model.vocab) + 1.0);
        assert_eq!(blocks + tables, model.parameters(), "{}", model.id);
        let active = model.active_parameters();
        assert!(active > 0.0 && active <= model.parameters(), "{}", model.id);
        let experts = model.blocks.iter().any(|blocks| matches!(blocks.ffn, Some(Ffn::Moe(_))));
        assert_eq!(active < model.parameters(), experts, "{}", model.id);
        let linear = |attention: &Attention| matches!(attention, Attention::Delta(_) | Attention::Mamba(_));
        assert!(model.attentions().any(|attention| !linear(attention)), "{}", model.id);
    }
}
