//! Parses a published name into publisher, base words, tuning and format.

use super::rules::{Format, rules};
use crate::config::{Dtype, Model, catalog};

/// Longest name read, in bytes; Hugging Face allows 96 per part.
const LONGEST: usize = 200;

#[derive(Debug, Clone, Default)]
pub struct Name {
    /// The publisher in lower case; `None` if the name has none.
    pub publisher: Option<String>,
    /// All words except formats, in lower case.
    words: Vec<String>,
    pub formats: Vec<&'static Format>,
}

impl Name {
    /// Parses `organisation/name`, an address, a path, or a bare name.
    pub fn read(text: &str) -> Self {
        let text = text.trim().trim_end_matches('/').to_ascii_lowercase();
        if text.len() > LONGEST {
            return Self::default();
        }
        let text = text.split_once("://").map_or(&*text, |(_, rest)| rest);
        let mut parts = text.rsplit('/');
        let name = parts.next().unwrap_or_default();
        // A folder says who published what lies in it only where it is named like a publisher.
        let is_publisher = |part: &&str| !is_local(text) || has_published(part);
        let publisher = parts.next().filter(|part| !part.is_empty()).filter(is_publisher).map(str::to_owned);
        let name = name.split('@').next().unwrap_or_default();
        let (words, formats) = without_formats(words(name));
        Self { publisher, words, formats }
    }

    /// The name without formats.
    pub fn full(&self) -> String {
        self.words.join("-")
    }

    /// The name without words that change no shapes, but with its release.
    pub fn release(&self) -> String {
        without(&self.words, &rules().tunings).join("-")
    }

    /// The part that determines its shapes.
    pub fn base(&self) -> String {
        without(&without(&self.words, &rules().tunings), &rules().releases).join("-")
    }

    /// How many words of a list both names have, and how many only this one has.
    pub fn shared(&self, other: &Self, of: &[String]) -> (usize, usize) {
        let own = of.iter().filter(|word| self.words.contains(word));
        let (both, alone): (Vec<_>, Vec<_>) = own.partition(|word| other.words.contains(word));
        (both.len(), alone.len())
    }

    /// The weight format, `None` if the name has none. Plain FP8 is scaled as its `publisher` does it. Fails if the
    /// format is unsupported or there are several.
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

    /// The format words of the name.
    pub fn stated(&self) -> impl Iterator<Item = &'static Format> {
        let strong = self.formats.iter().any(|format| !format.weak);
        self.formats.iter().copied().filter(move |format| !(strong && format.weak))
    }
}

/// Whether it is a path on some machine, which no published name looks like.
pub fn is_local(text: &str) -> bool {
    text.starts_with(['/', '.', '~'])
}

fn has_published(publisher: &str) -> bool {
    let own = |model: &Model| {
        model.name.split_once('/').is_some_and(|(own, _)| own.eq_ignore_ascii_case(publisher))
    };
    catalog().models.models.iter().any(own)
}

/// `Llama-3_3-70B` becomes `llama`, `3.3`, `70b`, as does `llama3.3 70b`.
fn words(name: &str) -> Vec<String> {
    // GGUF files put their format after a dot.
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
            // A name needs a base.
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

/// The number of words in `phrase`, if `words` start with them.
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
