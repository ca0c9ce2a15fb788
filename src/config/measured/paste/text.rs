//! Printed reports: lines with a name and a number, or a table with a column of means.

use super::ParsedReport;
use super::name::{self, Name, Statistic};

/// Cell separators of a table.
const BARS: [char; 3] = ['|', '│', '┃'];

pub fn report(text: &str) -> ParsedReport {
    let mut report = ParsedReport::default();
    // Columns of means and medians in a genai-perf table.
    let mut columns: Option<[Option<usize>; 2]> = None;
    for line in text.lines().map(str::trim) {
        let cells: Vec<&str> = line.trim_matches(BARS).split(BARS).map(str::trim).collect();
        if let [name, values @ ..] = &cells[..]
            && !values.is_empty()
        {
            let place = |wanted: &str| values.iter().position(|cell| cell.eq_ignore_ascii_case(wanted));
            let head = [place("avg"), place("p50")];
            match (head, columns) {
                ([None, None], None) => {
                    if let [value] = values {
                        pair(&mut report, name, value);
                    }
                }
                ([None, None], Some(columns)) => {
                    for (column, statistic) in columns.into_iter().zip([Statistic::Mean, Statistic::Median]) {
                        let cell = column.and_then(|column| values.get(column));
                        if let Some(cell) = cell {
                            report.take_text(name, statistic, cell);
                        }
                    }
                }
                _ => columns = Some(head),
            }
        } else if let Some((name, value)) = line.rsplit_once([':', '=']) {
            pair(&mut report, name, value);
        } else if let Some((name, value)) = line.rsplit_once(char::is_whitespace)
            && name::of(name, Statistic::Named) != Name::Unknown
        {
            pair(&mut report, name, value);
        }
    }
    report
}

/// A name and its value. Log lines have no number there.
fn pair(report: &mut ParsedReport, name: &str, value: &str) {
    if !name.contains(char::is_alphabetic) {
        return;
    }
    // `Mean TTFT: 123 ms`.
    match value.split_whitespace().nth(1) {
        Some(unit) if !name.contains('(') => {
            report.take_text(&format!("{name} ({unit})"), Statistic::Named, value)
        }
        _ => report.take_text(name, Statistic::Named, value),
    }
}
