//! Import of published configs and the model catalog made from them.

use std::path::{Path, PathBuf};

use rooflight::config::catalog::{ConfigFile, build, catalog, print};
use rooflight::config::model::import::import;
use rooflight::config::model::{Attention, Blocks, Compressed, Ffn, Formats, Indexer};
use rooflight::config::{Dtype, Issue, Model};

/// Parameters in billions as the publisher prints them, from the safetensors index where it is shown.
#[rustfmt::skip]
const PUBLISHED: [(&str, f64); 106] = [
    ("llama-3.1-8b", 8.03), ("llama-3.1-70b", 70.55), ("llama-3.1-405b", 405.85),
    ("llama-3.1-70b-instruct-fp8", 70.55), ("llama-3.2-1b", 1.236), ("llama-3.2-3b", 3.213),
    ("llama-3.3-70b-instruct", 70.55),
    ("qwen2-72b", 72.71), ("qwen2.5-0.5b-instruct", 0.494), ("qwen2.5-1.5b-instruct", 1.544),
    ("qwen2.5-3b-instruct", 3.086), ("qwen2.5-7b-instruct", 7.616), ("qwen2.5-14b", 14.77),
    ("qwen2.5-32b", 32.76), ("qwen2.5-72b-instruct", 72.71),
    ("qwen3-0.6b", 0.596), ("qwen3-1.7b", 1.72), ("qwen3-4b", 4.022), ("qwen3-8b", 8.19),
    ("qwen3-14b", 14.77), ("qwen3-32b", 32.76), ("qwen3-32b-fp8", 32.76),
    ("mistral-7b-instruct-v0.3", 7.248), ("mistral-small-24b-instruct-2501", 23.57),
    ("mistral-large-instruct-2411", 122.61),
    ("deepseek-r1-distill-llama-8b", 8.03), ("deepseek-r1-distill-llama-70b", 70.55),
    ("deepseek-r1-distill-qwen-1.5b", 1.777), ("deepseek-r1-distill-qwen-32b", 32.76),
    ("yi-1.5-34b", 34.39), ("phi-4", 14.66),
    // Mistral AI's announcements (46.7 B) and safetensors (140.62 B).
    ("mixtral-8x7b-v0.1", 46.70), ("mixtral-8x22b-v0.1", 140.62),
    // DeepSeek-V3's report: 671 B, without the multi-token-prediction module that the files also hold.
    ("deepseek-v3", 671.0), ("deepseek-r1", 671.0), ("deepseek-v3.1-nvfp4", 671.0),
    // GLM-5's announcement.
    ("glm-5", 744.0), ("glm-5.1", 744.0), ("glm-5.2", 744.0),
    // Safetensors.
    ("qwen3-30b-a3b", 30.53), ("qwen3-235b-a22b", 235.09), ("qwen3-235b-a22b-nvfp4", 235.09),
    ("qwen3-coder-480b-a35b-instruct", 480.15), ("minimax-m2.5", 228.70), ("minimax-m2.7-nvfp4", 228.70),
    ("llama-3.3-nemotron-super-49b-v1", 49.87),
    // By name; the language part alone.
    ("qwen3.5-27b", 27.0), ("qwen3.5-122b-a10b", 122.0), ("qwen3.5-397b-a17b", 397.0),
    ("qwen3.5-397b-a17b-nvfp4", 397.0),
    // The model card of gpt-oss: total parameters.
    ("gpt-oss-20b", 20.91), ("gpt-oss-120b", 116.83),
    // Safetensors without the vision encoder (0.9 B).
    ("llama-4-scout-17b-16e-instruct", 107.77), ("llama-4-maverick-17b-128e-instruct", 400.71),
    // Model cards.
    ("gemma-4-26b-a4b", 25.2), ("gemma-4-31b-it-nvfp4", 30.7), ("mimo-v2-flash", 309.0),
    ("nemotron-3-nano-30b-a3b-bf16", 31.6), ("nemotron-3-ultra-550b-a55b-bf16", 550.0),
    // Safetensors.
    ("llama-2-7b-hf", 6.738), ("llama-2-13b-hf", 13.016), ("llama-2-70b-hf", 68.977), ("llama-3-8b", 8.03),
    ("llama-3-70b", 70.55), ("codellama-7b-hf", 6.739), ("codellama-34b-hf", 33.744), ("yi-1.5-9b", 8.829),
    ("smollm2-135m", 0.1345), ("smollm2-360m", 0.3618), ("smollm2-1.7b", 1.711),
    ("falcon3-7b-base", 7.456), ("falcon3-10b-base", 10.306),
    ("granite-3.3-2b-instruct", 2.534), ("granite-3.3-8b-instruct", 8.171),
    ("mistral-nemo-instruct-2407", 12.248), ("ministral-8b-instruct-2410", 8.020),
    ("phi-3-mini-128k-instruct", 3.821), ("phi-3-medium-128k-instruct", 13.960), ("phi-4-mini-instruct", 3.836),
    ("qwen3-4b-instruct-2507", 4.022), ("qwen3-30b-a3b-instruct-2507", 30.53),
    ("qwen3-235b-a22b-instruct-2507", 235.09), ("deepseek-v2-lite", 15.706), ("deepseek-v2", 235.74),
    // The language part: the same without the vision encoder (0.4 to 0.7 B).
    ("mistral-small-3.2-24b-instruct-2506", 23.57), ("qwen2.5-vl-3b-instruct", 3.086),
    ("qwen2.5-vl-7b-instruct", 7.616), ("qwen2.5-vl-32b-instruct", 32.76), ("qwen2.5-vl-72b-instruct", 72.71),
    // DeepSeek-V4's report; MiniMax-M3's announcement, its vision encoder included.
    ("deepseek-v4-flash", 284.0), ("deepseek-v4-flash-fp8", 284.0), ("minimax-m3", 428.0),
    // keras-hub's presets, of the language part.
    ("gemma-3-4b-it", 3.8801), ("gemma-3-12b-it", 11.7658), ("gemma-3-27b-it", 27.0090),
    // Safetensors.
    ("gemma-2-2b-it", 2.614), ("gemma-2-9b-it", 9.242), ("exaone-4.0-32b", 32.0), ("olmo-3.1-32b-instruct", 32.23),
    ("seed-oss-36b-instruct", 36.15), ("hunyuan-a13b-instruct", 80.39), ("granite-4.0-h-small", 32.2),
    ("smollm3-3b", 3.075), ("kimi-linear-48b-a3b-instruct", 49.12), ("c4ai-command-r-v01", 34.98),
    ("phi-3.5-moe-instruct", 41.87),
];
// Left out: Kimi K2's 1.04 T counts its first layer as a mixture of experts, which its config does not have
// (1.026 T); Step 3.7, DeepSeek-V4-Pro (1.6 T), Kimi K3 and Nemotron 3 Super, whose makers print rounded figures only.

