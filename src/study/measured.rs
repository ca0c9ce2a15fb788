//! What was measured of the configuration, beside what is predicted.

use super::{Block, Row, Study};
use crate::config::Metric;
use crate::serving::measured::{Deviation, deviations, print};

pub const HEAD: [&str; 5] = ["", "Predicted", "Measured", "Difference", "Median measured"];

/// What was measured and is predicted; empty without either.
pub fn numbers(study: &Study) -> Vec<(Metric, Deviation)> {
    let own = study.own();
    let headline = own.report().and_then(|report| report.headline.as_ref());
    headline.map(|headline| deviations(&own.scenario.measured, headline)).unwrap_or_default()
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
    let row = |(metric, deviation): (Metric, Deviation)| {
        let number = |value: f64| print(metric, value).to_string();
        let name = match metric {
            Metric::Ttft => "TTFT",
            Metric::Tpot => "TPOT",
            Metric::E2e => "E2E",
            Metric::Output => "Output",
            Metric::Requests => "Requests",
            Metric::Total => "Input and output",
        };
        let median = deviation.median.map_or("–".to_owned(), number);
        [
            name.to_owned(),
            number(deviation.predicted),
            number(deviation.measured),
            deviation.difference(),
            median,
        ]
    };
    numbers(study).into_iter().map(row).collect()
}
