//! A load in tokens: `5M output tokens/day`, `1000 tokens/s in total`.

#[cfg(test)]
mod tests;

use super::amount::{EACH, set};
use super::tokens::{ARTICLES, TOKENS, seconds};
use super::{AmountUnit, BREAK, FILLERS, Parsed, Words};
use crate::config::{Field, Issue, Load, excerpt};
use crate::units::{count, counted as counted_as, significant};

/// Digits of the rate.
const DIGITS: i32 = 6;
const OUTPUT: [&str; 7] = ["completion", "generated", "generation", "out", "output", "outputs", "response"];
const INPUT: [&str; 4] = ["in", "input", "inputs", "prompt"];
const ALL: [&str; 5] = ["all", "combined", "overall", "total", "together"];
/// Words before a number of tokens that say which ones: `total throughput of 5000 tok/s`.
const NAMES: [&str; 3] = ["input", "output", "total"];
const THROUGHPUT: &str = "throughput";
const JOINED: [&str; 6] = ["&", "+", "and", "of", "or", "the"];
/// Words before the noun of a time: `each day`.
const ADVERBS: [(&str, &str); 2] = [("daily", "day"), ("hourly", "hour")];
/// Tokens of one request: `1000 output tokens per request`.
const PER_REQUEST: [&str; 6] = ["answer", "prompt", "query", "req", "request", "response"];

/// Which tokens are counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Counted {
    Output,
    Input,
    All,
}

impl Counted {
    fn of(word: &str) -> Option<Self> {
        match word {
            _ if OUTPUT.contains(&word) => Some(Self::Output),
            _ if INPUT.contains(&word) => Some(Self::Input),
            _ if ALL.contains(&word) => Some(Self::All),
            _ => None,
        }
    }

    fn with(self, before: Option<Self>) -> Self {
        before.filter(|before| *before != self).map_or(self, |_| Self::All)
    }
}

/// A load in tokens, which becomes one in requests once all lengths are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    phrase: String,
    per_s: f64,
    counted: Counted,
}

/// What a number of tokens is per second.
struct Rate {
    counted: Option<Counted>,
    /// Of the time in seconds.
    per_s: f64,
    /// The time as typed.
    time: String,
    /// Of each user.
    is_each: bool,
}

/// `output tokens/day`, `tokens/s in total`. Takes nothing if it is something else.
fn rate(words: &mut Words) -> Option<Rate> {
    let from = words.at;
    let found = begun(words).map(|rate| ended(rate, words));
    if found.is_none() {
        words.at = from;
    }
    found
}

fn begun(words: &mut Words) -> Option<Rate> {
    let (mut counted, mut is_tokens): (Option<Counted>, bool) = (None, false);
    loop {
        let word = words.next()?;
        let (what, time) = word
            .split_once('/')
            .map_or((&*word, None), |(what, time)| (what, Some(time).filter(|time| !time.is_empty())));
        match what {
            "tps" | "tpm" => {
                let is_each = time.is_some_and(|of| of == "user");
                if time.is_some() && !is_each {
                    return None;
                }
                let (per_s, time) = if what == "tps" { (1.0, "s") } else { (1.0 / 60.0, "min") };
                return Some(Rate { counted, per_s, time: time.into(), is_each });
            }
            _ if TOKENS.contains(&what) => is_tokens = true,
            // `tokens in total`.
            "in" if words.peek().is_some_and(|next| ALL.iter().any(|all| next.starts_with(all))) => {}
            "" if time.is_some() => {}
            _ if JOINED.contains(&what) => {}
            _ => counted = Some(Counted::of(what)?.with(counted)),
        }
        let noun = |words: &mut Words| {
            let adverb =
                |word: &str| ADVERBS.iter().find(|(adverb, _)| *adverb == word).map(|(_, noun)| *noun);
            if let Some(noun) = words.next_as(adverb) {
                return Some(noun.to_owned());
            }
            let from = words.at;
            let noun = words
                .next_if(&ARTICLES)
                .then(|| words.next_as(|word| seconds(word).map(|_| word.to_owned())));
            let noun = noun.flatten();
            if noun.is_none() {
                words.at = from;
            }
            noun
        };
        let time = time.map(str::to_owned).or_else(|| noun(words).filter(|_| is_tokens));
        let Some(time) = time else { continue };
        let (of, is_each) = time.strip_suffix("/user").map_or((&*time, false), |of| (of, true));
        let per_s = 1.0 / seconds(of).filter(|_| is_tokens)?;
        return Some(Rate { counted, per_s, time: of.to_owned(), is_each });
    }
}

/// Which tokens, if that follows: `in total`, `of output`, `each`.
fn ended(mut rate: Rate, words: &mut Words) -> Rate {
    let from = words.at;
    if words.next_if(&[EACH]) {
        rate.is_each = true;
        return rate;
    }
    words.next_if(&["in", "of"]);
    let all = |word: &str| Counted::of(word).filter(|counted| *counted != Counted::Input || word == "input");
    match words.next_as(all).filter(|_| rate.counted.is_none()) {
        Some(counted) => {
            words.next_if(&TOKENS);
            rate.counted = Some(counted);
        }
        None => words.at = from,
    }
    rate
}

/// Whether the load of a number of tokens follows.
pub fn follows(words: &mut Words) -> bool {
    let from = words.at;
    let found = rate(words).is_some();
    words.at = from;
    found
}

/// Whether tokens of both kinds follow, each with its number: `input and 1M output tokens/day`.
fn are_two(words: &mut Words) -> bool {
    let from = words.at;
    let mut then = || {
        words.next_as(Counted::of)?;
        words.next_if(&TOKENS);
        words.next_if(&JOINED).then_some(())?;
        words.number()?;
        rate(words)
    };
    let found = then().is_some();
    if !found {
        words.at = from;
    }
    found
}

