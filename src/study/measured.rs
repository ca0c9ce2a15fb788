//! What was measured of the configuration, beside what is predicted.

use super::{Block, Row, Study};
use crate::config::Metric;
use crate::serving::measured::{Beside, beside, print};

pub const HEAD: [&str; 5] = ["", "Predicted", "Measured", "Difference", "Median measured"];

/// What was measured and is predicted; empty without either.
pub fn numbers(study: &Study) -> Vec<(Metric, Beside)> {
    let own = study.own();
    let headline = own.report().and_then(|report| report.headline.as_ref());
    headline.map(|headline| beside(&own.scenario.measured, headline)).unwrap_or_default()
}

/// The same as a table, with what its differences are; nothing where there is none.
pub fn blocks(study: &Study) -> Vec<Block> {
    let rows = rows(study);
    if rows.is_empty() {
        return Vec::new();
    }
    vec![
        Block::heading("Your measurement"),
        Block::table("Measured and predicted", &HEAD, rows.into_iter().map(Row::texts).collect())
            .called("measured-beside"),
        Block::text(
            "Difference = (predicted - measured) / measured, of the means; of the median where that alone was measured, which the \
             prediction is not: a few late requests draw a mean away from it.",
        ),
    ]
}

pub fn rows(study: &Study) -> Vec<[String; 5]> {
    let row = |(metric, beside): (Metric, Beside)| {
        let number = |value: f64| print(metric, value).to_string();
        let name = match metric {
            Metric::Ttft => "TTFT",
            Metric::Tpot => "TPOT",
            Metric::E2e => "E2E",
            Metric::Output => "Output",
            Metric::Requests => "Requests",
            Metric::Total => "Input and output",
        };
        let median = beside.median.map_or("–".to_owned(), number);
        [name.to_owned(), number(beside.predicted), number(beside.measured), beside.difference(), median]
    };
    numbers(study).into_iter().map(row).collect()
}
