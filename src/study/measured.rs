//! Measured numbers next to predicted ones.

use super::{Block, Study};
use crate::config::Metric;
use crate::serving::measured::{Deviation, deviations, print};

/// The numbers both measured and predicted.
pub fn numbers(study: &Study) -> Vec<(Metric, Deviation)> {
    let own = study.own();
    own.headline().map(|headline| deviations(&own.scenario.measured, headline)).unwrap_or_default()
}

/// The same as a table; `None` without measurements.
pub fn table(study: &Study) -> Option<Block> {
    let row = |(metric, both): (Metric, Deviation)| {
        let number = |value: f64| print(metric, value).to_string();
        let name = match metric {
            Metric::Ttft => "TTFT",
            Metric::Tpot => "TPOT",
            Metric::E2e => "E2E",
            Metric::Output => "Output",
            Metric::Requests => "Requests",
            Metric::Total => "Input and output",
        };
        let median = both.median.map_or("–".to_owned(), number);
        [name.to_owned(), number(both.predicted), number(both.measured), both.difference(), median]
    };
    let numbers = numbers(study);
    let head = ["", "Predicted", "Measured", "Difference", "Median measured"];
    let table = Block::table("Measured and predicted", &head, numbers.iter().copied().map(row));
    (!numbers.is_empty()).then(|| table.called("measured-beside"))
}

/// The table under a heading, with the definition of differences.
pub fn blocks(study: &Study) -> Vec<Block> {
    let Some(table) = table(study) else { return Vec::new() };
    vec![
        Block::heading("Your measurement"),
        table,
        Block::text(
            "Difference = (predicted - measured) / measured, of the means. Where only a median was measured it stands in \
             for the mean, which a few slow requests can raise well above it.",
        ),
    ]
}
