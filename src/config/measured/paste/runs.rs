//! Several reports in one text, as produced by a benchmark sweep.

use serde_json::Value;

use super::dialects::reports;
use super::{Report, text, values};
use crate::config::link::Link;
use crate::config::measured::given;
use crate::config::measured::paste::name::Statistic;
use crate::config::{Field, Issue, Scenario};

/// Printed above each table by `vllm bench serve` and SGLang's bench_serving.
const TITLE: &str = "Serving Benchmark Result";
/// How many findings about single runs are listed.
const LISTED: usize = 8;

/// Every run in `text`: consecutive tables, a JSON list, JSON Lines, or CSV with one run per row. Each is `base`
/// with the load and lengths from its report, and its measurements. What cannot be used is reported.
pub fn runs(text: &str, base: &Scenario) -> (Vec<Scenario>, Vec<Issue>) {
    let text = text.trim_start_matches('\u{feff}').trim();
    let reports = match text.starts_with(['{', '[']).then(|| values(text)) {
        Some(Ok(all)) if !all.is_empty() && all.iter().all(given::is_run) => return saved(&all, base),
        Some(Ok(all)) => all.iter().flat_map(reports).collect(),
        Some(Err(fault)) => return (Vec::new(), vec![Issue::error(Field::Measured, fault)]),
        None => split(text),
    };
    let several = reports.len() > 1;
    let (mut runs, mut issues) = (Vec::new(), Vec::new());
    for (number, report) in (1_u32..).zip(reports) {
        let mut run = base.clone();
        report.stated.onto(&mut run.workload);
        let (measured, found) = report.finish(Some(&run));
        let named = |issue: Issue| match several {
            true => Issue { text: format!("run {number}: {}", issue.text), ..issue },
            false => issue,
        };
        // A run without measurements does not stop the others from being read.
        let kept = |issue: Issue| {
            if several && issue.is_error() { Issue::warning(issue.field, issue.text) } else { issue }
        };
        issues.extend(found.into_iter().map(named).map(kept));
        if let Some(measured) = measured {
            run.measured = measured;
            if !runs.contains(&run) {
                runs.push(run);
            }
        }
    }
    if runs.is_empty() && !issues.iter().any(Issue::is_error) {
        issues.push(Issue::error(Field::Measured, "none of the runs has measurements"));
    }
    if issues.len() > LISTED {
        let more = issues.len() - LISTED;
        issues.truncate(LISTED);
        issues.push(Issue::note(Field::Measured, format!("{more} more findings of this kind")));
    }
    (runs, issues)
}

/// Runs from a file saved by the page: they state their own configuration.
fn saved(all: &[Value], base: &Scenario) -> (Vec<Scenario>, Vec<Issue>) {
    let (runs, issues) = given::read(all, &Link::new(base.clone()));
    (runs, issues.into_iter().map(|issue| Issue { field: Field::Measured, ..issue }).collect())
}

/// CSV rows, or consecutive tables.
fn split(text: &str) -> Vec<Report> {
    if let Some(rows) = of_csv(text) {
        return rows;
    }
    let tables: Vec<&str> = text.split(TITLE).skip(1).collect();
    if tables.len() > 1 { tables.into_iter().map(text::report).collect() } else { vec![text::report(text)] }
}

/// Column names in sweeps, and their names in reports. (`Concurrency` in a report is the reached one.)
const COLUMNS: [(&str, &str); 7] = [
    ("concurrency", "max concurrency"),
    ("conc", "max concurrency"),
    ("clients", "max concurrency"),
    ("rate", "request rate"),
    ("isl", "input sequence length"),
    ("osl", "output sequence length"),
    ("throughput", "output throughput (tok/s)"),
];

/// `None` if the text is not CSV with a measurement in its header.
fn of_csv(text: &str) -> Option<Vec<Report>> {
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let meant = |name: &str| {
        let known = COLUMNS.iter().find(|(column, _)| column.eq_ignore_ascii_case(name));
        known.map_or(name, |(_, meant)| meant).to_owned()
    };
    let head: Vec<String> = reader.headers().ok()?.iter().map(meant).collect();
    let measures = |name: &String| !matches!(super::name::of(name, Statistic::Named), super::Name::Unknown);
    if head.len() < 2 || !head.iter().any(measures) {
        return None;
    }
    let report = |row: csv::StringRecord| {
        let mut report = Report::default();
        for (name, value) in head.iter().zip(&row) {
            report.take_text(name, Statistic::Named, value);
        }
        report
    };
    Some(reader.records().filter_map(Result::ok).map(report).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::link;

    /// What differs from the defaults in each run, and the issues.
    fn read(text: &str) -> (Vec<String>, Vec<Issue>) {
        let (found, issues) = runs(text, &Scenario::default());
        (found.iter().map(link::encode).collect(), issues)
    }

    #[test]
    fn a_row_of_csv_is_a_run_with_its_load_and_lengths() {
        let (found, issues) =
            read("concurrency,isl,mean_ttft_ms,mean_tpot_ms\n8,1024,154,16.5\n128,2000,682,42.3\n");
        assert_eq!(
            found,
            ["v=1&c=8&me=ttft-154,tpot-16.5", "v=1&isl=2000&c=128&me=ttft-682,tpot-42.3"],
            "{issues:?}"
        );
        assert!(issues.is_empty());
    }

    #[test]
    fn every_line_of_json_and_every_table_is_a_run() {
        let lines = r#"{"max_concurrency": 8, "mean_tpot_ms": 16.5}
            {"max_concurrency": 16, "mean_tpot_ms": 17.5}"#;
        assert_eq!(read(lines).0, ["v=1&c=8&me=tpot-16.5", "v=1&me=tpot-17.5"]);
        let table = |clients: u32, tpot: f64| {
            format!("=== {TITLE} ===\nMaximum request concurrency: {clients}\nMean TPOT (ms): {tpot}\n")
        };
        let (found, _) = read(&(table(8, 16.5) + &table(8, 16.5) + &table(32, 20.0)));
        assert_eq!(found, ["v=1&c=8&me=tpot-16.5", "v=1&c=32&me=tpot-20"], "the same run counts once");
    }

    #[test]
    fn saved_runs_are_read_back_independently_of_the_form() {
        let text = "concurrency,isl,mean_ttft_ms,mean_tpot_ms\n8,1024,154,16.5\n128,2000,682,42.3\n";
        let base = link::decode("v=1&m=qwen3-32b&g=h200-sxm&tp=2&w=fp8").0.scenario;
        let (measured, _) = runs(text, &base);
        let (again, issues) = runs(&given::print(&measured), &Scenario::default());
        assert!(issues.is_empty(), "{issues:?}");
        assert_eq!(again, measured);
    }

    #[test]
    fn runs_without_measurements_are_named_and_the_others_used() {
        let (found, issues) = read("concurrency,mean_tpot_ms\n8,nothing\n16,17.5\n");
        assert_eq!(found.len(), 1);
        assert!(
            issues.iter().any(|issue| issue.text.starts_with("run 1:") && !issue.is_error()),
            "{issues:?}"
        );
        let (found, issues) = read("concurrency,mean_tpot_ms\n");
        assert!(found.is_empty() && issues.iter().any(Issue::is_error), "{issues:?}");
    }
}
