//! A published name, taken apart: its publisher, the words of its base, its tuning and its format.

use super::rules::{Format, rules};
use crate::config::Dtype;

/// Longest name that is read, in bytes; the hub's own limit is 96 for each part.
const LONGEST: usize = 200;

#[derive(Debug, Clone, Default)]
pub struct Name {
    /// In lower case; none where the name stands alone.
    pub publisher: Option<String>,
    /// All words but those of formats, in lower case.
    words: Vec<String>,
    pub formats: Vec<&'static Format>,
}

impl Name {
    /// Of `organisation/name`, an address, a path, or a name alone.
    pub fn read(text: &str) -> Self {
        let text = text.trim().trim_end_matches('/').to_lowercase();
        if text.len() > LONGEST {
            return Self::default();
        }
        let text = text.split_once("://").map_or(&*text, |(_, rest)| rest);
        let mut parts = text.rsplit('/');
        let name = parts.next().unwrap_or_default();
        let publisher = parts.next().filter(|part| !part.is_empty()).map(str::to_owned);
        let name = name.split('@').next().unwrap_or_default();
        let (words, formats) = without_formats(words(name));
        Self { publisher, words, formats }
    }

    /// All but its formats.
    pub fn full(&self) -> String {
        self.words.join("-")
    }

    /// Without what changes no shapes, but with its release.
    pub fn release(&self) -> String {
        without(&self.words, &rules().tunings).join("-")
    }

    /// What names its shapes.
    pub fn base(&self) -> String {
        without(&without(&self.words, &rules().tunings), &rules().releases).join("-")
    }

    /// How many words of a list both names have, and how many it alone has.
    pub fn shared(&self, other: &Self, of: &[String]) -> (usize, usize) {
        let own = of.iter().filter(|word| self.words.contains(word));
        let (both, alone): (Vec<_>, Vec<_>) = own.partition(|word| other.words.contains(word));
        (both.len(), alone.len())
    }

    /// The format of its weights, none where the name gives none. A plain FP8 is as its `publisher` scales it.
    ///
    /// # Errors
    /// What it is, where this release has no such format, or several.
    pub fn weights(&self, publisher: &str) -> Result<Option<Dtype>, String> {
        let given: Vec<&Format> = self.stated().collect();
        if let Some(reason) = given.iter().find_map(|format| format.without.as_ref()) {
            return Err(reason.clone());
        }
        let block = rules().block_scaled.iter().any(|known| known == publisher);
        let of = |format: &&Format| match format.weights {
            Some(Dtype::Fp8) if format.plain && block => Some(Dtype::Fp8Block),
            other => other,
        };
        let first = given.first().and_then(of);
        match given.iter().find(|format| of(format) != first) {
            Some(other) => Err(format!("several formats ({} and {})", given[0].words, other.words)),
            None => Ok(first),
        }
    }

    /// The words that give its format.
    pub fn stated(&self) -> impl Iterator<Item = &'static Format> {
        let strong = self.formats.iter().any(|format| !format.weak);
        self.formats.iter().copied().filter(move |format| !(strong && format.weak))
    }
}

/// `Llama-3_3-70B` is `llama`, `3.3`, `70b`, as is `llama3.3 70b`.
fn words(name: &str) -> Vec<String> {
    // Files of GGUF put their format behind a dot.
    let ends = (2..=8).map(|bits| format!(".q{bits}")).chain([".gguf".to_owned()]);
    let name = ends.fold(name.to_owned(), |name, end| name.replace(&end, &end.replace('.', "-")));
    let parts = name.split(|letter: char| !(letter.is_alphanumeric() || "._".contains(letter)));
    let mut words: Vec<String> = Vec::new();
    for part in parts.filter(|part| !part.is_empty()) {
        let version = part.strip_prefix('v').unwrap_or(part).starts_with(|c: char| c.is_ascii_digit());
        if version {
            words.push(part.replace('_', "."));
            continue;
        }
        for word in part.split('_').filter(|word| !word.is_empty()) {
            let digits = |rest: &&str| rest.starts_with(|c: char| c.is_ascii_digit());
            let family = rules()
                .families
                .iter()
                .find_map(|family| Some((family, word.strip_prefix(family.as_str()).filter(digits)?)));
            match family {
                Some((family, version)) => words.extend([family.clone(), version.to_owned()]),
                None => words.push(word.to_owned()),
            }
        }
    }
    let repeats = words.len() > 1 && rules().publishers.contains(&words[0]);
    words.split_off(usize::from(repeats))
}

fn without_formats(words: Vec<String>) -> (Vec<String>, Vec<&'static Format>) {
    let (mut kept, mut formats) = (Vec::new(), Vec::new());
    let mut rest = &words[..];
    while let Some((first, others)) = rest.split_first() {
        let longest = rules()
            .formats
            .iter()
            .filter_map(|format| Some((begins(rest, &format.words)?, format)))
            .max_by_key(|(length, _)| *length);
        match longest {
            // A name is of something first.
            Some((length, format)) if !kept.is_empty() => {
                formats.push(format);
                rest = rest.get(length..).unwrap_or_default();
            }
            _ => {
                kept.push(first.clone());
                rest = others;
            }
        }
    }
    (kept, formats)
}

/// How many words `phrase` has, if `words` begin with them.
fn begins(words: &[String], phrase: &str) -> Option<usize> {
    let parts = phrase.split('-');
    let length = parts.clone().count();
    let fits = words.len() >= length && words.iter().zip(parts).all(|(word, part)| word == part);
    fits.then_some(length)
}

fn without(words: &[String], phrases: &[String]) -> Vec<String> {
    let (mut kept, mut rest) = (Vec::new(), words);
    while let Some((first, others)) = rest.split_first() {
        let longest = phrases.iter().filter_map(|phrase| begins(rest, phrase)).max();
        match longest {
            Some(length) => rest = rest.get(length..).unwrap_or_default(),
            None => {
                kept.push(first.clone());
                rest = others;
            }
        }
    }
    kept
}
