//! The meaning of a report's line, by its name.

use std::str::FromStr;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::against::Fact;
use super::dialects::Dialect;
use crate::config::Metric;
use crate::config::objects::carried;

/// Which statistic of its metric a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// A percentile other than the median.
    Percentile,
    /// Known but not used.
    Unused,
    Unknown,
}

/// What tools call the figures of a report; names are in lower case, without units.
#[derive(Debug, Deserialize)]
pub struct Reports {
    /// Ids by name: of metrics, and of what else a run states.
    metrics: Map<String, Value>,
    facts: Map<String, Value>,
    /// Words in the names of lines that are not used, and whole names of such lines.
    unused_words: Vec<String>,
    unused_names: Vec<String>,
    means: Vec<String>,
    medians: Vec<String>,
    /// Units of time in milliseconds.
    milliseconds: Map<String, Value>,
    rates: Vec<String>,
    pub dialects: Vec<Dialect>,
}

/// `static/catalog/reports.json`.
pub fn reports() -> &'static Reports {
    static REPORTS: LazyLock<Reports> = LazyLock::new(|| {
        carried("static/catalog/reports.json", include_str!(concat!(env!("OUT_DIR"), "/reports.json")))
    });
    &REPORTS
}

pub fn of(text: &str, statistic: Statistic) -> Name {
    let known = reports();
    let (words, unit) = parts(text);
    if let Some(fact) = meant(&known.facts, &words.join(" ")) {
        return match statistic {
            Statistic::Median => Name::Unused,
            _ => Name::Stated(fact),
        };
    }
    let is_statistic = |word: &&str| [&known.means, &known.medians].iter().any(|names| has(names, word));
    let rest: Vec<&str> = words.iter().map(String::as_str).filter(|word| !is_statistic(word)).collect();
    let rest = rest.join(" ");
    let Some(metric) = meant::<Metric>(&known.metrics, &rest) else {
        let percentile = |word: &str| word.strip_prefix('p').is_some_and(|of| of.parse::<f64>().is_ok());
        if rest.split(' ').any(percentile) {
            return Name::Percentile;
        }
        let unused = words.iter().any(|word| has(&known.unused_words, word) || percentile(word));
        return if unused || has(&known.unused_names, &rest) { Name::Unused } else { Name::Unknown };
    };
    if rest.starts_with("inter") && statistic == Statistic::Named {
        return Name::Unused;
    }
    let median = match statistic {
        Statistic::Named => words.iter().any(|word| has(&known.medians, word)),
        other => other == Statistic::Median,
    };
    if median && !metric.is_time() {
        return Name::Unused;
    }
    Name::Measured { metric, median, scale: scale(metric, unit.as_deref()) }
}

/// What a name stands for.
fn meant<T: FromStr>(known: &Map<String, Value>, name: &str) -> Option<T> {
    known.get(name)?.as_str()?.parse().ok()
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known == name)
}

fn scale(metric: Metric, unit: Option<&str>) -> Result<f64, &'static str> {
    match (metric.is_time(), unit) {
        (true, None) => Err("it has no unit: expected ms or s"),
        (true, Some(unit)) => {
            let known = reports().milliseconds.get(unit).and_then(Value::as_f64);
            known.ok_or("unknown unit: expected ms or s")
        }
        (false, Some(unit)) if !has(&reports().rates, unit) => {
            Err("unknown unit: expected tokens or requests per second of the whole system")
        }
        (false, _) => Ok(1.0),
    }
}

/// The lower-case words of a name, and its unit: in parentheses, or the last word of a JSON key.
fn parts(text: &str) -> (Vec<String>, Option<String>) {
    let text = text.to_ascii_lowercase();
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
        unit = words.pop_if(|last| reports().milliseconds.contains_key(last));
    }
    (words, unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_means_something_known() {
        let Reports { metrics, facts, milliseconds, .. } = reports();
        assert!(metrics.keys().all(|name| meant::<Metric>(metrics, name).is_some()));
        assert!(facts.keys().all(|name| meant::<Fact>(facts, name).is_some()));
        assert!(milliseconds.values().all(Value::is_number));
    }
}
