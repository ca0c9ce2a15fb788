//! Names of modules by pattern, as quantisation records list them.
//!
//! Three dialects share the lists: plain names, which stand for all below them; shell patterns with `*` and
//! `?` (ModelOpt); and regular expressions after `re:` (compressed-tensors).

use std::collections::BTreeMap;

use super::regex::Regex;
use crate::config::Dtype;
use crate::config::issue::excerpt;

/// What stands before `layers.` in the names of the language model's modules.
const PREFIXES: [&str; 8] = [
    "",
    "*",
    "*.",
    "model.",
    "backbone.",
    "model.language_model.",
    "language_model.model.",
    "language_model.",
];

/// Formats by pattern.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Globs {
    /// Without wildcards.
    plain: BTreeMap<String, Dtype>,
    /// By the digits after `layers.` that a name has to begin with, where the pattern has some: most lists
    /// name every layer, and this skips the others' at once.
    others: BTreeMap<String, Vec<Pattern>>,
}

#[derive(Debug, Clone, PartialEq)]
struct Pattern {
    matcher: Matcher,
    dtype: Dtype,
}

#[derive(Debug, Clone, PartialEq)]
enum Matcher {
    Shell(String),
    Regex(Regex),
}

impl Globs {
    /// # Errors
    /// What is wrong with a pattern that is not understood.
    pub fn add(&mut self, text: &str, dtype: Dtype) -> Result<(), String> {
        if let Some(expression) = text.strip_prefix("re:") {
            let regex = Regex::parse(expression)
                .ok_or_else(|| format!("modules by a pattern that is not understood ({})", excerpt(text)))?;
            let pattern = Pattern { matcher: Matcher::Regex(regex), dtype };
            self.others.entry(String::new()).or_default().push(pattern);
            return Ok(());
        }
        let text = of_language(text);
        if text.contains(['*', '?']) {
            let digits = text.strip_prefix("layers.").unwrap_or_default();
            let digits = digits.chars().take_while(char::is_ascii_digit).collect();
            let pattern = Pattern { matcher: Matcher::Shell(text.into()), dtype };
            self.others.entry(digits).or_default().push(pattern);
        } else {
            self.plain.insert(text.into(), dtype);
        }
        Ok(())
    }

    /// The format of the first pattern that names the module, or something it is part of. Names begin with
    /// `layers.`.
    pub fn find(&self, name: &str) -> Option<Dtype> {
        let starts = std::iter::once(0).chain(name.match_indices('.').map(|(dot, _)| dot + 1));
        let ends = || name.match_indices('.').map(|(dot, _)| dot).chain([name.len()]);
        let parts = starts.flat_map(|start| ends().filter_map(move |end| name.get(start..end)));
        let plain = parts.clone().find_map(|part| self.plain.get(part));
        let own = name.strip_prefix("layers.").unwrap_or_default();
        let digits = own.find(|c: char| !c.is_ascii_digit()).unwrap_or(own.len());
        let mut able = (0..=digits).filter_map(|end| self.others.get(own.get(..end)?)).flatten();
        let matches = |pattern: &&Pattern| match &pattern.matcher {
            Matcher::Shell(shell) => parts.clone().any(|part| shell_matches(shell, part)),
            Matcher::Regex(regex) => PREFIXES
                .iter()
                .filter(|prefix| !prefix.contains('*'))
                .any(|prefix| regex.matches_start(&format!("{prefix}{name}"))),
        };
        plain.copied().or_else(|| able.find(matches).map(|pattern| pattern.dtype))
    }

    /// Whether a name stands in the list as it is.
    pub fn names(&self, name: &str) -> Option<Dtype> {
        self.plain.get(name).copied()
    }
}

/// The pattern from `layers.` on, where what stands before is the language model: checkpoints differ there.
fn of_language(text: &str) -> &str {
    match text.find("layers.") {
        Some(start) if text.get(..start).is_some_and(|prefix| PREFIXES.contains(&prefix)) => {
            text.get(start..).unwrap_or(text)
        }
        _ => text,
    }
}

/// `*` stands for any characters, dots included, and `?` for one, as in Python's `fnmatch`.
fn shell_matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // Where to go on after the last star, should what follows it not match.
    let mut back: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                back = Some((p + 1, t));
                p += 1;
            }
            Some(byte) if *byte == b'?' || Some(byte) == text.get(t) => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((after, start)) = back else { return false };
                back = Some((after, start + 1));
                (p, t) = (after, start + 1);
            }
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(pattern: &str, name: &str) -> bool {
        let mut globs = Globs::default();
        globs.add(pattern, Dtype::Bf16).unwrap();
        globs.find(name).is_some()
    }

    #[test]
    fn names_stand_for_what_is_below_them() {
        assert!(finds("model.layers.3.self_attn.q_a_proj", "layers.3.self_attn.q_a_proj"));
        assert!(finds("model.layers.*.self_attn", "layers.11.self_attn.q_proj"));
        assert!(finds("self_attn", "layers.11.self_attn.q_proj"));
        assert!(!finds("gate", "layers.1.mlp.gate_proj"));
        assert!(!finds("model.layers.3.self_attn.q_a_proj", "layers.33.self_attn.q_a_proj"));
    }

    #[test]
    fn stars_stand_for_anything() {
        assert!(finds(
            "model.language_model.layers.4.mlp.shared_expert*",
            "layers.4.mlp.shared_expert.up_proj"
        ));
        assert!(finds("*.mlp.shared_expert.*", "layers.4.mlp.shared_expert.up_proj"));
        assert!(finds("model.layers.1.*", "layers.1.mlp.up_proj"));
        assert!(!finds("model.layers.1.*", "layers.11.mlp.up_proj"));
        assert!(finds("model.layers.1*", "layers.11.mlp.up_proj"));
        assert!(!finds("mtp.layers.0*", "layers.0.mlp.up_proj"));
        assert!(!finds("model.visual*", "layers.0.mlp.up_proj"));
    }
}
