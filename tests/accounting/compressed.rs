//! Caches and weights of attention over compressed keys and over chosen blocks of keys.

use rooflight::config::catalog::catalog;
use rooflight::config::check;
use rooflight::config::model::Class;
use rooflight::efficiency::Efficiencies;
use rooflight::graph::Phase;
use rooflight::serving::{finish, plan};

use super::{BF16, FP8_BLOCK, MXFP4, bytes, model, served};

/// The indexer's FP8 key and its scale.
const INDEX_KEY: f64 = 128.0 + 4.0;
const F32: f64 = 4.0;

/// DeepSeek-V4-Pro: 30 layers keep an entry for 4 tokens and an index key with it, 31 one for 128 tokens; all 61
/// those of the newest 128 tokens. Tokens whose group is not complete wait as parts of an entry and its gates:
/// 8 tokens of 2 x 2 x (512 + 128) where entries overlap, 128 tokens of 2 x 512 where they do not.
fn pro(tokens: f64, entry: f64) -> f64 {
    let waiting = 30.0 * 8.0 * 2560.0 * F32 + 31.0 * 128.0 * 1024.0 * F32;
    30.0 * tokens / 4.0 * (entry + INDEX_KEY) + (31.0 * tokens / 128.0 + 61.0 * 128.0) * entry + waiting
}

#[test]
fn compressed_keys_of_a_million_tokens() {
    let tokens = 1_048_576_u32;
    served("deepseek-v4-pro").tp(8).ep(8).keeps(tokens, pro(f64::from(tokens), 512.0 * BF16));
    // 448 elements in FP8, 64 with the rotary embedding in 16 bits, 8 bytes of scales.
    let entry = 448.0 + 64.0 * BF16 + 8.0;
    assert_eq!(entry, 584.0);
    served("deepseek-v4-pro").tp(8).ep(8).fp8_cache().keeps(tokens, pro(f64::from(tokens), entry));
    // vLLM's figure for this length is 9.62 GiB, index keys in 16 bits and waiting tokens apart.
    let entries = (30.0 * 262_144.0 + 31.0 * 8192.0 + 61.0 * 128.0) * 512.0 * BF16;
    let published = (entries + 30.0 * 262_144.0 * 128.0 * BF16) / f64::from(1u32 << 30);
    assert!((published - 9.62).abs() < 0.005, "{published}");
}

#[test]
fn layers_of_a_window_alone_keep_no_more() {
    // DeepSeek-V4-Flash: 2 layers of a window, 21 that choose, 20 that do not.
    let keeps = |tokens: f64| {
        let waiting = 21.0 * 8.0 * 2560.0 * F32 + 20.0 * tokens.min(128.0) * 1024.0 * F32;
        let entry = 512.0 * BF16;
        21.0 * tokens / 4.0 * (entry + INDEX_KEY)
            + (20.0 * tokens / 128.0 + 43.0 * tokens.min(128.0)) * entry
            + waiting
    };
    served("deepseek-v4-flash").tp(4).ep(4).keeps(100, keeps(100.0));
    served("deepseek-v4-flash").tp(4).ep(4).keeps(8192, keeps(8192.0));
}

#[test]
fn chosen_blocks_keep_all_keys_and_an_index_key() {
    // MiniMax-M3: 4 KV heads of 128 over 4 GPUs in 60 layers, a 16-bit index key of 128 in 57 of them on each.
    let per_token = 2.0 * 128.0 * BF16 * 60.0 + 128.0 * BF16 * 57.0;
    served("minimax-m3").tp(4).ep(4).keeps(5000, 5000.0 * per_token);
}

#[test]
fn compressed_attention_by_class() {
    // Queries and entry in, queries up, groups of 8 heads to 1024, all 8 groups together; in 21 layers the
    // indexer's 64 queries of 128.
    let one = 4096.0 * (1024.0 + 512.0) + 1024.0 * 32_768.0 + 32_768.0 * 1024.0 + 8192.0 * 4096.0;
    let attention = 43.0 * one + 21.0 * 1024.0 * 8192.0;
    bytes("deepseek-v4-flash", Class::Attention, attention, FP8_BLOCK);
    bytes("deepseek-v4-flash", Class::Experts, 43.0 * 256.0 * 3.0 * 4096.0 * 2048.0, MXFP4);
    bytes("deepseek-v4-flash", Class::Shared, 43.0 * 3.0 * 4096.0 * 2048.0, FP8_BLOCK);
    // In 16 bits: 4 residual streams weighed by 24 numbers before each part, routers, norms, sinks; where keys are
    // compressed entries, gates and biases, and the indexer's.
    let streams = 2.0 * 24.0 * (4.0 * 4096.0 + 1.0);
    let every = streams + 4096.0 * 256.0 + 2.0 * 4096.0 + 1024.0 + 512.0 + 64.0;
    let chosen = (4096.0 + 2.0) * 2560.0 + 512.0 + 4096.0 * 64.0 + 128.0;
    let all = (4096.0 + 64.0) * 1024.0 + 512.0;
    bytes("deepseek-v4-flash", Class::Kept, 43.0 * every + 21.0 * chosen + 20.0 * all, BF16);
}

#[test]
fn a_pass_multiplies_every_active_weight_once() {
    let tokens = 1025;
    let (setup, issues) = check(&served("deepseek-v4-flash").scenario(tokens), catalog());
    let (plan, _) = plan(&setup.unwrap_or_else(|| panic!("{issues:?}"))).expect("complete");
    let report = finish(&plan, &Efficiencies::Roofline).expect("an answer");
    let prompt = report.pass(Phase::Prefill).expect("a prompt");
    // The parts that process each token alone: without attention, scores, and the head, which only takes the last
    // token.
    let each = prompt.kernels.iter().filter(|line| {
        !line.name.starts_with("attention_")
            && !line.name.starts_with("index_scores")
            && line.name != "lm_head"
    });
    let counted: f64 = each.map(|line| line.flops.0 * line.count as f64).sum();
    let model = model("deepseek-v4-flash");
    let tables = 2.0 * f64::from(model.vocab) * f64::from(model.hidden);
    let by_hand = 2.0 * (model.active_parameters() - tables) * f64::from(tokens - 1);
    assert!((counted / by_hand - 1.0).abs() < 0.001, "counted {counted:e}, by hand {by_hand:e}");
}
