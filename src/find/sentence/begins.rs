//! Words that may begin a model's name.

use crate::config::Model;
use crate::config::names::{begins_name, is_size, resolve, search, short_name};

/// Whether a name of a model may begin with `word`.
pub fn begins(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let letters = word.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(word.len());
    let has_digit = word.contains(|letter: char| letter.is_ascii_digit());
    let is_family = letters > 1
        && begins_name(&word[..letters])
        && (has_digit || letters == word.len() || letters > 3 || word[letters..].starts_with('-'));
    is_family
        || is_size(&word)
        || is_part(&word)
        || looks_named(&word)
        || (letters > 1 && resolve(&word).is_ok())
}

/// `r1` of `DeepSeek-R1`: a word of some name, with a number. `V1` is a version of anything.
fn is_part(word: &str) -> bool {
    if word.strip_prefix('v').is_some_and(|version| version.parse::<f64>().is_ok()) {
        return false;
    }
    let is_mixed = word.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && word.contains(|letter: char| letter.is_ascii_digit());
    let has = |model: &Model| {
        short_name(&model.name).to_ascii_lowercase().split(['-', '_']).any(|part| part == word)
    };
    is_mixed && search(&[word]).into_iter().any(has)
}

/// `claude-3`, `some/Model-7B`: written like a published name, whether or not the catalog has it.
fn looks_named(word: &str) -> bool {
    let head = word.split(['-', '/']).next().unwrap_or_default();
    let is_word = head.len() > 3 && head.chars().all(|letter| letter.is_ascii_alphabetic());
    is_word && head.len() < word.len() && word.contains(|letter: char| letter.is_ascii_digit())
}
