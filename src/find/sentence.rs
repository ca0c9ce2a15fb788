//! Parses a load, its limits and hardware in natural language: `Llama-3.3-70B, 20 requests/s, TTFT 1 s, TPOT 30
//! ms`.

mod amount;
mod begins;
mod gpus;
mod hardware;
mod kept;
mod left_out;
mod limits;
mod model;
mod money;
mod parsed;
mod plain;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tokens;
mod workload;

use crate::config::link::{FRESH, Link, SearchSpace, decode};
use crate::config::{Field, Issue, Slos, excerpt};
use parsed::Parsed;
use tokens::{AmountUnit, SEPARATORS, Words, whole_numbers};

/// Words that are ignored.
const FILLERS: [&str; 65] = [
    "/",
    "@",
    "a",
    "an",
    "and",
    "any",
    "at",
    "available",
    "below",
    "budget",
    "by",
    "can",
    "cheapest",
    "cost",
    "costs",
    "could",
    "done",
    "find",
    "finished",
    "for",
    "from",
    "gpu",
    "gpus",
    "have",
    "i",
    "in",
    "is",
    "less",
    "limit",
    "max",
    "maximum",
    "most",
    "my",
    "need",
    "nvl72",
    "of",
    "on",
    "once",
    "only",
    "or",
    "our",
    "out",
    "own",
    "owned",
    "price",
    "prices",
    "run",
    "running",
    "serve",
    "setup",
    "than",
    "the",
    "to",
    "tokens",
    "under",
    "up",
    "use",
    "using",
    "want",
    "way",
    "ways",
    "we",
    "weights",
    "with",
    "within",
];
/// Where a clause ends.
const BREAK: &str = ",";
const EXAMPLE: &str = "write for example `Llama-3.3-70B, 20 requests/s, TTFT 1 s, TPOT 30 ms`";
const RATES: &str = "; a rate is per second, minute, hour or day";

/// Applies `text` to `link`. What is not understood is reported.
///
/// # Errors
/// If nothing is understood, or a model or a number would have to be guessed.
pub fn read(text: &str, mut link: Link) -> Result<(Link, Vec<Issue>), Issue> {
    // The format and the limits of the example that a fresh page shows are nobody's wish.
    if link.scenario == decode(FRESH).0.scenario {
        (link.scenario.weights, link.scenario.workload.slos) = (None, Slos::default());
    }
    let text = plain::plain(&gpus::by_id(&plain::spaced(&whole_numbers(text)?)));
    let mut parsed = Parsed {
        link,
        slos: Slos::default(),
        find: SearchSpace::default(),
        of_vendors: Vec::new(),
        left_out: Vec::new(),
        left_out_to: None,
        stated: Vec::new(),
        refused: Vec::new(),
        issues: Vec::new(),
        kind: None,
        deadline: None,
        is_new_model: false,
    };
    let rest = model::take(&text, &mut parsed)?;
    let lost = phrases(&mut Words::of(&rest), &mut parsed);
    refuse(&lost, &parsed)?;
    parsed.leave_out()?;
    parsed.of_sessions()?;
    parsed.of_job()?;
    workload::apply(&mut parsed);
    if !lost.is_empty() {
        parsed
            .issues
            .push(Issue::warning(Field::Vary, format!("not understood and ignored: {}", quoted(&lost))));
    }
    Ok(parsed.finish())
}

