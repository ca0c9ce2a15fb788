//! Kinds of workloads by name: `chat`, `RAG`, `code completion`.

use super::{Parsed, Words};
use crate::config::catalog::WORKLOADS;
use crate::config::{Field, Issue, excerpt};
use crate::units::{count, percent};

/// Words that may follow the name.
const KINDS: [&str; 5] = ["completion", "load", "traffic", "workload", "workloads"];

/// A kind of workload: tokens of a prompt and of an answer, and the share of prompts in the prefix cache.
pub type Kind = (u32, u32, f64);

/// The kind that a lower-case word names. Jobs are left out: they also need a number of prompts.
pub fn of(word: &str) -> Option<Kind> {
    let is_named =
        |id: &str, name: &str| id == word || name.to_ascii_lowercase().split(", ").any(|name| name == word);
    let mut all = WORKLOADS.iter().filter(|&&(.., prompts)| prompts == 0);
    let (_, _, isl, osl, cached, _) = all.find(|(id, name, ..)| is_named(id, name))?;
    Some((*isl, *osl, *cached))
}

/// Reads such a word.
pub fn read(word: &str, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    parsed.kind = Some((word.to_owned(), of(word)?));
    words.next_if(&KINDS);
    Some(Field::Shape)
}

/// Applies it once everything is read: lengths that the text states itself count.
pub fn apply(parsed: &mut Parsed) {
    let Some((word, (isl, osl, cached))) = parsed.kind.take() else { return };
    let [has_isl, has_osl, has_share] =
        [Field::Isl, Field::Osl, Field::CachedShare].map(|field| parsed.has(&[field]));
    let workload = &mut parsed.link.scenario.workload;
    workload.leave_histogram();
    workload.shape = None;
    if !has_isl {
        workload.set_mean_prompt(Some(f64::from(isl)));
    }
    if !has_isl && !has_share {
        workload.cached_share = cached;
    }
    if !has_osl {
        workload.set_mean_output(Some(f64::from(osl)));
    }
    let prompt = workload.mean_prompt().unwrap_or_default();
    let [prompt, output] = [prompt, f64::from(workload.mean_output())].map(count);
    let cached = match workload.cached_share {
        0.0 => String::new(),
        share => format!(" ({} of them cached)", percent(share)),
    };
    let text = format!("`{}` is read as {prompt} tokens in{cached} and {output} out", excerpt(&word));
    parsed.issues.push(Issue::note(Field::Vary, text));
}