/// Active parameters in billions, and whether the publisher counts the embedding among them.
#[rustfmt::skip]
const ACTIVE: [(&str, f64, bool); 6] = [
    // Mistral AI's announcements.
    ("mixtral-8x7b-v0.1", 12.9, true), ("mixtral-8x22b-v0.1", 39.0, true),
    // The model card of gpt-oss counts the head and not the embedding.
    ("gpt-oss-20b", 3.61, false), ("gpt-oss-120b", 5.13, false),
    // The tensors of the checkpoint with 8 of 128 experts; the cards print 3.3 and 22.
    ("qwen3-30b-a3b", 3.35, true), ("qwen3-235b-a22b", 22.19, true),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Published configs of a folder, as `src/bin/catalog.rs` reads them.
fn configs(folder: &Path) -> Vec<ConfigFile> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.ends_with("_hf_quant_config.json"))
        .filter_map(|name| name.strip_suffix("_config.json").map(str::to_owned))
        .collect();
    names.sort();
    let read = |name: String| ConfigFile {
        config: std::fs::read_to_string(folder.join(format!("{name}_config.json"))).unwrap(),
        hf_quant_config: std::fs::read_to_string(folder.join(format!("{name}_hf_quant_config.json"))).ok(),
        name: name.replacen("--", "/", 1),
    };
    names.into_iter().map(read).collect()
}

