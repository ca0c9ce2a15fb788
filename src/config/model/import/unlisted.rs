//! Decoders with an unlisted `model_type`: read if every key of their config is understood.

use serde_json::Value;

use super::keys;
use crate::config::excerpt;

/// Keys required to recognise such a decoder.
const NEEDED: [&str; 5] =
    ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size"];

/// Further keys that are read.
const READ: [&str; 5] =
    ["num_key_value_heads", "head_dim", "max_position_embeddings", "tie_word_embeddings", "attention_bias"];

/// Fails if a config cannot be read as a plain decoder: required keys are missing, or others are not understood.
pub fn check(text: &Value) -> Result<(), String> {
    let listed = |keys: Vec<String>| keys.join(", ");
    let missing: Vec<String> =
        NEEDED.iter().filter(|key| text[**key].is_null()).map(|key| format!("`{key}`")).collect();
    if !missing.is_empty() {
        return Err(format!("without {}, it cannot be read as a plain decoder", listed(missing)));
    }
    let known = |key: &str, value: &Value| {
        keys::off(value) || NEEDED.contains(&key) || READ.contains(&key) || keys::idle(key)
    };
    let object = text.as_object().into_iter().flatten();
    let unknown: Vec<String> = object
        .filter(|(key, value)| !known(key, value))
        .map(|(key, _)| format!("`{}`", excerpt(key)))
        .collect();
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(format!("it cannot be read as a plain decoder because of {}", listed(unknown)))
    }
}

/// The note for a model read this way.
pub fn note(model_type: &str) -> String {
    format!(
        "model_type {model_type} is unknown, but every key is: it is treated as a Llama-style decoder. Check the parameter count."
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::config::model::import::import;

    fn read(change: &Value) -> (Option<f64>, String) {
        let mut config = json!({
            "model_type": "newcomer", "architectures": ["NewcomerForCausalLM"], "hidden_size": 4096,
            "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
            "vocab_size": 128256, "max_position_embeddings": 8192, "hidden_act": "silu", "sliding_window": null,
        });
        for (key, value) in change.as_object().into_iter().flatten() {
            config[key] = value.clone();
        }
        let (model, issues) = import(&config.to_string(), None);
        let texts: Vec<String> = issues.into_iter().map(|issue| issue.text).collect();
        (model.map(|model| model.parameters() / 1e9), texts.join("; "))
    }

    #[test]
    fn unlisted_plain_decoders_are_imported_with_a_note() {
        let (billions, said) = read(&json!({}));
        assert!((billions.unwrap_or_default() - 8.03).abs() < 0.01);
        assert!(
            said.starts_with(
                "model_type newcomer is unknown, but every key is: it is treated as a Llama-style decoder"
            ),
            "{said}"
        );
    }

    #[test]
    fn a_key_that_may_change_shapes_is_refused_after_the_model_type() {
        for (change, what) in [
            (json!({"sliding_window": 4096}), "because of `sliding_window`"),
            (json!({"ffn_multiplier": 0.1}), "because of `ffn_multiplier`"),
            (json!({"num_experts": 8}), "mixture of experts (`num_experts` 8)"),
            (json!({"hidden_act": "gelu"}), "gelu activation"),
            (json!({"intermediate_size": null}), "without `intermediate_size`"),
        ] {
            let (model, said) = read(&change);
            assert_eq!(model, None, "{change}");
            assert!(
                said.starts_with("`model_type` newcomer is not supported") && said.contains(what),
                "{said}"
            );
        }
    }
}
