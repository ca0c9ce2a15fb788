//! The meaning of a report's line, by its name.

use super::against::Fact;
use crate::config::Metric;

/// Which statistic of its metric a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// Given by its name.
    Named,
    /// Given by its column or key.
    Mean,
    Median,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Name {
    /// `scale` converts the number to the metric's unit, or says which unit was expected.
    Measured {
        metric: Metric,
        median: bool,
        scale: Result<f64, &'static str>,
    },
    /// A fact about the run itself.
    Stated(Fact),
    /// Known but not used, such as percentiles.
    Unused,
    Unknown,
}

/// In lower case, without units.
const METRICS: [(&str, Metric); 16] = [
    ("ttft", Metric::Ttft),
    ("time to first token", Metric::Ttft),
    ("tpot", Metric::Tpot),
    ("time per output token", Metric::Tpot),
    ("e2el", Metric::E2e),
    ("e2e", Metric::E2e),
    ("e2e latency", Metric::E2e),
    ("end to end latency", Metric::E2e),
    ("request latency", Metric::E2e),
    ("output throughput", Metric::Output),
    ("output token throughput", Metric::Output),
    ("total output throughput", Metric::Output),
    ("request throughput", Metric::Requests),
    ("total throughput", Metric::Total),
    ("total token throughput", Metric::Total),
    // In genai-perf and aiperf this is (E2E - TTFT) / (OSL - 1); elsewhere it is the gap between two chunks.
    ("inter token latency", Metric::Tpot),
];

const FACTS: [(&str, Fact); 21] = [
    ("maximum request concurrency", Fact::Concurrency),
    ("max request concurrency", Fact::Concurrency),
    ("max concurrency", Fact::Concurrency),
    ("request rate configured", Fact::Rate),
    ("traffic request rate", Fact::Rate),
    ("request rate", Fact::Rate),
    ("successful requests", Fact::Requests),
    ("completed", Fact::Requests),
    ("request count", Fact::Requests),
    ("failed requests", Fact::Failed),
    ("failed", Fact::Failed),
    ("total input tokens", Fact::InputTokens),
    ("total generated tokens", Fact::OutputTokens),
    ("total output tokens", Fact::OutputTokens),
    ("average input length", Fact::Prompt),
    ("input sequence length", Fact::Prompt),
    ("average output length", Fact::Output),
    ("output sequence length", Fact::Output),
    ("random input len", Fact::LongestPrompt),
    ("random output len", Fact::LongestOutput),
    ("random range ratio", Fact::RandomShare),
];

/// Words in the names of other report lines.
const UNUSED: [&str; 15] = [
    "std",
    "min",
    "max",
    "peak",
    "percentile",
    "itl",
    "duration",
    "burstiness",
    "goodput",
    "concurrency",
    "retokenized",
    "prompts",
    "vision",
    "accept",
    "rtfx",
];

/// Full names of other report lines.
const UNUSED_NAMES: [&str; 2] = ["total input text tokens", "input token throughput"];

const MEAN: [&str; 3] = ["mean", "average", "avg"];
const MEDIAN: [&str; 2] = ["median", "p50"];

/// Time units, and their factors to milliseconds.
const TIMES: [(&str, f64); 8] = [
    ("ms", 1.0),
    ("milliseconds", 1.0),
    ("s", 1e3),
    ("sec", 1e3),
    ("seconds", 1e3),
    ("us", 1e-3),
    ("µs", 1e-3),
    ("microseconds", 1e-3),
];

const RATES: [&str; 12] = [
    "tok/s",
    "tokens/s",
    "tokens/sec",
    "tokens/second",
    "tps",
    "per sec",
    "per second",
    "req/s",
    "req/sec",
    "requests/s",
    "requests/sec",
    "requests/second",
];

pub fn of(text: &str, statistic: Statistic) -> Name {
    let (words, unit) = parts(text);
    let whole = words.join(" ");
    if let Some((_, fact)) = FACTS.iter().find(|(name, _)| *name == whole) {
        return match statistic {
            Statistic::Median => Name::Unused,
            _ => Name::Stated(*fact),
        };
    }
    let is = |names: &[&str], word: &String| names.contains(&word.as_str());
    let rest: Vec<&str> =
        words.iter().filter(|word| !is(&MEAN, word) && !is(&MEDIAN, word)).map(String::as_str).collect();
    let rest = rest.join(" ");
    let known = METRICS.iter().find(|(name, _)| *name == rest);
    let Some(&(name, metric)) = known else {
        let percentile = |word: &String| word.strip_prefix('p').is_some_and(|of| of.parse::<f64>().is_ok());
        let unused = words.iter().any(|word| is(&UNUSED, word) || percentile(word));
        return if unused || UNUSED_NAMES.contains(&rest.as_str()) { Name::Unused } else { Name::Unknown };
    };
    if name.starts_with("inter") && statistic == Statistic::Named {
        return Name::Unused;
    }
    let median = match statistic {
        Statistic::Named => words.iter().any(|word| is(&MEDIAN, word)),
        other => other == Statistic::Median,
    };
    if median && !metric.is_time() {
        return Name::Unused;
    }
    Name::Measured { metric, median, scale: scale(metric, unit.as_deref()) }
}

fn scale(metric: Metric, unit: Option<&str>) -> Result<f64, &'static str> {
    match (metric.is_time(), unit) {
        (true, None) => Err("it has no unit: expected ms or s"),
        (true, Some(unit)) => {
            let known = TIMES.iter().find(|(name, _)| *name == unit);
            known.map(|(_, scale)| *scale).ok_or("unknown unit: expected ms or s")
        }
        (false, Some(unit)) if !RATES.contains(&unit) => {
            Err("unknown unit: expected tokens or requests per second of the whole system")
        }
        (false, _) => Ok(1.0),
    }
}

/// The lower-case words of a name, and its unit: in parentheses, or the last word of a JSON key.
fn parts(text: &str) -> (Vec<String>, Option<String>) {
    let text = text.to_lowercase();
    let (mut plain, mut unit, mut inside) = (String::new(), String::new(), None);
    for letter in text.chars() {
        match (letter, inside) {
            ('(' | '[', None) => inside = Some(letter),
            (')', Some('(')) | (']', Some('[')) => inside = None,
            (_, Some('(')) => unit.push(letter),
            (_, Some(_)) => {}
            (letter, None) => plain.push(if letter.is_alphanumeric() { letter } else { ' ' }),
        }
    }
    let mut words: Vec<String> = plain.split_whitespace().map(str::to_owned).collect();
    // `Time per Output Token (excl. 1st token)` has no unit.
    let mut unit = Some(unit).filter(|unit| !unit.is_empty());
    if unit.is_none() && words.len() > 1 {
        unit = words.pop_if(|last| TIMES.iter().any(|(name, _)| name == last));
    }
    (words, unit)
}
