//! Module name patterns, as quantisation records list them.
//!
//! Lists mix three dialects: plain names, which include all submodules; shell patterns with `*` and `?` (ModelOpt);
//! and regular expressions after `re:` (compressed-tensors).

use std::collections::BTreeMap;

use regex_lite::{Regex, RegexBuilder, escape};

use crate::config::{Dtype, excerpt};

/// Prefixes before `layers.` in the language model's module names.
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

/// Limits on regular expressions, in characters and memory: real ones are a line.
const CHARACTERS: usize = 400;
const SIZE: usize = 20_000;

/// Formats by pattern.
#[derive(Debug, Clone, Default)]
pub struct Globs {
    /// Formats of names without wildcards.
    plain: BTreeMap<String, Dtype>,
    /// Indexed by the digits after `layers.` that a pattern requires, if any: most lists name every layer, and this
    /// skips the other layers' patterns.
    others: BTreeMap<String, Vec<(Pattern, Dtype)>>,
}

#[derive(Debug, Clone)]
enum Pattern {
    /// Matched as a whole.
    Shell(Regex),
    /// Matched from the start, like Python's `re.match`.
    Regex(Regex),
}

impl Globs {
    pub fn add(&mut self, text: &str, dtype: Dtype) -> Result<(), String> {
        if let Some(expression) = text.strip_prefix("re:") {
            let anchored = regex(&format!("^(?:{expression})"));
            let regex = anchored.filter(|_| expression.len() <= CHARACTERS).ok_or_else(|| {
                format!("modules by a regular expression that is not supported ({})", excerpt(text))
            })?;
            self.others.entry(String::new()).or_default().push((Pattern::Regex(regex), dtype));
            return Ok(());
        }
        let text = of_language(text);
        if text.contains(['*', '?']) {
            let digits = text.strip_prefix("layers.").unwrap_or_default();
            let digits = digits.chars().take_while(char::is_ascii_digit).collect();
            let wild = escape(text).replace(r"\*", ".*").replace(r"\?", ".");
            let shell = regex(&format!("^{wild}$"))
                .ok_or_else(|| format!("modules by a pattern that is too long ({})", excerpt(text)))?;
            self.others.entry(digits).or_default().push((Pattern::Shell(shell), dtype));
        } else {
            self.plain.insert(text.into(), dtype);
        }
        Ok(())
    }

    /// The format of the first pattern that matches the module or a parent of it. Names begin with `layers.`.
    pub fn find(&self, name: &str) -> Option<Dtype> {
        let starts = std::iter::once(0).chain(name.match_indices('.').map(|(dot, _)| dot + 1));
        let ends = || name.match_indices('.').map(|(dot, _)| dot).chain([name.len()]);
        let parts = starts.flat_map(|start| ends().filter_map(move |end| name.get(start..end)));
        let plain = parts.clone().find_map(|part| self.plain.get(part));
        let own = name.strip_prefix("layers.").unwrap_or_default();
        let digits = own.find(|c: char| !c.is_ascii_digit()).unwrap_or(own.len());
        let mut able = (0..=digits).filter_map(|end| self.others.get(own.get(..end)?)).flatten();
        let matches = |pattern: &Pattern| match pattern {
            Pattern::Shell(shell) => parts.clone().any(|part| shell.is_match(part)),
            Pattern::Regex(regex) => PREFIXES
                .iter()
                .filter(|prefix| !prefix.contains('*'))
                .any(|prefix| regex.is_match(&format!("{prefix}{name}"))),
        };
        plain.copied().or_else(|| able.find(|(pattern, _)| matches(pattern)).map(|(_, dtype)| *dtype))
    }

    /// Whether the list contains exactly this name.
    pub fn names(&self, name: &str) -> bool {
        self.plain.contains_key(name)
    }
}

/// `None` if it takes too much memory, or is not supported.
fn regex(expression: &str) -> Option<Regex> {
    RegexBuilder::new(expression).size_limit(SIZE).build().ok()
}

/// The pattern from `layers.` on, if the prefix is the language model's: prefixes differ between checkpoints.
fn of_language(text: &str) -> &str {
    match text.find("layers.") {
        Some(start) if text.get(..start).is_some_and(|prefix| PREFIXES.contains(&prefix)) => {
            text.get(start..).unwrap_or(text)
        }
        _ => text,
    }
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
    fn a_module_name_covers_its_submodules() {
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

    #[test]
    fn expressions_match_from_the_start_and_up_to_a_dollar() {
        assert!(finds("re:.*self_attn.*", "layers.0.self_attn.q_proj"));
        let mlp = r"re:.*mlp\.(gate|up|gate_up|down)_proj.*";
        assert!(finds(mlp, "layers.0.mlp.gate_up_proj"));
        assert!(!finds(mlp, "layers.0.mlp.experts.0.up_proj"));
        assert!(finds(r"re:model\.layers\.\d+\.mlp", "layers.12.mlp.up_proj"));
        assert!(!finds(r"re:model\.layers\.[0-3]\.", "layers.4.mlp"));
        assert!(!finds("re:mlp", "layers.0.mlp.up_proj"));
        assert!(finds("re:.*mlp.gate$", "layers.0.mlp.gate"));
        assert!(!finds("re:.*mlp.gate$", "layers.0.mlp.gate_proj"));
    }

    #[test]
    fn unsupported_expressions_are_refused() {
        let long = format!("re:{}", "a".repeat(CHARACTERS + 1));
        for odd in ["re:(?!a)b", "re:[", "re:(", "re:*", "re:((a{100}){100}){100}", &long] {
            assert!(Globs::default().add(odd, Dtype::Bf16).is_err(), "{odd}");
        }
        let slow = format!("re:{}z", ".*".repeat(150));
        assert!(!finds(&slow, &format!("layers.0.{}", "x".repeat(500))));
    }
}
