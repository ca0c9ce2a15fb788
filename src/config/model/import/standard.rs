//! Maps a config's keys to standard names, and fills in class defaults.

use serde_json::Value;

use super::family::ModelFamily;
use super::fields::{at, shown};

const TIED: &str = "tie_word_embeddings";

/// Overrides for the config's keys.
pub struct Standard<'a> {
    /// The overrides, by standard name.
    pub over: Vec<(&'a str, &'a Value)>,
    /// The family's key names, and the standard ones.
    renamed: Vec<(&'static str, &'static str)>,
    /// Sizes left to the class defaults, as shown in a note.
    pub defaults: Vec<String>,
}

/// Fails on two names for one key with different values.
pub fn standard<'a>(
    top: &Value,
    text: &'a Value,
    family: &'static ModelFamily,
) -> Result<Standard<'a>, String> {
    let mut over: Vec<(&str, &Value)> = Vec::new();
    let mut renamed = Vec::new();
    for (theirs, ours) in family.renamed() {
        let Some(value) = at(text, theirs).map(uniform) else { continue };
        let before = over.iter().find(|(key, _)| *key == ours).map(|(_, value)| *value);
        match before.or_else(|| at(text, ours)).filter(|_| theirs != ours) {
            Some(other) if !alike(value, other) => {
                let (value, other) = (shown(value), shown(other));
                return Err(format!("`{theirs}` is {value}, but `{ours}` is {other}: give one of them"));
            }
            Some(_) => {}
            None => {
                over.push((ours, value));
                renamed.push((theirs, ours));
            }
        }
    }
    let mut defaults = Vec::new();
    for (key, value) in &family.defaults {
        let given = text.get(key).is_some() || over.iter().any(|(ours, _)| ours == key);
        if given || key == TIED && !top[TIED].is_null() {
            continue;
        }
        if key != TIED {
            defaults.push(format!("`{key}` {}", shown(value)));
        }
        over.push((key, value));
    }
    Ok(Standard { over, renamed, defaults })
}

impl Standard<'_> {
    /// A message with the config's own key names.
    pub fn rename(&self, text: &str) -> String {
        let theirs = |word| {
            let found = self.renamed.iter().find(|&&(_, ours)| ours == word);
            found.map_or(word, |&(theirs, _)| theirs)
        };
        text.split('`').map(theirs).collect::<Vec<&str>>().join("`")
    }
}

fn alike(one: &Value, other: &Value) -> bool {
    one.as_f64() == other.as_f64() && one.as_str() == other.as_str() && one.as_bool() == other.as_bool()
}

/// Hunyuan repeats the same value for each layer in a list.
fn uniform(value: &Value) -> &Value {
    match value.as_array().map(Vec::as_slice) {
        Some([first, others @ ..]) if others.iter().all(|other| alike(other, first)) => first,
        _ => value,
    }
}
