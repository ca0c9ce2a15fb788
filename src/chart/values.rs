//! A chart's values as CSV, unrounded and in SI units.

use super::{Chart, Unit};
use crate::units::decimal;

impl Chart {
    /// A row a point, under names that say their unit.
    pub fn to_csv(&self) -> String {
        let mut rows = Vec::new();
        match self {
            Self::Roofline(chart) => {
                let names = [
                    "phase",
                    "kernel",
                    "FLOP per byte",
                    "FLOP/s",
                    "ceiling, FLOP/s",
                    "share of step",
                    "limited by",
                ];
                rows.push(names.map(str::to_owned).to_vec());
                for point in &chart.points {
                    let numbers =
                        [point.intensity, point.reached.0, point.ceiling.0, point.share].map(decimal);
                    let mut row = vec![point.phase.id().to_owned(), point.name.clone()];
                    row.extend(numbers);
                    row.push(point.limit.id().into());
                    rows.push(row);
                }
            }
            Self::Curves(chart) => {
                rows.push(["panel", "series", &chart.x.name, "value"].map(str::to_owned).to_vec());
                for panel in &chart.panels {
                    let mut series = |name: &str, x: &[f64], y: &[f64]| {
                        for (&x, &y) in x.iter().zip(y) {
                            let of = format!("{}{}", panel.y.name, suffix(panel.y.unit));
                            rows.push(vec![of, name.to_owned(), decimal(x), decimal(y)]);
                        }
                    };
                    panel.lines.iter().for_each(|line| series(&line.name, &line.x, &line.y));
                    for band in &panel.bands {
                        series("from", &band.x, &band.low);
                        series("to", &band.x, &band.high);
                    }
                }
            }
            Self::Bars(chart) => {
                let unit = suffix(chart.unit);
                let mut head = vec!["bar".to_owned()];
                head.extend(chart.legend.iter().map(|name| format!("{name}{unit}")));
                rows.push(head);
                for bar in &chart.bars {
                    let mut row = vec![bar.name.clone()];
                    row.extend(bar.parts.iter().map(|&part| decimal(part)));
                    rows.push(row);
                }
            }
        }
        let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
        for row in rows {
            // Memory takes everything.
            let _ = writer.write_record(&row);
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn suffix(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => ", s",
        Unit::Share => ", share",
        Unit::Count => "",
    }
}
