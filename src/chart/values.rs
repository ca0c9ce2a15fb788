//! A chart's values as CSV, unrounded and in SI units.

use super::{Bar, Chart, KernelPoint};
use crate::units::decimal;

impl Chart {
    /// One row per point; the header has units.
    pub fn to_csv(&self) -> String {
        match self {
            Self::Roofline(chart) => {
                const HEAD: [&str; 7] = [
                    "phase",
                    "kernel",
                    "FLOP per byte",
                    "FLOP/s",
                    "ceiling, FLOP/s",
                    "share of step",
                    "limited by",
                ];
                let row = |point: &KernelPoint| {
                    let numbers = [point.intensity, point.reached.0, point.ceiling.0, point.share];
                    let [intensity, reached, ceiling, share] = numbers.map(decimal);
                    let (phase, limit) = (point.phase.id().to_owned(), point.limit.id().to_owned());
                    vec![phase, point.name.clone(), intensity, reached, ceiling, share, limit]
                };
                csv(HEAD, chart.points.iter().map(row))
            }
            Self::Curves(chart) => {
                let mut rows = Vec::new();
                for panel in &chart.panels {
                    let name = format!("{}{}", panel.y.name, panel.y.unit.suffix());
                    let mut series = |line: &str, x: &[f64], y: &[f64]| {
                        let points = x.iter().zip(y);
                        rows.extend(
                            points.map(|(&x, &y)| vec![name.clone(), line.into(), decimal(x), decimal(y)]),
                        );
                    };
                    for line in &panel.lines {
                        // The panel names its main line.
                        let name = if line.name.is_empty() { "predicted" } else { &line.name };
                        series(name, &line.x, &line.y);
                    }
                    for band in &panel.bands {
                        series("80 % from", &band.x, &band.low);
                        series("80 % to", &band.x, &band.high);
                    }
                }
                csv(["panel", "series", &chart.x.name, "value"], rows)
            }
            Self::Bars(chart) => {
                let names = chart.legend.iter().map(|name| format!("{name}{}", chart.unit.suffix()));
                let row = |bar: &Bar| {
                    std::iter::once(bar.name.clone())
                        .chain(bar.parts.iter().map(|&part| decimal(part)))
                        .collect()
                };
                csv(std::iter::once("bar".to_owned()).chain(names), chart.bars.iter().map(row))
            }
        }
    }
}

/// Rows of cells as CSV (RFC 4180), the header first. The writer of the csv crate would be 2 kB of the page.
pub fn csv<T: AsRef<str>>(
    head: impl IntoIterator<Item = impl AsRef<str>>,
    rows: impl IntoIterator<Item = Vec<T>>,
) -> String {
    let mut text = String::new();
    head.into_iter().for_each(|cell| write_cell(&mut text, cell.as_ref()));
    end_row(&mut text);
    for row in rows {
        row.iter().for_each(|cell| write_cell(&mut text, cell.as_ref()));
        end_row(&mut text);
    }
    text
}

/// A cell and the comma behind it.
fn write_cell(text: &mut String, cell: &str) {
    let quote = cell.contains([',', '"', '\n', '\r']);
    if quote {
        text.push('"');
        text.push_str(&cell.replace('"', "\"\""));
        text.push('"');
    } else {
        text.push_str(cell);
    }
    text.push(',');
}

/// Takes back the last comma.
fn end_row(text: &mut String) {
    text.pop();
    text.push('\n');
}
