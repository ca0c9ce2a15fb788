//! Limits of latencies, and a job's deadline.

use super::hardware::wishes;
use super::{AmountUnit, BREAK, FILLERS, Parsed, Words};
use crate::config::link::real;
use crate::config::{Field, LatencyMetric};

/// Limits, and which requests must meet them.
pub const SLOS: [Field; 5] =
    [Field::SloTtft, Field::SloTpot, Field::SloE2e, Field::SloPercentile, Field::SloShare];
/// Words before a deadline.
pub const WITHIN: [&str; 2] = ["within", "in"];

/// Reads the phrase that begins with `word`: `TTFT p95 1 s`, `p95`, `within 8 hours`.
pub fn limit(word: &str, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    if WITHIN.contains(&word)
        && let Some(limit) = deadline(words)
    {
        return set_limit(LatencyMetric::E2e, limit, parsed);
    }
    let Some(metric) = limited(word) else {
        parsed.slos.percentile = Some(percentile(word)?);
        return Some(Field::SloPercentile);
    };
    // `TTFT p95 1 s`.
    words.skip();
    let from = words.at;
    let of = words.next_as(percentile);
    let limit = words.milliseconds()?;
    if of.is_some() {
        parsed.slos.percentile = of;
        parsed.state(Field::SloPercentile, words.phrase(from, from + 1));
    }
    set_limit(metric, limit, parsed)
}

/// The milliseconds of `within 8 hours`, but not of `within 200 ms TTFT`.
fn deadline(words: &mut Words) -> Option<f64> {
    let from = words.at;
    // `in under 2 hours`.
    words.skip();
    let number = words.number();
    let unit = words.next_as(AmountUnit::of);
    let end = words.at;
    words.skip();
    let of_other = words.peek().and_then(limited).is_some();
    words.at = end;
    match (number, unit) {
        (Some(number), Some(AmountUnit::Time(each))) if !of_other => Some(number * each),
        _ => {
            words.at = from;
            None
        }
    }
}

pub fn limited(word: &str) -> Option<LatencyMetric> {
    match word {
        "ttft" => Some(LatencyMetric::Ttft),
        "tpot" | "itl" => Some(LatencyMetric::Tpot),
        "e2e" | "latency" | "deadline" => Some(LatencyMetric::E2e),
        _ => None,
    }
}

/// Nothing is served in no time.
pub fn set_limit(metric: LatencyMetric, milliseconds: f64, parsed: &mut Parsed) -> Option<Field> {
    let limit = parsed.slos.limit_ms(metric);
    *limit = Some(milliseconds).filter(|limit| *limit > 0.0);
    limit.map(|_| metric.limit())
}

fn percentile(word: &str) -> Option<f64> {
    word.strip_prefix('p')?.parse().ok()
}

/// Reads `of requests` after a share. False if it is the share of something else.
pub fn share_of_requests(words: &mut Words) -> bool {
    let from = words.at;
    while words.next_if(&FILLERS) {}
    if words.next_if(&["requests"]) {
        return true;
    }
    let is_apart = words.peek().is_none_or(|next| {
        next == BREAK
            || limited(next).is_some()
            || real(next).is_ok()
            || percentile(next).is_some()
            || next.starts_with('$')
            || !wishes(next).is_empty()
    });
    words.at = from;
    is_apart
}
