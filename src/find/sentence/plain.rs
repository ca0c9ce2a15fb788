//! Normalises a text for the parser: sentences become clauses, number words digits, and phrases the words that it
//! knows.

use std::sync::LazyLock;

use regex_lite::{Captures, Regex};

use super::AmountUnit;
use super::gpus::replaced;
use super::model::is_counted;
use super::tokens::SEPARATORS;

/// What people write, and how it is read.
const PHRASES: [(&str, &str); 25] = [
    ("time to first token", "ttft"),
    ("first token latency", "ttft"),
    ("first-token latency", "ttft"),
    ("first token", "ttft"),
    ("time per output token", "tpot"),
    ("time per token", "tpot"),
    ("inter-token latency", "itl"),
    ("inter token latency", "itl"),
    ("token latency", "itl"),
    ("end-to-end latency", "e2e"),
    ("end to end latency", "e2e"),
    ("in an hour", "in 1 hour"),
    ("within an hour", "within 1 hour"),
    ("in a day", "in 1 day"),
    ("within a day", "within 1 day"),
    ("no more than", "under"),
    ("not more than", "under"),
    ("instead of", "except"),
    ("rather than", "except"),
    ("other than", "except"),
    ("apart from", "except"),
    ("any but", "except"),
    ("all but", "except"),
    ("anything but", "except"),
    ("on demand", "on_demand"),
];
/// Ways to write rates and prices, and their standard form.
const PER: [(&str, &str); 13] = [
    (" per ", "/"),
    (" a second", "/s"),
    (" a minute", "/min"),
    (" an hour", "/h"),
    (" a day", "/day"),
    (" a week", "/week"),
    (" a month", "/month"),
    (" a year", "/year"),
    (" per-", "/"),
    // Other separators end a clause.
    (": $", " at $"),
    (":$", " at $"),
    ("= $", " at $"),
    ("=$", " at $"),
];
const ONES: [&str; 21] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// `8 x H100` for `8xH100`, `2k in 500 out` for `2k/500`, `qwen3-32b` for `qwen3:32b`, and `1M` for `1 million`.
pub fn spaced(text: &str) -> String {
    static COUNTED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)(^|[\s,(])(\d+)[x×]\s*([a-z])").ok());
    static TAGGED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)([a-z][\w.-]*):(\d+(?:\.\d+)?b)\b").ok());
    static LENGTHS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)(^|[\s,(])(\d{3,}|\d+(?:\.\d+)?k)/(\d{2,}|\d+(?:\.\d+)?k)(\s+[^\s,]+|[\s,.;)]|$)")
            .ok()
    });
    static SCALED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)\b(\d+(?:\.\d+)?|a|one)\s+(million|thousand)s?\b").ok());
    let (Some(counted), Some(tagged), Some(lengths), Some(scaled)) =
        (&*COUNTED, &*TAGGED, &*LENGTHS, &*SCALED)
    else {
        return text.to_owned();
    };
    let scaled_by = |found: &Captures<'_>| {
        let number =
            if found[1].starts_with(|letter: char| letter.is_ascii_digit()) { &found[1] } else { "1" };
        let unit = if found[2].eq_ignore_ascii_case("million") { "M" } else { "k" };
        format!("{number}{unit}")
    };
    let text = scaled.replace_all(text, scaled_by);
    let text = counted.replace_all(&text, "${1}${2} x ${3}");
    let text = tagged.replace_all(&text, "${1}-${2}");
    let with_lengths = |found: &Captures<'_>| {
        let next = found[4].trim().to_ascii_lowercase();
        let unit = AmountUnit::of(&next).filter(|_| !next.is_empty());
        // `TTFT 500/1000 ms`.
        match unit.is_none_or(|unit| unit == AmountUnit::Tokens) {
            true => format!("{}{} in {} out{}", &found[1], &found[2], &found[3], &found[4]),
            false => found[0].to_owned(),
        }
    };
    lengths.replace_all(&text, with_lengths).into_owned()
}

/// The text with punctuation marks as separators, and the words above replaced.
pub fn plain(text: &str) -> String {
    let text = PHRASES.iter().fold(clauses(text), |text, (parsed, read)| replaced(&text, parsed, read));
    let text = PER.iter().fold(text, |text, (parsed, written)| text.replace(parsed, written));
    in_digits(&text)
}

/// A point or mark at the end of a word ends a clause: `1 s. TPOT`, `300 users?`.
fn clauses(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let ends = letters.peek().is_none_or(|next| next.is_whitespace() || ".,!?)\"'".contains(*next));
        match letter {
            // `!vllm`.
            '!' if !ends => all.push_str(" not "),
            '.' if !ends => all.push('.'),
            '.' | '!' | '?' | '(' | ')' | '"' => all.push(','),
            '’' => all.push('\''),
            other => all.push(other),
        }
    }
    all
}

/// Replaces number words before what they count: `twenty requests/s`.
fn in_digits(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let written = |(at, word): (usize, &&str)| {
        let next = words.get(at + 1).map(|next| next.trim_end_matches(SEPARATORS).to_ascii_lowercase());
        let number =
            number(&word.to_ascii_lowercase()).filter(|_| next.is_some_and(|next| is_counted(&next)));
        number.map_or_else(|| (*word).to_owned(), |number| number.to_string())
    };
    words.iter().enumerate().map(written).collect::<Vec<_>>().join(" ")
}

/// Up to twenty, and tens with or without ones: `forty-five`.
pub fn number(word: &str) -> Option<usize> {
    let ones = |word: &str| ONES.iter().position(|known| *known == word);
    let tens = |word: &str| TENS.iter().position(|known| *known == word).map(|at| (at + 2) * 10);
    let both = || {
        let (ten, one) = word.split_once('-')?;
        Some(tens(ten)? + ones(one).filter(|one| (1..10).contains(one))?)
    };
    ones(word).or_else(|| tens(word)).or_else(both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_and_number_words_are_read_as_clauses_and_digits() {
        for (text, wanted) in [
            ("1 s. TPOT 30 ms.", "1 s, TPOT 30 ms,"),
            ("for 300 users?", "for 300 users,"),
            ("Llama 3.1 8b! (20 rps)", "Llama 3.1 8b, ,20 rps,"),
            ("20 rps...", "20 rps,,,"),
            ("Twenty requests per second", "20 requests/second"),
            ("forty-five users, one of two B200.", "45 users, one of 2 B200,"),
            ("No more than 8 GPUs, b200: $4/h", "under 8 GPUs, b200 at $4/h"),
            ("h100 INSTEAD OF b200", "h100 except b200"),
            ("don’t use sglang, !vllm", "don't use sglang,  not vllm"),
        ] {
            assert_eq!(plain(text), wanted);
        }
    }
}
