//! Several reports in one text, as produced by a benchmark sweep.

use serde_json::Value;

use super::dialects::reports;
use super::{ParsedReport, is_json, left_out, text, values};
use crate::config::catalog::catalog;
use crate::config::link::Link;
use crate::config::measured::given;
use crate::config::measured::paste::name::Statistic;
use crate::config::{Field, Issue, Scenario};

/// Printed above each table by `vllm bench serve` and SGLang's bench_serving.
pub(super) const TITLE: &str = "Serving Benchmark Result";
/// How many findings about single runs are listed.
const LISTED: usize = 8;

/// Every run in `text`: consecutive tables, a JSON list, JSON Lines, or CSV with one run per row. Each is `base`
/// with the load and lengths from its report, and its measurements. What cannot be used is reported.
pub fn runs(text: &str, base: &Scenario) -> (Vec<Scenario>, Vec<Issue>) {
    let text = text.trim_start_matches('\u{feff}').trim();
    let reports = match is_json(text).then(|| values(text)) {
        Some(Ok(all)) if !all.is_empty() && all.iter().all(given::is_run) => return saved(&all, base),
        Some(Ok(all)) => all.iter().flat_map(reports).collect(),
        Some(Err(fault)) => return (Vec::new(), vec![Issue::error(Field::Measured, fault)]),
        None => split(text),
    };
    let several = reports.len() > 1;
    let left_out = left_out(&reports);
    let (mut runs, mut issues) = (Vec::new(), Vec::new());
    for (number, report) in (1_u32..).zip(reports) {
        let mut run = base.clone();
        let stated = report.stated;
        stated.onto(&mut run.workload);
        let engine = report.engine.as_deref().and_then(|name| of_engine(name, &mut run));
        let (measured, mut found) = report.finish(Some(&run));
        if measured.is_some() {
            found.extend(engine);
            // Compared with the prediction whatever load it was measured at.
            let against = if several { Vec::new() } else { stated.against(base) };
            let new: Vec<Issue> = against.into_iter().filter(|issue| !found.contains(issue)).collect();
            found.extend(new);
        }
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
    issues.extend(left_out);
    if runs.is_empty() && !issues.iter().any(Issue::is_error) {
        issues.push(Issue::error(Field::Measured, "none of the runs has measurements"));
    }
    if issues.len() > LISTED {
        let more = issues.len() - LISTED;
        issues.truncate(LISTED);
        issues.push(Issue::note(Field::Measured, format!("{more} more messages like this")));
    }
    (runs, issues)
}

/// Sets the engine of `run` to the one that its report names, with a warning if it differs.
fn of_engine(name: &str, run: &mut Scenario) -> Option<Issue> {
    let all = catalog();
    // `sglang-oai`.
    let first = || name.split(['-', '_']).next().and_then(|first| all.engine_named(first));
    let (named, own) = (all.engine_named(name).or_else(first)?, all.engine(&run.engine)?);
    if named.id == own.id {
        return None;
    }
    // Its client measures any server under this name.
    let of = if named.id == "vllm" { own } else { named };
    run.engine.clone_from(&of.id);
    let text = format!(
        "the report is from {}, the configuration uses {}: the run counts as one of {}",
        named.name, own.name, of.name
    );
    Some(Issue::warning(Field::Measured, text))
}

/// Runs from a file saved by the page: they state their own configuration.
fn saved(all: &[Value], base: &Scenario) -> (Vec<Scenario>, Vec<Issue>) {
    let (runs, issues) = given::read(all, &Link::new(base.clone()));
    (runs, issues.into_iter().map(|issue| Issue { field: Field::Measured, ..issue }).collect())
}

/// CSV rows, or consecutive tables.
fn split(text: &str) -> Vec<ParsedReport> {
    if let Some(report) = text::of_metrics(text) {
        return vec![report];
    }
    if let Some(rows) = of_csv(text) {
        return rows;
    }
    let tables: Vec<&str> = text.split(TITLE).skip(1).collect();
    match tables.len() > 1 {
        true => tables.into_iter().map(|table| text::titled(table, true)).collect(),
        false => vec![text::titled(text, !tables.is_empty())],
    }
}

/// Column names in sweeps, and their names in reports. (`Concurrency` in a report is the reached one.)
const COLUMNS: [(&str, &str); 12] = [
    ("concurrency", "max concurrency"),
    ("conc", "max concurrency"),
    ("clients", "max concurrency"),
    ("rate", "request rate"),
    ("isl", "input sequence length"),
    ("osl", "output sequence length"),
    ("input_len", "input sequence length"),
    ("output_len", "output sequence length"),
    ("input", "input sequence length"),
    ("prompt_tokens", "input sequence length"),
    ("completion_tokens", "output sequence length"),
    ("throughput", "output throughput (tok/s)"),
];

/// `None` if the text is not CSV with a measurement in its header.
fn of_csv(text: &str) -> Option<Vec<ParsedReport>> {
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let has_input = reader.headers().ok()?.iter().any(|name| name.eq_ignore_ascii_case("input"));
    let meant = |name: &str| {
        // Beside `input` it is a length.
        if has_input && name.eq_ignore_ascii_case("output") {
            return "output sequence length".to_owned();
        }
        let known = COLUMNS.iter().find(|(column, _)| column.eq_ignore_ascii_case(name));
        known.map_or(name, |(_, meant)| meant).to_owned()
    };
    let head: Vec<String> = reader.headers().ok()?.iter().map(meant).collect();
    let measures =
        |name: &String| matches!(super::name::of(name, Statistic::Named), super::Name::Measured { .. });
    if head.len() < 2 || !head.iter().any(measures) {
        return None;
    }
    let report = |row: csv::StringRecord| {
        let mut report = ParsedReport::default();
        for (name, value) in head.iter().zip(&row) {
            report.take_cell(name, value);
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
    fn a_list_of_reports_is_read_however_it_is_laid_out() {
        let list = r#"[{"max_concurrency": 8, "mean_tpot_ms": 16.5},
            {"max_concurrency": 16, "mean_tpot_ms": 17.5}]"#;
        assert_eq!(read(list).0, ["v=1&c=8&me=tpot-16.5", "v=1&me=tpot-17.5"]);
        let tokens = "1,\n".repeat(600_000);
        let detailed =
            format!("{{\n\"max_concurrency\": 8,\n\"itls\": [{tokens}1],\n\"mean_tpot_ms\": 16.5\n}}");
        assert_eq!(read(&detailed).0, ["v=1&c=8&me=tpot-16.5"]);
        let (one, other) = (r#"{"max_concurrency": 8, "mean_tpot_ms": 16.5}"#, r#"{"mean_tpot_ms": NaN}"#);
        assert_eq!(read(&format!("{one}\n{other}{one}")).0, ["v=1&c=8&me=tpot-16.5"]);
        let log = "[INFO] done\n[TRT-LLM] [I] Mean TPOT (ms): 16.5\nMean TPOT (ms): 16.5";
        assert_eq!(read(log).0, ["v=1&me=tpot-16.5"]);
        let columns = "concurrency,input_len,output_len,mean_tpot_ms\n8,2000,100,16.5\n";
        assert_eq!(read(columns).0, ["v=1&isl=2000&osl=100&c=8&me=tpot-16.5"]);
        let columns = "concurrency,input,output,mean_tpot_ms\n8,2000,100,16.5\n";
        assert_eq!(read(columns).0, ["v=1&isl=2000&osl=100&c=8&me=tpot-16.5"]);
    }

    #[test]
    fn requests_sent_at_once_are_not_held_back() {
        let base = link::decode("bn=64&mc=8").0.scenario;
        assert_eq!(base.workload.max_in_flight, Some(8));
        let report = r#"{"request_rate": "inf", "completed": 100, "mean_tpot_ms": 16.5}"#;
        let (found, issues) = runs(report, &base);
        assert_eq!(found[0].workload.max_in_flight, None, "{issues:?}");
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
    fn a_log_with_commas_before_the_table_is_no_csv() {
        let log = format!(
            "Namespace(backend='vllm', num_prompts=80, max_concurrency=8, request_rate=inf)\n\
             Maximum request concurrency: 8\n=== {TITLE} ===\nSuccessful requests: 80\nMean TPOT (ms): 16.5\n"
        );
        assert_eq!(read(&log).0, ["v=1&c=8&np=80&me=tpot-16.5"]);
    }

    #[test]
    fn a_run_of_another_model_is_set_aside_by_name() {
        let run =
            |model: &str| format!(r#"{{"model_id": "{model}", "max_concurrency": 32, "mean_tpot_ms": 18}}"#);
        let base = link::decode("m=qwen3-32b&c=32").0.scenario;
        let (found, issues) = runs(&run("meta-llama/Llama-3.1-8B-Instruct"), &base);
        assert!(found.is_empty() && issues[0].is_error(), "{issues:?}");
        assert!(issues[0].text.contains("`meta-llama/Llama-3.1-8B-Instruct`, not of Qwen/Qwen3-32B"));
        let several = format!("{}\n{}", run("meta-llama/Llama-3.1-8B-Instruct"), run("Qwen/Qwen3-32B-FP8"));
        let (found, issues) = runs(&several, &base);
        assert!(found.len() == 1 && issues.len() == 1 && !issues[0].is_error(), "{issues:?}");
        let (found, issues) = runs(&run("/models/ours"), &base);
        assert!(found.len() == 1 && issues[0].text.contains("`/models/ours`"), "{issues:?}");
        let record =
            r#"{"model": "openai/gpt-oss-120b", "conc": 1, "tput_per_gpu": 6.0, "mean_tpot": 0.054}"#;
        assert!(runs(record, &base).0.is_empty(), "also in other forms of report");
    }

    #[test]
    fn a_run_is_one_of_the_engine_that_it_names() {
        let run = |engine: &str| format!(r#"{{"backend": "{engine}", "mean_tpot_ms": 18}}"#);
        let of = |engine: &str, base: &str| {
            let (found, issues) = runs(&run(engine), &link::decode(base).0.scenario);
            (found[0].engine.clone(), issues.len())
        };
        assert_eq!(of("sglang-oai", ""), ("sglang".into(), 1));
        assert_eq!(of("tensorrt-llm", ""), ("trtllm".into(), 1));
        assert_eq!(of("vllm", "e=sglang"), ("sglang".into(), 1), "the client's name");
        assert_eq!(of("openai-chat", "e=sglang"), ("sglang".into(), 0));
        assert_eq!(of("vllm", ""), ("vllm".into(), 0));
    }

    #[test]
    fn one_run_in_any_form_is_compared_with_the_configuration() {
        let csv = "concurrency,isl,osl,mean_ttft_ms,mean_tpot_ms\n32,1024,512,n/a,20.1\n";
        let (found, issues) = read(csv);
        assert_eq!(found, ["v=1&c=32&me=tpot-20.1"]);
        assert!(issues.len() == 1 && issues[0].text.contains("32 concurrent requests"), "{issues:?}");
        let saved = given::print(&runs(csv, &Scenario::default()).0);
        assert_eq!(read(&saved), (found, Vec::new()));
    }

    #[test]
    fn a_cell_that_is_no_number_is_named() {
        let (found, issues) = read("concurrency,mean_ttft_ms,mean_tpot_ms\n16,x,20.1\n");
        assert_eq!(found, ["v=1&me=tpot-20.1"]);
        assert!(issues.len() == 1 && issues[0].text.contains("`mean_ttft_ms`: `x`"), "{issues:?}");
    }

    #[test]
    fn sglangs_random_lengths_are_lengths() {
        let given = r#"{"random_input_len": 4096, "random_output_len": 512, "mean_tpot_ms": 18}"#;
        assert_eq!(read(given).0, ["v=1&isl=4096&me=tpot-18"]);
        let of = |more: &str| read(&given.replace('{', &format!("{{{more}, "))).0;
        assert_eq!(of(r#""random_range_ratio": 0.5"#), ["v=1&isl=3072&osl=384&me=tpot-18"]);
        let totals = r#""completed": 10, "total_input_tokens": 20000, "total_output_tokens": 5120"#;
        assert_eq!(of(totals), ["v=1&isl=2000&np=10&me=tpot-18"], "what was sent counts first");
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
