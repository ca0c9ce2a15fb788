//! The words of a text: numbers with their units, and the phrases that contain them.

use super::left_out::is_not;
use super::limits::{WITHIN, limited};
use super::{BREAK, FILLERS, money};
use crate::config::link::{pointed, real, ungrouped};
use crate::config::{Field, Issue, excerpt};

pub const SEPARATORS: [char; 8] = [',', ';', '\n', '\t', ':', '<', '≤', '='];
const CLIENTS: [&str; 6] = ["client", "clients", "user", "users", "people", "concurrent"];
const SESSIONS: [&str; 2] = ["session", "sessions"];
const GPUS: [&str; 2] = ["gpu", "gpus"];
const REQUESTS: [&str; 9] =
    ["", "req", "reqs", "request", "requests", "query", "queries", "prompt", "prompts"];
const SECONDS: [&str; 4] = ["s", "sec", "second", "seconds"];
const MINUTES: [&str; 4] = ["m", "min", "minute", "minutes"];
const HOURS: [&str; 4] = ["h", "hr", "hour", "hours"];
const DAYS: [&str; 2] = ["day", "days"];
const DOLLARS: [&str; 4] = ["$", "usd", "dollar", "dollars"];
const PROMPT: [&str; 4] = ["in", "input", "prompt", "isl"];
const OUTPUT: [&str; 3] = ["out", "output", "osl"];
pub const TOKENS: [&str; 2] = ["tokens", "token"];
/// Units of a rate of tokens: of each user's reading speed, if they say so.
pub const SPEEDS: [&str; 6] = ["tokens/s", "tokens/second", "token/s", "tok/s", "tps", "tokens/sec"];

/// Words that make the number after them a lower bound.
const LEAST: [&str; 4] = ["least", "more", "minimum", "above"];

/// What a number before a word means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AmountUnit {
    /// This many per second.
    Requests(f64),
    SessionRate(f64),
    Sessions,
    Clients,
    Gpus,
    /// Over this many hours, if that is stated.
    Dollars(Option<f64>),
    Prompt,
    Output,
    /// This many milliseconds.
    Time(f64),
    Percent,
    /// Tokens per second of a user.
    Speed,
    /// Tokens per second of nobody named.
    TokenRate,
    Turns,
    /// Depends on what is stated later, if anything.
    Tokens,
    /// No quantity of a request: `20 requests`.
    Other,
}

impl AmountUnit {
    /// The unit that a lower-case word names.
    pub fn of(word: &str) -> Option<Self> {
        let (what, time) = word.split_once('/').map_or((word, None), |(what, time)| (what, Some(time)));
        let is = |known: &[&str]| known.contains(&what) && time.is_none();
        let seconds = |time: &str| {
            let lengths = [(&SECONDS[..], 1.0), (&MINUTES, 60.0), (&HOURS, 3600.0), (&DAYS, 86_400.0)];
            lengths.into_iter().find(|(names, _)| names.contains(&time)).map(|(_, seconds)| seconds)
        };
        Some(match (word, time) {
            ("rps" | "qps", _) => Self::Requests(1.0),
            ("rpm" | "qpm", _) => Self::Requests(1.0 / 60.0),
            (_, None) if DOLLARS.contains(&what) => Self::Dollars(None),
            (_, Some(time)) if DOLLARS.contains(&what) => Self::Dollars(Some(money::hours(time)?)),
            (_, Some(time)) if REQUESTS.contains(&what) => Self::Requests(1.0 / seconds(time)?),
            (_, Some(time)) if SESSIONS.contains(&what) => Self::SessionRate(1.0 / seconds(time)?),
            ("%", _) => Self::Percent,
            _ if SPEEDS.contains(&word) => Self::TokenRate,
            _ if word.strip_suffix("/user").is_some_and(|rate| SPEEDS.contains(&rate)) => Self::Speed,
            ("turns", None) => Self::Turns,
            ("ms" | "milliseconds", _) => Self::Time(1.0),
            _ if is(&CLIENTS) => Self::Clients,
            _ if is(&SESSIONS) => Self::Sessions,
            _ if is(&GPUS) => Self::Gpus,
            _ if is(&PROMPT) => Self::Prompt,
            _ if is(&OUTPUT) => Self::Output,
            _ if is(&TOKENS) => Self::Tokens,
            _ if is(&REQUESTS) || word == "k" => Self::Other,
            (_, None) => Self::Time(seconds(word)? * 1e3),
            _ => return None,
        })
    }
}

/// Whether a time follows this word.
fn is_of_time(word: &str) -> bool {
    limited(word).is_some() || WITHIN.contains(&word) || word == "time"
}

/// A word, or a part of one: `30ms` is a number and its unit.
#[derive(Debug)]
struct Part {
    /// In lower case.
    text: String,
    /// The position of its word.
    word: usize,
}

/// Iterator over the words of a text.
pub struct Words {
    words: Vec<String>,
    parts: Vec<Part>,
    pub at: usize,
}

impl Words {
    pub fn of(text: &str) -> Self {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let next = |at: usize| words.get(at + 1).and_then(|next| AmountUnit::of(&next.to_ascii_lowercase()));
        let is_time = |at: usize| {
            let before = words[..at].iter().rev().map(|word| word.to_ascii_lowercase());
            let word = before
                .into_iter()
                .find(|word| word != BREAK && (is_of_time(word) || !FILLERS.contains(&&**word)));
            word.is_some_and(|word| is_of_time(&word))
        };
        let parts = words.iter().enumerate().flat_map(|(at, word)| {
            // `1m requests`, but `E2E 5m`.
            let is_unit = next(at).is_some_and(|unit| !matches!(unit, AmountUnit::Time(_)));
            let counts = word.ends_with('M') || is_unit || !is_time(at);
            parts(&word.to_ascii_lowercase(), counts).into_iter().map(move |text| Part { text, word: at })
        });
        Self { parts: parts.collect(), words: words.clone(), at: 0 }
    }