/// Reads what follows `number` if that is a rate of tokens. `before` says which; `is_each`: of each user.
pub fn read(
    number: f64,
    (before, is_each): (Option<Counted>, bool),
    words: &mut Words,
    parsed: &mut Parsed,
) -> Option<Field> {
    let from = words.at - 1;
    if are_two(words) {
        let text = "state the tokens of one kind, and the lengths of a request, as in `2k in, 500 out`";
        parsed.refused.push(format!("`{}`: {text}", excerpt(&words.phrase(from, words.at))));
        return Some(Field::Vary);
    }
    let rate = rate(words)?;
    let phrase = words.phrase(from, words.at);
    let is_of_seconds = seconds(&rate.time) == Some(1.0);
    if rate.is_each || is_each {
        let is_output = rate.counted.is_none_or(|counted| counted == Counted::Output);
        if is_of_seconds && is_output {
            return set(number, AmountUnit::Speed, parsed);
        }
        parsed.refused.push(format!(
            "`{}`: state the tokens of all users together, or the requests of each: `300 users each 10 requests/hour`",
            excerpt(&phrase)
        ));
        return Some(Field::Vary);
    }
    let Some(counted) = rate.counted.or(before) else {
        parsed.refused.push(which(&phrase, &rate.time, is_of_seconds));
        return Some(Field::Vary);
    };
    parsed.demand = Some(Demand { phrase, per_s: number * rate.per_s, counted });
    parsed.link.scenario.workload.load = Load::Rate(number * rate.per_s);
    Some(Field::Load)
}

/// The refusal of tokens that may be those of the answers or all.
fn which(phrase: &str, time: &str, is_of_seconds: bool) -> String {
    let is_digit = |letter: &char| letter.is_ascii_digit() || ".kKmM".contains(*letter);
    let number: String = phrase.chars().take_while(is_digit).collect();
    let of_user = format!(", or `{number} tokens/{time} per user`");
    format!(
        "`{}`: say which tokens: `{number} output tokens/{time}`, or `{number} tokens/{time} in total`, prompts \
         included{}",
        excerpt(phrase),
        if is_of_seconds { &of_user } else { "" }
    )
}

/// Reads a rate of tokens after its name: `output 50k tok/s`, `total throughput of 5000 tok/s`.
pub fn named(word: &str, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    let before = Counted::of(word).filter(|_| NAMES.contains(&word));
    (before.is_some() || word == THROUGHPUT).then_some(())?;
    while words.next_if(&[THROUGHPUT, BREAK]) || words.next_if(&FILLERS) {}
    let number = words.number()?;
    read(number, (before, false), words, parsed)
}

/// Takes `tokens` after a length, or `tokens/request`; `None` before another rate of tokens.
pub fn length(words: &mut Words) -> Option<()> {
    let per_request = |word: &str| {
        let (what, of) = word.split_once('/')?;
        (TOKENS.contains(&what) && PER_REQUEST.contains(&of)).then_some(())
    };
    if words.next_as(per_request).is_some() {
        return Some(());
    }
    let is_rate =
        |word: &str| word.split_once('/').is_some_and(|(what, _)| TOKENS.contains(&what)) || word == "tps";
    if words.peek().is_some_and(is_rate) {
        return None;
    }
    words.next_if(&TOKENS);
    let from = words.at;
    // `5M output tokens a month`.
    let is_rate = super::money::after(words).is_some();
    words.at = from;
    (!is_rate).then_some(())
}

/// Whether a word is a rate of tokens: `tokens/day`.
pub fn is_rate(word: &str) -> bool {
    let of = word.split_once('/').filter(|(what, _)| TOKENS.contains(what));
    of.is_some_and(|(_, time)| seconds(time).is_some())
}

/// Turns a load in tokens into requests, by the lengths that are stated or else those of the form.
///
/// # Errors
/// If the length that it needs is not known.
pub fn apply(parsed: &mut Parsed) -> Result<(), Issue> {
    let Some(Demand { phrase, per_s, counted }) = parsed.demand.take() else { return Ok(()) };
    let workload = &parsed.link.scenario.workload;
    let (input, output) = (workload.mean_prompt(), f64::from(workload.mean_output()));
    let (each, fields): (Option<f64>, &[Field]) = match counted {
        Counted::Output => (Some(output), &[Field::Osl]),
        Counted::Input => (input, &[Field::Isl]),
        Counted::All => (input.map(|input| input + output), &[Field::Isl, Field::Osl]),
    };
    let Some(each) = each.filter(|each| *each > 0.0) else {
        let text = format!("`{}`: state the lengths too, as in `2k in, 500 out`", excerpt(&phrase));
        return Err(Issue::error(Field::Vary, text));
    };
    let rate = significant(per_s / each, DIGITS);
    let [input, output] = [input.unwrap_or_default(), output].map(count);
    let lengths = match counted {
        Counted::Output => format!("{output} tokens out"),
        Counted::Input => format!("{input} tokens in"),
        Counted::All => format!("{input} tokens in and {output} out"),
    };
    // A kind of workload states lengths, a distribution does not.
    let is_kind = workload.shape.is_none() && parsed.has(&[Field::Shape]);
    let is_stated = is_kind || fields.iter().all(|field| parsed.has(&[*field]));
    let else_form = if is_stated { "" } else { ", as on the form: state others as in `2k in, 500 out`" };
    let text = format!("`{}` is {}/s of {lengths}{else_form}", excerpt(&phrase), counted_as(rate, "request"));
    parsed.link.scenario.workload.load = Load::Rate(rate);
    parsed.issues.push(Issue::note(Field::Vary, text));
    Ok(())
}
