//! The import of `config.json` against wrong, odd and damaged files.

mod architectures;
mod damage;
mod formats;
mod wrong;

use rooflight::config::model::import::import;
use rooflight::config::{Issue, Model};
use serde_json::Value;

/// Qwen3-8B, as published.
const QWEN3: &str = r#"{
  "architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "head_dim": 128, "hidden_act": "silu",
  "hidden_size": 4096, "intermediate_size": 12288, "max_position_embeddings": 40960,
  "max_window_layers": 36, "model_type": "qwen3", "num_attention_heads": 32, "num_hidden_layers": 36,
  "num_key_value_heads": 8, "rope_scaling": null, "rope_theta": 1000000, "sliding_window": null,
  "tie_word_embeddings": false, "torch_dtype": "bfloat16", "use_sliding_window": false, "vocab_size": 151936
}"#;

/// The published file with some keys set; `null` leaves one out.
fn changed(change: Value) -> String {
    let mut config: Value = serde_json::from_str(QWEN3).unwrap();
    for (key, value) in change.as_object().unwrap() {
        config[key] = value.clone();
    }
    config.to_string()
}

#[track_caller]
fn accepted(change: Value) -> Model {
    let (model, issues) = import(&changed(change), None);
    model.unwrap_or_else(|| panic!("{issues:?}"))
}

/// The objections to a file that gives no model.
#[track_caller]
fn refused(text: &str) -> Vec<String> {
    let (model, issues) = import(text, None);
    assert!(model.is_none());
    assert!(issues.iter().any(Issue::is_error), "{issues:?}");
    issues.into_iter().map(|issue| issue.text).collect()
}