    pub fn next(&mut self) -> Option<String> {
        self.at += 1;
        self.parts.get(self.at - 1).map(|part| part.text.clone())
    }

    pub fn peek(&self) -> Option<&str> {
        self.parts.get(self.at).map(|part| part.text.as_str())
    }

    /// Takes the next word if `read` knows it.
    pub fn next_as<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let found = read(self.peek()?);
        self.at += usize::from(found.is_some());
        found
    }

    pub fn next_if(&mut self, known: &[&str]) -> bool {
        self.next_as(|word| known.contains(&word).then_some(())).is_some()
    }

    pub fn skip(&mut self) {
        while self.next_if(&FILLERS) || self.next_if(&[BREAK]) {}
    }

    /// The word before that at `at`.
    pub fn before(&self, at: usize) -> Option<&str> {
        self.parts.get(at.checked_sub(1)?).map(|part| part.text.as_str())
    }

    /// The next word, if it is a number.
    pub fn number(&mut self) -> Option<f64> {
        self.next_as(|word| real(word).ok())
    }

    /// `1 s`, `30 ms`, `30`, in milliseconds.
    pub fn milliseconds(&mut self) -> Option<f64> {
        self.skip();
        let number = self.number()?;
        match self.peek().and_then(AmountUnit::of) {
            Some(AmountUnit::Time(each)) => {
                self.at += 1;
                Some(number * each)
            }
            // A number with another unit.
            Some(unit) if unit != AmountUnit::Prompt && unit != AmountUnit::Output => None,
            _ => Some(number),
        }
    }

    /// Whether the part before this one is a number.
    pub fn follows_number(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| real(&self.parts[before].text).is_ok())
    }

    /// Whether the words before this part make its number a lower bound: `at least`, `more than`.
    pub fn follows_least(&self, at: usize) -> bool {
        let mut before = self.parts[..at].iter().rev().map(|part| &*part.text);
        let word = before.find(|word| !["a", "of", "than", "the"].contains(word));
        word.is_some_and(|word| LEAST.contains(&word)) && !before.next().is_some_and(is_not)
    }

    pub fn is_least(&self, at: usize) -> bool {
        self.parts.get(at).is_some_and(|part| LEAST.contains(&&*part.text))
    }

    /// Whether nothing but fillers stands between two parts.
    pub fn is_joined(&self, to: usize, from: usize) -> bool {
        to <= from && self.parts[to..from].iter().all(|part| FILLERS.contains(&&*part.text))
    }

    /// Whether a part of the last word is left.
    pub fn is_within_word(&self) -> bool {
        let word = |at: usize| self.parts.get(at).map(|part| part.word);
        self.at > 0 && self.at < self.parts.len() && word(self.at) == word(self.at - 1)
    }

    /// The whole words from a part up to another, as typed.
    pub fn phrase(&self, from: usize, to: usize) -> String {
        let all = self.parts[from].word..=self.parts[to - 1].word;
        let words: Vec<&str> =
            self.words[all].iter().map(String::as_str).filter(|word| *word != BREAK).collect();
        words.join(" ")
    }
}

/// `30`, `ms` of `30ms`; `$`, `40`, `/h` of `$40/h`; `8000` of `8k`, a million of `$1M`, and of `1M` if it `counts` something.
fn parts(word: &str, counts: bool) -> Vec<String> {
    let (sign, number) = word.strip_prefix('$').map_or(("", word), |number| ("$", number));
    let end = number.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(number.len());
    let (head, tail) = number.split_at(end);
    if head.is_empty() || tail.starts_with('-') {
        return vec![word.to_owned()];
    }
    // `k` and `/month` of `$10k/month`.
    let (scale, rest) = match tail.find('/').filter(|_| !sign.is_empty()) {
        Some(at) => tail.split_at(at),
        None => (tail, ""),
    };
    let (head, tail) = match (scale, real(head)) {
        ("k", Ok(thousands)) => ((thousands * 1e3).round().to_string(), rest),
        ("m", Ok(millions)) if counts || !sign.is_empty() => ((millions * 1e6).round().to_string(), rest),
        _ => (head.to_owned(), tail),
    };
    let all = [sign.to_owned(), head, tail.to_owned()];
    all.into_iter().filter(|part| !part.is_empty()).collect()
}

/// The text without commas between thousands.
///
/// # Errors
/// If a comma may stand for a decimal point: half of a number would be read as another number.
pub fn whole_numbers(text: &str) -> Result<String, Issue> {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let is_part = |letter: char| is_digit(letter) || letter == ',' || letter == '.';
    let mut all = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_digit) {
        let (before, from) = rest.split_at(at);
        // Digits at the end of a name end the number: `h100,b200`.
        let in_name = before.ends_with(char::is_alphanumeric);
        let goes_on = |letter: char| if in_name { is_digit(letter) } else { is_part(letter) };
        let end = from.find(|letter: char| !goes_on(letter)).unwrap_or(from.len());
        let (number, after) = from.split_at(from[..end].trim_end_matches([',', '.']).len());
        if let Some(meant) = pointed(number) {
            let text = format!("`{}`: use a decimal point, as in {meant}", excerpt(number));
            return Err(Issue::error(Field::Vary, text));
        }
        if let Some((whole, "000")) = number.split_once('.').filter(|(whole, _)| !in_name && *whole != "0") {
            let text = format!("`{}`: write {whole}000, or {whole}", excerpt(number));
            return Err(Issue::error(Field::Vary, text));
        }
        all += before;
        all += &ungrouped(number);
        rest = after;
    }
    Ok(all + rest)
}
