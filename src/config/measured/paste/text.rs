//! Printed reports: lines with a name and a number, or a table with a column of means.

use super::ParsedReport;
use super::against::Fact;
use super::name::{self, Name, Statistic};
use super::runs::TITLE;
use crate::config::Metric;
use crate::config::command::flags;

/// Cell separators of a table.
const BARS: [char; 3] = ['|', '│', '┃'];

/// The closing line of a table has more characters than this.
const RULE: usize = 20;

/// Columns of means and medians in a table of genai-perf or aiperf.
type Columns = Option<[Option<usize>; 2]>;

/// A report; where it is the table under [`TITLE`](super::runs::TITLE), it says if that is cut off.
pub fn titled(text: &str, is_titled: bool) -> ParsedReport {
    let mut report = report(text);
    let is_known = |metric| report.measured.of(metric).value().is_some();
    if is_titled && is_open(text) && !(is_known(Metric::Ttft) && is_known(Metric::Tpot)) {
        report.warn(TITLE, "the report ends before its times: paste all of it");
    }
    report
}

fn report(text: &str) -> ParsedReport {
    let mut report = ParsedReport::default();
    let mut columns = None;
    for line in text.lines().map(str::trim) {
        let cells: Vec<&str> = line.trim_matches(BARS).split(BARS).map(str::trim).collect();
        if let [name, values @ ..] = &cells[..]
            && !values.is_empty()
        {
            row(&mut report, &mut columns, name, values);
        } else if let Some(command) = line.strip_prefix("CLI Command:") {
            load(&mut report, command);
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

/// Whether a table has no closing line.
fn is_open(text: &str) -> bool {
    let is_rule = |line: &str| line.len() > RULE && line.bytes().all(|byte| byte == b'=');
    !text.lines().map(str::trim).any(is_rule)
}

/// A CSV of genai-perf or aiperf: a row for each metric.
pub fn of_metrics(text: &str) -> Option<ParsedReport> {
    const HEAD: &str = "metric,";
    text.get(..HEAD.len()).filter(|head| head.eq_ignore_ascii_case(HEAD))?;
    let mut report = ParsedReport::default();
    let mut columns = None;
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    for record in reader.records().filter_map(Result::ok) {
        if let [name, values @ ..] = &record.iter().collect::<Vec<_>>()[..] {
            row(&mut report, &mut columns, name, values);
        }
    }
    Some(report)
}

/// A row of a table: its head, or a name and the statistics of it.
fn row(report: &mut ParsedReport, columns: &mut Columns, name: &str, values: &[&str]) {
    let place = |wanted: &str| values.iter().position(|cell| cell.eq_ignore_ascii_case(wanted));
    let head = [place("avg"), place("p50")];
    match (head, *columns) {
        ([None, None], None) => {
            if let [value] = values {
                pair(report, name, value);
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
        _ => *columns = Some(head),
    }
}

/// The load of the command that aiperf prints below its table.
fn load(report: &mut ParsedReport, command: &str) {
    for flag in flags(command) {
        let fact = match flag.name.as_str() {
            "concurrency" => Fact::Concurrency,
            "request_rate" => Fact::Rate,
            _ => continue,
        };
        flag.number().into_iter().for_each(|number| report.stated.set(fact, number));
    }
}

/// A name and its value. Log lines have no number there.
fn pair(report: &mut ParsedReport, name: &str, value: &str) {
    if !name.contains(char::is_alphabetic) {
        return;
    }
    // `Mean TTFT: 123 ms`, or `123ms`.
    let mut words = value.split_whitespace();
    let first = words.next().unwrap_or_default();
    let end = first.trim_end_matches(char::is_alphabetic).len();
    let (number, glued) = first.split_at(end);
    let glued = Some(glued).filter(|unit| !unit.is_empty() && number.parse::<f64>().is_ok());
    match glued.or(words.next()).filter(|_| !name.contains('(')) {
        Some(unit) => {
            let named = format!("{name} ({unit})");
            report.take_text(&named, Statistic::Named, if glued.is_some() { number } else { value })
        }
        None => report.take_text(name, Statistic::Named, value),
    }
}
