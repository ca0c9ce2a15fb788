//! Single values as text. Errors say what would be right; reading what `show_*` wrote gives the same.

use crate::config::check::range::MAX_LENGTHS;
use crate::config::issue::excerpt;
use crate::config::{Dtype, Lengths};

pub fn whole(text: &str) -> Result<u32, String> {
    let digits = text.trim();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse() {
        Ok(number) if is_number => Ok(number),
        _ if is_number => Err(format!("`{}` is too large: at most {} is read", excerpt(text), u32::MAX)),
        _ => Err(format!("`{}` is no whole number", excerpt(text))),
    }
}

/// Digits a double holds exactly, whatever they are.
const EXACT_DIGITS: usize = 15;

/// Powers of ten that a double holds exactly end here.
const EXACT_PLACES: usize = 22;

/// A decimal of at most 15 digits, read exactly: whole numbers and powers of ten of that size are exact
/// doubles, and one division rounds once. The standard parser reads more, for 13 KB (gzip) of the page.
pub fn real(text: &str) -> Result<f64, String> {
    let (whole, places) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let digits = || whole.bytes().chain(places.bytes());
    let is_number = digits().next().is_some() && digits().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(format!("`{}` is no number: digits and a point are right", excerpt(text)));
    }
    let count = digits().skip_while(|byte| *byte == b'0').count();
    if count > EXACT_DIGITS || places.len() > EXACT_PLACES {
        return Err(format!("`{}` is too long: at most {EXACT_DIGITS} digits are read", excerpt(text)));
    }
    let value = digits().fold(0u64, |value, byte| value * 10 + u64::from(byte - b'0'));
    // As many places as a usize of at most 22: the cast is exact.
    Ok(value as f64 / 10f64.powi(places.len() as i32))
}

pub fn id(text: &str) -> Result<String, String> {
    if text.is_empty() { Err("the value is empty: an id is right".into()) } else { Ok(text.to_owned()) }
}

pub fn dtype(text: &str) -> Result<Dtype, String> {
    Dtype::from_id(text).ok_or_else(|| {
        let known: Vec<&str> = Dtype::ALL.iter().map(|dtype| dtype.id()).collect();
        format!("`{}` is no number format: one of {} is right", excerpt(text), known.join(", "))
    })
}

/// `1024`, or a list with runs: `512x3,1024` is 512, 512, 512, 1024. A lone comma is the empty list.
pub fn lengths(text: &str) -> Result<Lengths, String> {
    if !text.contains([',', 'x']) {
        return whole(text).map(Lengths::Fixed);
    }
    let mut all = Vec::new();
    for run in text.split(',').filter(|run| !run.is_empty()) {
        let (length, count) = run.split_once('x').unwrap_or((run, "1"));
        let (length, count) = (whole(length)?, whole(count)? as usize);
        // Before the list grows: a run may claim four thousand million lengths.
        if count > MAX_LENGTHS - all.len() {
            return Err(format!("more than {MAX_LENGTHS} prompt lengths"));
        }
        all.extend(std::iter::repeat_n(length, count));
    }
    Ok(Lengths::Each(all))
}

pub fn show_lengths(lengths: &Lengths) -> String {
    let all = match lengths {
        Lengths::Fixed(length) => return length.to_string(),
        Lengths::Each(all) => all,
    };
    let runs: Vec<String> = all
        .chunk_by(|a, b| a == b)
        .map(|run| match (run.len(), all.len()) {
            // A single length reads as a list only with its count.
            (1, 2..) => run[0].to_string(),
            (count, _) => format!("{}x{count}", run[0]),
        })
        .collect();
    if runs.is_empty() { ",".into() } else { runs.join(",") }
}
