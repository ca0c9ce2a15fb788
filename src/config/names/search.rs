//! Finds catalog models by words of their names, as people say them: `llama 70b`.

use std::cmp::Reverse;

use super::{NAMED_MODELS, NamedModel};
use crate::config::catalog::{POPULAR, catalog};
use crate::config::{Dtype, Field, Model};
use crate::units::Order;

/// How well a name matches `words`, in lower case: lower is better. `None` if a word is in neither the name nor the
/// `facts`.
pub fn rank(name: &str, facts: &str, words: &[&str]) -> Option<u8> {
    let name = name.to_ascii_lowercase();
    let all = format!("{name}\n{facts}").to_ascii_lowercase();
    if !words.iter().all(|word| all.contains(word)) {
        return None;
    }
    Some(match words.first() {
        Some(first) if name.starts_with(first) => 0,
        Some(_) if words.iter().all(|word| name.contains(word)) => 1,
        _ => 2,
    })
}

/// The place of a model among those often measured; the others follow.
pub fn popularity(id: &str) -> usize {
    let [models, _] = POPULAR;
    models.iter().position(|popular| *popular == id).unwrap_or(models.len())
}

/// The models whose names have all `words`, in lower case, the best match first. If the words give a size, the newest
/// version comes first, in 16 bits before quantized: `llama 70b` is Llama 3.3, not the one that was measured most.
pub fn search(words: &[&str]) -> Vec<&'static Model> {
    let ranked = |known: &'static NamedModel| {
        let name = short_name(&known.model.name);
        let holds = words.iter().all(|word| holds(&name.to_ascii_lowercase(), word));
        Some((rank(name, "", words).filter(|_| holds)?, known))
    };
    let mut found: Vec<(u8, &NamedModel)> = NAMED_MODELS.iter().filter_map(ranked).collect();
    let squeezed = squeeze(&words.concat());
    let is_sized = words.iter().any(|word| is_size(word));
    let age = |known: &NamedModel| {
        let is_quantized = known.model.weights != Dtype::Bf16;
        is_sized.then(|| (is_quantized, Reverse(version(&known.base))))
    };
    found.order_by_key(|(rank, known)| {
        (squeeze(&known.base) != squeezed, *rank, age(known), popularity(&known.model.id))
    });
    found.into_iter().map(|(_, known)| known.model).collect()
}

/// `70b`, `8x7b`, `1.5b`.
pub fn is_size(word: &str) -> bool {
    let number = word.strip_suffix('b').unwrap_or_default();
    number.starts_with(|letter: char| letter.is_ascii_digit())
        && number.chars().all(|letter| letter.is_ascii_digit() || letter == '.' || letter == 'x')
}

/// The first number of a name, by its parts: 3 and 1 of `llama-3.1-70b`. None of `mixtral-8x7b`, which begins with its
/// size.
fn version(name: &str) -> Vec<u32> {
    let begins = name.find(|letter: char| letter.is_ascii_digit()).unwrap_or(name.len());
    let word = name[begins..].split(|letter: char| !letter.is_alphanumeric() && letter != '.').next();
    let parts = word.unwrap_or_default().split('.').map(str::parse);
    parts.collect::<Result<_, _>>().unwrap_or_default()
}

/// Whether a name has a word whose numbers are whole: `3` is in `qwen3-8b` and `llama-3.1`, and in neither `32b` nor
/// `1.3b`.
fn holds(name: &str, word: &str) -> bool {
    let digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
    name.match_indices(word).any(|(at, _)| {
        let (before, after) = (name[..at].chars().next_back(), name[at + word.len()..].chars().next());
        !(digit(word.chars().next()) && (digit(before) || before == Some('.')))
            && !(digit(word.chars().next_back()) && digit(after))
    })
}

/// A model's name without its publisher: `Llama-3.1-70B`, also of `meta-llama/Meta-Llama-3.1-70B`.
pub fn short_name(name: &str) -> &str {
    let name = name.split_once('/').map_or(name, |(_, name)| name);
    ["Meta-", "NVIDIA-"].iter().find_map(|maker| name.strip_prefix(maker)).unwrap_or(name)
}

/// The page's name for the id of a model, GPU, engine or format.
pub fn named(field: Field, id: &str) -> &str {
    let name = match field {
        Field::Weights | Field::Kv => return Dtype::from_id(id).map_or(id, |format| format.name()),
        Field::Model => catalog().model(id).map(|model| &model.name),
        Field::Gpu => catalog().gpu(id).map(|gpu| &gpu.name),
        Field::Engine => catalog().engine(id).map(|engine| &engine.name),
        _ => None,
    };
    name.map_or(id, |name| name)
}

/// Whether a catalog model's name begins with this word, in lower case.
pub fn begins_name(word: &str) -> bool {
    NAMED_MODELS.iter().any(|known| {
        let base = &known.base;
        let ends = |rest: &str| !rest.starts_with(|letter: char| letter.is_ascii_alphabetic());
        base.strip_prefix(word).is_some_and(|rest| word.len() > 3 || ends(rest))
    })
}

fn squeeze(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).collect()
}