/// Every config at hand, or nothing with a message where the measured data is absent.
fn published() -> Option<Vec<ConfigFile>> {
    let mut files = configs(&root().join("../shared/data/model_configs"));
    if files.is_empty() {
        eprintln!("skipped: ../shared/data/model_configs is absent");
        return None;
    }
    files.extend(configs(&root().join("static/catalog/model_facts")));
    Some(files)
}

#[test]
fn parameters_agree_with_the_published_counts() {
    for (id, billions) in PUBLISHED {
        let counted = catalog().model(id).unwrap_or_else(|| panic!("{id} is missing")).parameters() / 1e9;
        assert!(
            (counted / billions - 1.0).abs() < 0.005,
            "{id}: counted {counted:.3} B, published {billions} B"
        );
    }
}

#[test]
fn active_parameters_agree_with_the_published_counts() {
    for (id, billions, embedding) in ACTIVE {
        let model = catalog().model(id).unwrap_or_else(|| panic!("{id} is missing"));
        let table = if embedding { 0.0 } else { f64::from(model.vocab) * f64::from(model.hidden) };
        let counted = (model.active_parameters() - table) / 1e9;
        assert!(
            (counted / billions - 1.0).abs() < 0.005,
            "{id}: counted {counted:.3} B active, published {billions} B"
        );
    }
}

