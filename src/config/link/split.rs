//! Splits an address into pairs.

use percent_encoding::percent_decode_str;

use crate::config::{Field, Issue};

/// Longest address read, a custom model included.
pub const MAX_BYTES: usize = 128 * 1024;

/// Most bytes of pairs, excluding a custom model. Catalog scenarios stay under 300.
const MAX_PLAIN_BYTES: usize = 8 * 1024;

/// The key of a custom model, the only one with long values.
pub const CUSTOM_MODEL: &str = "x";

/// How often an address may have been escaped as a whole: mail and chat software does so once or twice.
const MAX_ESCAPES: usize = 3;

/// Decoded pairs, in order.
#[derive(Debug, Default)]
pub struct Parts {
    pub query: Vec<(String, String)>,
    pub fragment: Vec<(String, String)>,
}

pub fn split(text: &str, issues: &mut Vec<Issue>) -> Parts {
    if text.len() > MAX_BYTES {
        let (size, most) = (text.len() / 1024, MAX_BYTES / 1024);
        let text = format!("the link is {size} KiB long and was not read: the limit is {most} KiB");
        issues.push(Issue::error(Field::Link, text));
        return Parts::default();
    }
    let (query, fragment) = places(text);
    let mut budget = MAX_PLAIN_BYTES;
    let fragment = pairs(fragment, &mut budget, issues);
    Parts { query: pairs(query, &mut budget, issues), fragment }
}

/// Query and fragment of an address; pairs without an address count as a fragment.
fn places(text: &str) -> (&str, &str) {
    let is_address = text.contains("://") || text.starts_with('/');
    match (text.split_once('#'), text.split_once('?')) {
        (Some((before, fragment)), _) => (before.split_once('?').map_or("", |(_, query)| query), fragment),
        (None, Some((_, query))) => (query, ""),
        (None, None) if is_address => ("", ""),
        (None, None) => ("", text),
    }
}

fn pairs(text: &str, budget: &mut usize, issues: &mut Vec<Issue>) -> Vec<(String, String)> {
    let text = unescape(text, issues);
    let mut found = Vec::new();
    for piece in text.split('&').filter(|piece| !piece.is_empty()) {
        let (key, value) = piece.split_once('=').unwrap_or((piece, ""));
        // `&amp;` from HTML escaped once too often.
        let key = decode(key.strip_prefix("amp;").unwrap_or(key));
        if key != CUSTOM_MODEL {
            let Some(left) = budget.checked_sub(piece.len()) else {
                let text = format!(
                    "the link holds more than {} KiB besides a custom model: the rest was not read",
                    MAX_PLAIN_BYTES / 1024
                );
                issues.push(Issue::error(Field::Link, text));
                break;
            };
            *budget = left;
        }
        found.push((key, decode(value)));
    }
    found
}

/// Undoes escaping of the pairs as a whole, which leaves no `=` between key and value.
fn unescape(text: &str, issues: &mut Vec<Issue>) -> String {
    let mut text = text.trim_start_matches(['#', '?', '!', '/', '&']).to_owned();
    let mut times = 0;
    while times < MAX_ESCAPES && !text.contains('=') && text.contains('%') {
        text = decode(&text);
        times += 1;
    }
    if times > 0 {
        issues.push(Issue::note(Field::Link, "the whole link was percent-encoded: it was decoded"));
    }
    text
}

/// Bytes that are not UTF-8 become the replacement character, which no id or number has.
pub fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}
