//! Model families by the facts of their published configs (`tests/data/families.jsonl`).

use rooflight::config::Issue;
use rooflight::config::model::import::import;
use rooflight::config::model::{Attention, Blocks};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    name: String,
    config: Value,
    /// Parameters of the language part as published, in billions.
    billions: Option<f64>,
    /// Bytes that a token takes in the KV cache in 16 bits, all layers together: 2 x KV heads x head dimension x 2 of each
    /// layer with keys and values, (latent + rotary) x 2 of one with a latent.
    kv_bytes: Option<u32>,
    /// Layers by window, where some have one.
    windows: Option<Vec<(u32, Option<u32>)>>,
    /// Longest context in tokens, where it does not stand in the config as such.
    context: Option<u32>,
    /// What a refusal names, in order.
    refused: Option<Vec<String>>,
}

fn facts() -> Vec<Fact> {
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|fault| panic!("{fault}: {line:.80}"));
    include_str!("data/families.jsonl").lines().map(read).collect()
}

fn kv_bytes(blocks: &Blocks) -> u32 {
    blocks.count
        * match &blocks.attention {
            Some(Attention::Gqa(gqa)) => gqa.kv_heads * gqa.cached_per_head() * 2,
            Some(Attention::Mla(mla)) => mla.cached() * 2,
            _ => 0,
        }
}

/// The names between backticks.
fn named(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|name| *name != "model_type").collect()
}

fn texts(issues: &[Issue]) -> Vec<&str> {
    issues.iter().filter(|issue| issue.is_error()).map(|issue| issue.text.as_str()).collect()
}

#[test]
fn families_have_their_published_sizes() {
    let mut read = 0;
    for Fact { name, config, billions, kv_bytes: bytes, windows, context, .. } in facts() {
        let Some(billions) = billions else { continue };
        let (model, issues) = import(&config.to_string(), None);
        let model = model.unwrap_or_else(|| panic!("{name}: {:?}", texts(&issues)));
        let counted = model.parameters() / 1e9;
        assert!(
            (counted / billions - 1.0).abs() < 0.005,
            "{name}: counted {counted:.4} B, published {billions} B"
        );
        assert_eq!(Some(model.blocks.iter().map(kv_bytes).sum::<u32>()), bytes, "{name}");
        let window = |blocks: &Blocks| match &blocks.attention {
            Some(Attention::Gqa(gqa)) => (blocks.count, gqa.window),
            _ => (blocks.count, None),
        };
        let by_window: Vec<_> = model.blocks.iter().map(window).collect();
        match windows {
            Some(wanted) => assert_eq!(by_window, wanted, "{name}"),
            None => assert!(by_window.iter().all(|(_, window)| window.is_none()), "{name}: {by_window:?}"),
        }
        assert!(context.is_none_or(|context| context == model.max_context), "{name}: {}", model.max_context);
        read += 1;
    }
    assert!(read >= 40);
}

#[test]
fn refusals_name_the_type_and_the_keys() {
    for Fact { name, config, refused, .. } in facts() {
        let Some(wanted) = refused else { continue };
        let (model, issues) = import(&config.to_string(), None);
        assert!(model.is_none(), "{name}");
        let texts = texts(&issues);
        assert_eq!(texts.len(), 1, "{name}: {texts:?}");
        let model_type =
            texts[0].strip_prefix("`model_type` ").and_then(|rest| rest.split([' ', ':']).next());
        let mut found = named(texts[0]);
        model_type.into_iter().for_each(|name| found.insert(0, name));
        assert_eq!(found, wanted, "{name}: {}", texts[0]);
    }
}

/// In any family, a key that nothing knows may stand for a shape.
#[test]
fn unknown_keys_are_errors() {
    for Fact { name, mut config, billions, .. } in facts() {
        if billions.is_none() {
            continue;
        }
        let text = ["text_config", "thinker_config"].into_iter().fold(&mut config, |config, key| {
            if config.get(key).is_some() { &mut config[key] } else { config }
        });
        let text = if text.get("text_config").is_some() { &mut text["text_config"] } else { text };
        for (value, matters) in [
            (json!(7), true),
            (json!(true), true),
            (json!("wide"), true),
            (json!([1, 2]), true),
            (json!(null), false),
            (json!(false), false),
            (json!(0), false),
        ] {
            text["memory_layers"] = value.clone();
            let (model, issues) = import(&text.to_string(), None);
            assert_eq!(model.is_none(), matters, "{name} {value}: {issues:?}");
            let said = texts(&issues);
            assert!(!matters || named(said[0]) == ["memory_layers"], "{name}: {said:?}");
        }
    }
}

#[test]
fn faults_are_named_as_the_config_names_them() {
    let facts = facts();
    let config = |name: &str| facts.iter().find(|fact| fact.name == name).unwrap().config.clone();
    let said = |config: Value| {
        let (model, issues) = import(&config.to_string(), None);
        assert!(model.is_none());
        texts(&issues).join("; ")
    };
    let mut bloom = config("bigscience/bloom-7b1");
    bloom["n_layer"] = json!(0);
    assert_eq!(said(bloom), "`n_layer` is 0: expected a whole number from 1 to 1000");
    let mut dbrx = config("databricks/dbrx-base");
    dbrx["attn_config"]["kv_n_heads"] = json!(7);
    assert!(said(dbrx).contains("must be a multiple of `attn_config.kv_n_heads`"));
    let mut falcon = config("tiiuae/falcon-40b");
    falcon["n_layer"] = json!(61);
    assert_eq!(
        said(falcon),
        "`model_type` falcon: `n_layer` is 61, but `num_hidden_layers` is 60: give one of them"
    );
    let mut hunyuan = config("tencent/Hunyuan-A13B-Instruct");
    hunyuan["moe_topk"][3] = json!(4);
    assert!(said(hunyuan).starts_with("`moe_topk` is a list: expected a whole number"));
    let mut exaone = config("LGAI-EXAONE/EXAONE-4.0-32B");
    exaone["sliding_window_pattern"] = json!("LLX");
    assert_eq!(said(exaone), "`sliding_window_pattern` is \"LLX\": expected letters L and G");
    let mut shared = config("tencent/Hunyuan-7B-Instruct");
    shared["use_cla"] = json!(true);
    assert!(named(&said(shared)).contains(&"use_cla"));
}

#[test]
fn sizes_taken_from_class_defaults_have_a_note() {
    let gemma = facts().into_iter().find(|fact| fact.name == "google/gemma-3-4b-it").unwrap();
    let (_, issues) = import(&gemma.config.to_string(), None);
    let said = issues.iter().find(|issue| issue.text.contains("defaults of the model's class"));
    let said = &said.unwrap_or_else(|| panic!("{issues:?}")).text;
    for left_out in ["`vocab_size` 262208", "`num_attention_heads` 8", "`head_dim` 256"] {
        assert!(said.contains(left_out), "{said}");
    }
}