/// The groups of layers in a few words: how many, what mixes tokens, what works on each.
fn shape(model: &Model) -> String {
    let mixer = |attention: &Attention| match attention {
        Attention::Gqa(gqa) => {
            let mut text = format!("{}/{}x{}", gqa.heads, gqa.kv_heads, gqa.head_dim);
            gqa.window.iter().for_each(|window| text += &format!(" of {window}"));
            gqa.blocks.iter().for_each(|blocks| text += &format!(" top {} x {}", blocks.topk, blocks.size));
            gqa.traits.iter().for_each(|one| text += &format!(" {one:?}").to_lowercase());
            text
        }
        Attention::Mla(mla) => {
            let index = match mla.indexer {
                Some(Indexer { borrowed: Some(true), .. }) => " borrowed",
                Some(_) => " indexed",
                None => "",
            };
            let gate = if mla.gated() { " gated" } else { "" };
            format!("mla {}{index}{gate}", mla.heads)
        }
        Attention::Delta(delta) => format!("delta {}/{}", delta.value_heads, delta.key_heads),
        Attention::Mamba(mamba) => format!("mamba {}", mamba.heads),
        Attention::Compressed(Compressed { heads, ratio, indexer, .. }) => {
            let index = if indexer.is_some() { " indexed" } else { "" };
            format!("compressed {heads} by {}{index}", ratio.unwrap_or(0))
        }
    };
    let ffn = |ffn: &Ffn| match ffn {
        Ffn::Dense(dense) => format!("mlp {}", dense.intermediate),
        Ffn::Moe(moe) => {
            let mut text = format!("{} of {} {}", moe.topk, moe.experts, moe.intermediate);
            moe.shared.iter().for_each(|width| text += &format!(" + {width}"));
            moe.latent.iter().for_each(|width| text += &format!(" in {width}"));
            moe.beside.iter().for_each(|width| text += &format!(" beside {width}"));
            text
        }
    };
    let group = |blocks: &Blocks| {
        let parts = [blocks.attention.as_ref().map(mixer), blocks.ffn.as_ref().map(ffn)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("{} x {}", blocks.count, parts.join(", "))
    };
    model.blocks.iter().map(group).collect::<Vec<_>>().join("; ")
}

#[rustfmt::skip]
#[test]
fn each_family_has_its_architecture() {
    for (id, wanted) in [
        ("llama-3.1-8b", "32 x 32/8x128, mlp 14336"),
        ("qwen3-vl-235b-a22b-instruct", "94 x 64/4x128, 8 of 128 1536"),
        ("mixtral-8x7b-v0.1", "32 x 32/8x128, 2 of 8 14336"),
        ("minimax-m3", "3 x 64/4x128, mlp 12288; 57 x 64/4x128 top 16 x 128, 4 of 128 3072 + 3072"),
        ("deepseek-v4-flash", "2 x compressed 64 by 0, 6 of 256 2048 + 2048; \
            21 x compressed 64 by 4 indexed, 6 of 256 2048 + 2048; 20 x compressed 64 by 128, 6 of 256 2048 + 2048"),
        ("deepseek-v4-pro", "31 x compressed 128 by 128, 6 of 384 3072 + 3072; \
            30 x compressed 128 by 4 indexed, 6 of 384 3072 + 3072"),
        ("minimax-m2.5", "62 x 48/8x128 normoverheads, 8 of 256 1536"),
        ("deepseek-r1", "3 x mla 128, mlp 18432; 58 x mla 128, 8 of 256 2048 + 2048"),
        ("deepseek-v3.2", "3 x mla 128 indexed, mlp 18432; 58 x mla 128 indexed, 8 of 256 2048 + 2048"),
        ("kimi-k2.5", "1 x mla 64, mlp 18432; 60 x mla 64, 8 of 384 2048 + 2048"),
        ("kimi-k2.6-nvfp4", "1 x mla 64, mlp 18432; 60 x mla 64, 8 of 384 2048 + 2048"),
        ("kimi-k3", "1 x delta 96/96, mlp 33792; 68 x delta 96/96, 16 of 896 3072 + 6144 in 3584; \
            24 x mla 96 gated, 16 of 896 3072 + 6144 in 3584"),
        ("glm-5", "3 x mla 64 indexed, mlp 12288; 75 x mla 64 indexed, 8 of 256 2048 + 2048"),
        ("glm-5.2", "3 x mla 64 indexed, mlp 12288; 57 x mla 64 borrowed, 8 of 256 2048 + 2048; \
            18 x mla 64 indexed, 8 of 256 2048 + 2048"),
        ("gpt-oss-120b", "18 x 64/8x64 of 128 sinks, 4 of 128 2880; 18 x 64/8x64 sinks, 4 of 128 2880"),
        ("gemma-4-26b-a4b", "25 x 16/8x256 of 1024, 8 of 128 704 beside 2112; \
            5 x 16/2x512 valuesfromkeys, 8 of 128 704 beside 2112"),
        ("gemma-4-31b-it-nvfp4", "50 x 32/16x256 of 1024, mlp 21504; 10 x 32/4x512 valuesfromkeys, mlp 21504"),
        ("llama-4-scout-17b-16e-instruct", "36 x 40/8x128 of 8192, 1 of 16 8192 + 8192; \
            12 x 40/8x128, 1 of 16 8192 + 8192"),
        ("llama-4-maverick-17b-128e-instruct", "24 x 40/8x128 of 8192, mlp 16384; \
            12 x 40/8x128 of 8192, 1 of 128 8192 + 8192; 12 x 40/8x128, 1 of 128 8192 + 8192"),
        ("mimo-v2-flash", "1 x 64/4x192, mlp 16384; 39 x 64/8x192 of 128 sinks, 8 of 256 2048; \
            8 x 64/4x192, 8 of 256 2048"),
        ("step-3.7-flash", "1 x 64/8x128, mlp 11264; 2 x 64/8x128 of 512, mlp 11264; \
            31 x 64/8x128 of 512, 8 of 288 1280 + 1280; 11 x 64/8x128, 8 of 288 1280 + 1280"),
        ("qwen3.5-27b", "48 x delta 48/16, mlp 17408; 16 x 24/4x256 outputgate, mlp 17408"),
        ("qwen3.5-397b-a17b", "45 x delta 64/16, 10 of 512 1024 + 1024; \
            15 x 32/2x256 outputgate, 10 of 512 1024 + 1024"),
        ("nemotron-h-56b-base-8k", "54 x mamba 256; 54 x mlp 32768; 10 x 64/8x128"),
        ("nemotron-3-nano-30b-a3b-bf16", "23 x mamba 64; 23 x 6 of 128 1856 + 3712; 6 x 32/2x128"),
        ("nemotron-3-ultra-550b-a55b-bf16", "48 x mamba 256; 48 x 22 of 512 5120 + 10240 in 2048; 12 x 64/2x128"),
        ("llama-3.3-nemotron-super-49b-v1", "48 x 64/8x128, mlp 28672; 10 x mlp 7168; 8 x mlp 5632; 6 x mlp 2816; \
            5 x mlp 14336; 1 x 64/8x128, mlp 14336; 1 x mlp 17920; 1 x mlp 28672"),
    ] {
        let found = shape(catalog().model(id).unwrap_or_else(|| panic!("{id} is missing")));
        let sorted = |text: &str| {
            let mut parts: Vec<String> = text.split("; ").map(str::to_owned).collect();
            parts.sort();
            parts
        };
        assert_eq!(sorted(&found), sorted(wanted), "{id}");
    }
}

#[test]
fn every_published_model_is_read() {
    assert_eq!(catalog().models.refused, []);
}

#[test]
fn what_was_never_measured_is_said() {
    for (id, what) in [
        ("deepseek-v4-flash", "No kernel for attention over compressed keys"),
        ("deepseek-v4-pro-nvfp4", "No kernel for attention over compressed keys"),
        ("minimax-m3", "No kernel for block-sparse attention"),
    ] {
        let model = catalog().model(id).unwrap_or_else(|| panic!("{id} is missing"));
        assert!(model.notes.iter().any(|note| note.starts_with(what)), "{id}: {:?}", model.notes);
    }
}

#[test]
fn formats_differ_by_class_where_the_checkpoint_says_so() {
    let [bf16, fp8, block, fp4] = [Dtype::Bf16, Dtype::Fp8, Dtype::Fp8Block, Dtype::Nvfp4];
    let of = |weights, attention, mlp, shared| Formats { weights, attention, mlp, shared };
    for (id, wanted) in [
        ("deepseek-v3", of(block, block, block, block)),
        ("deepseek-v3.1-nvfp4", of(fp4, bf16, fp4, fp4)),
        ("deepseek-v4-pro", of(Dtype::Mxfp4, block, bf16, block)),
        ("deepseek-v4-pro-fp8", of(block, block, block, block)),
        // Experts requantised, the rest as DeepSeek published it.
        ("deepseek-v4-pro-nvfp4", of(fp4, block, fp4, block)),
        ("glm-5-nvfp4", of(fp4, bf16, fp4, fp4)),
        ("glm-5.1-nvfp4", of(fp4, bf16, bf16, bf16)),
        ("kimi-k2.5", of(Dtype::Int4, bf16, bf16, bf16)),
        ("kimi-k2.5-nvfp4", of(fp4, bf16, fp4, fp4)),
        ("kimi-k2.7-code-nvfp4", of(fp4, bf16, bf16, bf16)),
        ("kimi-k3", of(Dtype::Mxfp4, bf16, bf16, bf16)),
        ("gpt-oss-20b", of(Dtype::Mxfp4, bf16, bf16, bf16)),
        ("minimax-m2.5", of(block, block, block, block)),
        ("minimax-m2.5-nvfp4", of(fp4, bf16, fp4, bf16)),
        ("qwen3.5-397b-a17b-nvfp4", of(fp4, bf16, fp4, bf16)),
        ("qwen3.6-35b-a3b-nvfp4", of(fp4, fp8, fp4, fp4)),
        ("gemma-4-26b-a4b-nvfp4", of(fp4, bf16, bf16, bf16)),
        ("gemma-4-31b-it-nvfp4", of(fp4, bf16, fp4, fp4)),
        ("nemotron-3-super-120b-a12b-fp8", of(fp8, fp8, fp8, fp8)),
    ] {
        let model = catalog().model(id).unwrap_or_else(|| panic!("{id} is missing"));
        assert_eq!(model.formats(model.weights), wanted, "{id}");
    }
    // One record without a config beside it gives no model: `configs` above does not list it.
    assert_eq!(catalog().model("qwen3.6-27b-nvfp4"), None);
}

#[test]
fn the_picker_holds_enough_models_with_unique_ids() {
    let models = &catalog().models;
    assert!(models.models.len() >= 25, "{} usable models", models.models.len());
    let all = models.models.iter().map(|model| &model.id).chain(models.refused.iter().map(|model| &model.id));
    let mut ids: Vec<&String> = all.collect();
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
    for id in ids {
        let readable = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
        assert!(id.len() <= 48 && id.chars().all(readable), "{id}");
    }
    for model in &models.models {
        assert_eq!(model.objections(), Vec::<String>::new(), "{}", model.id);
    }
}

#[test]
fn every_published_config_is_read_or_refused_by_a_trait() {
    let Some(files) = published() else { return };
    for file in &files {
        let (model, issues) = import(&file.config, file.hf_quant_config.as_deref());
        match model {
            Some(model) => {
                let (total, active) = (model.parameters() / 1e9, model.active_parameters() / 1e9);
                println!("{:58} {total:8.3} B {active:8.3} B {}", file.name, model.weights.id());
                assert!(!issues.iter().any(Issue::is_error), "{}: {issues:?}", file.name);
            }
            None => {
                let reason = &issues[0].text;
                println!("{:58} refused: {reason}", file.name);
                assert_eq!(issues.len(), 1, "{}: {issues:?}", file.name);
                assert!(reason.ends_with(": not covered by this release"), "{}: {reason}", file.name);
            }
        }
    }
}

#[test]
fn the_committed_catalog_is_current() {
    let Some(files) = published() else { return };
    let committed = std::fs::read_to_string(root().join("static/catalog/models.json")).unwrap();
    let printed = print(&build(&catalog().models.source, &files).unwrap()).unwrap();
    assert!(printed == committed, "static/catalog/models.json is stale: run `cargo run --bin catalog`");
}

/// Bytes that a token takes in the KV cache in 16 bits: keys and values of every layer, or the latent of each.
#[test]
fn kv_bytes_of_a_token_are_exact() {
    for (id, bytes) in [
        ("llama-2-7b-hf", 32 * 2 * 32 * 128 * 2),
        ("llama-2-70b-hf", 80 * 2 * 8 * 128 * 2),
        ("codellama-34b-hf", 48 * 2 * 8 * 128 * 2),
        ("mistral-nemo-instruct-2407", 40 * 2 * 8 * 128 * 2),
        ("phi-3-mini-128k-instruct", 32 * 2 * 32 * 96 * 2),
        ("falcon3-7b-base", 28 * 2 * 4 * 256 * 2),
        ("smollm2-135m", 30 * 2 * 3 * 64 * 2),
        ("deepseek-v2-lite", 27 * (512 + 64) * 2),
        ("gemma-3-12b-it", 48 * 2 * 8 * 256 * 2),
        ("kimi-linear-48b-a3b-instruct", 7 * (512 + 64) * 2),
        ("granite-4.0-h-small", 4 * 2 * 8 * 128 * 2),
    ] {
        let model = catalog().model(id).unwrap_or_else(|| panic!("{id} is missing"));
        let of = |blocks: &Blocks| match &blocks.attention {
            Some(Attention::Gqa(gqa)) => blocks.count * 2 * gqa.kv_heads * gqa.head_dim * 2,
            Some(Attention::Mla(mla)) => blocks.count * (mla.latent + mla.rope) * 2,
            _ => 0,
        };
        assert_eq!(model.blocks.iter().map(of).sum::<u32>(), bytes, "{id}");
    }
}

#[test]
fn quantisation_is_read_from_either_file() {
    let weights = |id: &str| catalog().model(id).map(|model| model.weights);
    assert_eq!(weights("qwen3-32b-fp8"), Some(Dtype::Fp8Block));
    assert_eq!(weights("qwen3-32b-fp8-static-pertensor"), Some(Dtype::Fp8));
    assert_eq!(weights("llama-3.1-70b-instruct-fp8"), Some(Dtype::Fp8));
    let vision: Option<&Model> = catalog().model("qwen3-vl-8b-instruct");
    assert!(vision.is_some_and(|model| model.notes[0].contains("vision encoder")));
}
