//! Kinds of workloads by name: `chat`, `RAG`, `code completion`.

use super::{Parsed, Words};
use crate::config::catalog::WORKLOADS;
use crate::config::{Field, Issue, excerpt};
use crate::units::count;

/// Words that may follow the name.
const KINDS: [&str; 5] = ["completion", "load", "traffic", "workload", "workloads"];

/// Tokens of a prompt and an answer, and the share of prompts in the prefix cache, of the kind that a lower-case word
/// names. A job needs its number of prompts too.
pub fn of(word: &str) -> Option<(u32, u32, f64)> {
    let is_named =
        |id: &str, name: &str| id == word || name.to_lowercase().split(", ").any(|name| name == word);
    let all = WORKLOADS.iter().filter(|&&(.., prompts)| prompts == 0);
    let (_, _, isl, osl, cached, _) = all.into_iter().find(|(id, name, ..)| is_named(id, name))?;
    Some((*isl, *osl, *cached))
}

/// Reads such a word. Lengths that the text states itself count.
pub fn read(word: &str, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    let (isl, osl, cached) = of(word)?;
    words.next_if(&KINDS);
    let [has_isl, has_osl] = [Field::Isl, Field::Osl].map(|field| parsed.has(&[field]));
    let workload = &mut parsed.link.scenario.workload;
    if !has_isl {
        workload.set_mean_prompt(Some(f64::from(isl)));
        workload.cached_share = cached;
    }
    if !has_osl {
        workload.set_mean_output(Some(f64::from(osl)));
    }
    let [isl, osl] = [isl, osl].map(|tokens| count(f64::from(tokens)));
    let text = format!("`{}` is read as {isl} tokens in and {osl} out", excerpt(word));
    parsed.issues.push(Issue::note(Field::Vary, text));
    Some(Field::Shape)
}
