//! The layers of each family.

use rooflight::config::Model;
use rooflight::config::catalog::catalog;
use rooflight::config::model::{Attention, Blocks, Compressed, Ffn, Indexer};

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
fn each_family_has_its_published_layers() {
    for (id, wanted) in [
        ("llama-3.1-8b", "32 x 32/8x128, mlp 14336"),
        ("llama-3.2-11b-vision-instruct", "32 x 32/8x128, mlp 14336; 8 x 32/8x128 cross, mlp 14336"),
        ("llama-3.2-90b-vision-instruct", "80 x 64/8x128, mlp 28672; 20 x 64/8x128 cross, mlp 28672"),
        ("phi-3-small-128k-instruct", "16 x 32/8x128 strided, mlp 14336; 16 x 32/8x128, mlp 14336"),
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
