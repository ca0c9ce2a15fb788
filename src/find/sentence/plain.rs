//! Normalises a text for the parser: sentences become clauses, number words digits, and phrases the words that it
//! knows.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::gpus::replaced;
use super::model::is_counted;
use super::words::SEPARATORS;

/// What people write, and how it is read.
const PHRASES: [(&str, &str); 10] = [
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
const PER: [(&str, &str); 9] = [
    (" per ", "/"),
    (" a second", "/s"),
    (" a minute", "/min"),
    (" an hour", "/h"),
    (" a day", "/day"),
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

/// `8 x H100` for `8xH100`, and `2k in 500 out` for `2k/500`.
pub fn spaced(text: &str) -> String {
    static COUNTED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)(^|[\s,(])(\d+)[x×]\s*([a-z])").ok());
    static LENGTHS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)(^|[\s,(])(\d{2,}|\d+(?:\.\d+)?k)/(\d{2,}|\d+(?:\.\d+)?k)([\s,.;)]|$)").ok()
    });
    let (Some(counted), Some(lengths)) = (&*COUNTED, &*LENGTHS) else { return text.to_owned() };
    let text = counted.replace_all(text, "${1}${2} x ${3}");
    lengths.replace_all(&text, "${1}${2} in ${3} out${4}").into_owned()
}

/// The text with punctuation marks as separators, and the words above replaced.
pub fn plain(text: &str) -> String {
    let text = PER.iter().fold(clauses(text), |text, (parsed, written)| text.replace(parsed, written));
    let text = PHRASES.iter().fold(text, |text, (parsed, read)| replaced(&text, parsed, read));
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
        let next = words.get(at + 1).map(|next| next.trim_end_matches(SEPARATORS).to_lowercase());
        let number = number(&word.to_lowercase()).filter(|_| next.is_some_and(|next| is_counted(&next)));
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