/// Applies the phrases of a text. Returns those that are not understood.
fn phrases(words: &mut Words, parsed: &mut Parsed) -> Vec<String> {
    // Ranges of parts.
    let mut lost: Vec<(usize, usize)> = Vec::new();
    loop {
        let from = words.at;
        let Some(word) = words.next() else { break };
        let before = (parsed.link.clone(), parsed.slos, parsed.find.clone(), parsed.kind.clone());
        let known = amount::read(&word, words, parsed).filter(|_| !words.is_within_word());
        let known = known.map(|field| (field, words.phrase(from, words.at)));
        // `memory share of 90%` is no share of the requests.
        let is_of_lost = |phrase: &str| {
            !phrase.contains("request") && lost.last().is_some_and(|(_, to)| words.is_joined(*to, from))
        };
        if let Some((field, phrase)) =
            known.filter(|(field, phrase)| *field != Field::SloShare || !is_of_lost(phrase))
        {
            let is_least = words.follows_least(from);
            if is_least && is_at_least(field, &phrase) {
                lost.pop_if(|(at, to)| words.is_least(*at) && *to == *at + 1 && words.is_joined(*to, from));
            }
            parsed.accept(field, &word, phrase, is_least);
            continue;
        }
        // A rejected phrase sets nothing.
        (parsed.link, parsed.slos, parsed.find, parsed.kind) = before;
        words.at = from + 1;
        if parsed.left_out_to == Some(from) {
            parsed.refused.push(left_out::wanted(&words.phrase(from, from + 1)));
        }
        if word == amount::EACH {
            let counted = lost.last().filter(|(_, to)| *to == from);
            parsed.refused.push(amount::wanted_each(counted.map(|(at, to)| words.phrase(*at, *to))));
        }
        if word == BREAK || FILLERS.contains(&word.as_str()) {
            continue;
        }
        match lost.last_mut().filter(|(_, to)| *to == from) {
            Some((_, to)) => *to += 1,
            // Including a number before it, whose unit is unknown.
            None => lost.push((from - usize::from(words.follows_number(from)), from + 1)),
        }
    }
    lost.into_iter().map(|(from, to)| words.phrase(from, to)).collect()
}

/// Whether what a phrase sets is the least that is wanted, so that `at least` before it is understood: a load, a share of
/// requests, a speed.
fn is_at_least(field: Field, phrase: &str) -> bool {
    let phrase = phrase.to_ascii_lowercase();
    let is_speed = field == Field::SloTpot && tokens::SPEEDS.iter().any(|unit| phrase.contains(unit));
    is_speed || matches!(field, Field::Load | Field::SloShare)
}

/// # Errors
/// If something not understood may be a load or a limit, or if nothing else was stated.
fn refuse(lost: &[String], parsed: &Parsed) -> Result<(), Issue> {
    let has_load = parsed.has(&[Field::Load, Field::Most]);
    let is_amount = |word: &str| {
        word.contains(|letter: char| letter.is_ascii_digit() || letter == '$')
            || plain::number(&word.to_ascii_lowercase()) > Some(1)
            || (!has_load && is_load(word))
    };
    let numbers: Vec<_> = lost.iter().filter(|phrase| phrase.split(' ').any(is_amount)).cloned().collect();
    let has_dollars = parsed.has(&[Field::BudgetDollars]) || parsed.find.get(Field::Prices).is_some();
    let undated = lost.iter().find(|phrase| has_dollars && phrase.split(' ').any(money::is_time));
    let text = match numbers.iter().find(|phrase| phrase.starts_with(['-', '−'])) {
        Some(negative) => format!("`{}`: no number here may be negative", excerpt(negative)),
        _ if !parsed.refused.is_empty() => parsed.refused.join("; "),
        None if !numbers.is_empty() => format!("not understood: {}; {EXAMPLE}{RATES}", quoted(&numbers)),
        None if let Some(time) = undated => money::wanted(time),
        None if parsed.stated.is_empty() => format!("not understood: {EXAMPLE}"),
        None => return Ok(()),
    };
    Err(Issue::error(Field::Vary, text))
}

/// A word for a load, whatever its amount: `many users`.
fn is_load(word: &str) -> bool {
    let unit = AmountUnit::of(&word.to_ascii_lowercase());
    matches!(
        unit,
        Some(
            AmountUnit::Requests(_) | AmountUnit::SessionRate(_) | AmountUnit::Clients | AmountUnit::Sessions
        )
    )
}

fn quoted(phrases: &[String]) -> String {
    phrases.iter().map(|phrase| format!("`{}`", excerpt(phrase))).collect::<Vec<_>>().join(", ")
}
