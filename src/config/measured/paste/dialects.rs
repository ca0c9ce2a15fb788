//! Reports that nest their numbers, or use names whose meaning depends on the tool.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::name::{self, Statistic};
use super::{Field, Issue, Metric, ParsedReport};

#[derive(Debug, Deserialize)]
pub struct Dialect {
    /// A key that identifies the report.
    mark: String,
    /// The path of a number or a text, and its name in [`super::name`] or [`ParsedReport::take_name`].
    numbers: Vec<(String, String, Statistic)>,
    /// The note on TPOT if it is computed from the means, because some versions report unreliable times between tokens.
    of_means: Option<String>,
    /// Measurements are at the report's top level, under their own names.
    #[serde(default)]
    flat: bool,
}

/// The reports in a value: one, or one per rate in a GuideLLM file.
pub fn reports(value: &Value) -> Vec<ParsedReport> {
    match &value["benchmarks"] {
        Value::Array(all) => all.iter().map(report).collect(),
        _ => vec![report(value)],
    }
}

fn report(object: &Value) -> ParsedReport {
    let mut report = ParsedReport::default();
    // InferenceX nests its numbers one level deeper in its database.
    let inner = object.get("metrics").filter(|inner| inner.get("tput_per_gpu").is_some());
    let object = &inner.map_or(Cow::Borrowed(object), |inner| Cow::Owned(merged(object, inner)));
    let Some(dialect) =
        name::reports().dialects.iter().find(|dialect| object.pointer(&dialect.mark).is_some())
    else {
        report.take_all(object);
        return report;
    };
    if dialect.flat {
        report.take_all(object);
    }
    for (name, value) in object.as_object().into_iter().flatten() {
        value.as_str().into_iter().for_each(|text| report.take_name(name, text));
    }
    for (place, name, statistic) in &dialect.numbers {
        let Some(value) = object.pointer(place) else { continue };
        value.as_str().into_iter().for_each(|text| report.take_name(name, text));
        if let Some(number) = value.as_f64().filter(|number| *number > 0.0) {
            report.take(name, *statistic, number);
        }
    }
    per_system(object, &mut report);
    if let Some(note) = &dialect.of_means
        && report.take_tpot_of_means()
    {
        report.issues.push(Issue::note(Field::Measured, note));
    }
    report
}

/// The object merged with another's entries, which take precedence.
fn merged(object: &Value, above: &Value) -> Value {
    let mut all = object.as_object().cloned().unwrap_or_default();
    all.extend(above.as_object().cloned().unwrap_or_default());
    Value::Object(all)
}

/// InferenceX gives rates per GPU, and the number of GPUs.
fn per_system(object: &Value, report: &mut ParsedReport) {
    let number = |name: &str| object[name].as_f64().filter(|number| *number > 0.0);
    let (Some(total), Some(output)) = (number("tput_per_gpu"), number("output_tput_per_gpu")) else { return };
    let pools =
        number("num_prefill_gpu").zip(number("num_decode_gpu")).map(|(prefill, decode)| prefill + decode);
    let is_split = object["disagg"].as_bool().unwrap_or(false) || object["disagg"] == "true";
    let gpus = if is_split { pools } else { number("tp") };
    match gpus {
        Some(gpus) => {
            report.take("output throughput", Statistic::Named, output * gpus);
            report.take("total throughput", Statistic::Named, total * gpus);
        }
        None => {
            let text = "`tput_per_gpu` ignored: the number of GPUs is not given";
            report.issues.push(Issue::warning(Field::Measured, text));
        }
    }
}

impl ParsedReport {
    /// Sets TPOT from E2E, TTFT and output length; false if one of them is unknown.
    fn take_tpot_of_means(&mut self) -> bool {
        let mean = |metric: Metric| self.measured.of(metric).mean;
        let known = mean(Metric::E2e).zip(mean(Metric::Ttft)).zip(self.stated.output());
        let Some(((e2e, ttft), output)) = known.filter(|((e2e, ttft), output)| e2e > ttft && *output > 1.0)
        else {
            return false;
        };
        self.take("TPOT (ms)", Statistic::Mean, (e2e - ttft) / (output - 1.0));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs;
    use crate::config::{Scenario, link};

    /// What differs from the defaults, for each run.
    fn read(text: &str) -> Vec<String> {
        let (found, issues) = runs(text, &Scenario::default());
        assert!(!issues.iter().any(crate::config::Issue::is_error), "{issues:?}");
        found.iter().map(link::encode).collect()
    }

    #[test]
    fn guidellm_has_a_run_for_each_rate_and_counts_the_first_token() {
        // E2E 2.2 s, TTFT 200 ms, OSL 101: 20 ms per token, which GuideLLM reports as 21.782.
        let benchmark = |streams: u32| {
            format!(
                r#"{{"config": {{"strategy": {{"type_": "concurrent", "streams": {streams}}}}}, "metrics": {{
                "request_totals": {{"successful": 100, "errored": 0}},
                "request_latency": {{"successful": {{"mean": 2.2, "median": 2.1}}}},
                "time_to_first_token_ms": {{"successful": {{"mean": 200.0, "median": 190.0}}}},
                "time_per_output_token_ms": {{"successful": {{"mean": 21.782}}}},
                "prompt_token_count": {{"successful": {{"mean": 1024.0}}}},
                "output_token_count": {{"successful": {{"mean": 101.0}}}},
                "output_tokens_per_second": {{"successful": {{"mean": 400.0}}}}}}}}"#
            )
        };
        let found = read(&format!(r#"{{"benchmarks": [{}, {}]}}"#, benchmark(8), benchmark(16)));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("v=1&osl=101&c=8&me="), "{found:?}");
        let strategy = |of: &str| {
            let one = benchmark(8).replace(r#""concurrent", "streams": 8"#, of);
            read(&format!(r#"{{"benchmarks": [{one}]}}"#)).remove(0)
        };
        assert!(strategy(r#""synchronous""#).starts_with("v=1&osl=101&c=1&me="));
        assert!(strategy(r#""throughput""#).starts_with("v=1&osl=101&bn=100&me="));
        assert!(strategy(r#""constant", "rate": 4.0"#).starts_with("v=1&osl=101&rc=4&np=100&me="));
        assert!(found.iter().all(|run| run.contains("tpot-20") && run.contains("ttft-200")), "{found:?}");
    }

    #[test]
    fn inference_perf_is_in_seconds() {
        let found = read(
            r#"{"load_summary": {"requested_rate": 4.0}, "failures": {"count": 0}, "successes": {"count": 480, "latency": {
            "request_latency": {"mean": 2.2, "median": 2.1}, "time_to_first_token": {"mean": 0.2, "median": 0.19},
            "time_per_output_token": {"mean": 0.01}}, "throughput": {"requests_per_sec": 4.0, "output_tokens_per_sec": 404.0},
            "prompt_len": {"mean": 1024.0}, "output_len": {"mean": 101.0}}}"#,
        );
        assert!(
            found[0].contains("r=4") && found[0].contains("tpot-20") && found[0].contains("throughput-404"),
            "{found:?}"
        );
    }

    #[test]
    fn trtllm_bench_is_read_from_its_report() {
        let found = read(
            r#"{"engine": {"model": "m"}, "request_info": {"num_requests": 100, "avg_input_length": 1024, "avg_output_length": 101},
            "performance": {"avg_request_latency_ms": 2200.0, "system_output_throughput_tok_s": 400.0, "request_throughput_req_s": 3.96},
            "streaming_metrics": {"avg_ttft_ms": 200.0, "avg_tpot_ms": 20.0, "tpot_percentiles": {"p50": 19.5}}}"#,
        );
        assert!(found[0].contains("tpot-20") && found[0].contains("ttft-200"), "{found:?}");
    }

    #[test]
    fn inferencex_is_per_gpu_and_in_seconds() {
        let found = read(
            r#"{"conc": 16, "isl": 1024, "osl": 1024, "tp": 8, "disagg": "false", "tput_per_gpu": 260.0,
            "output_tput_per_gpu": 130.0, "mean_ttft": 2.84, "mean_tpot": 0.12, "median_tpot": 0.118}"#,
        );
        assert!(found[0].contains("throughput-1040") && found[0].contains("tpot-120"), "{found:?}");
        let nested = read(
            r#"{"conc": 1, "isl": 1024, "osl": 1024, "tp": 8, "disagg": false,
            "metrics": {"tput_per_gpu": 6.0, "output_tput_per_gpu": 3.0, "mean_ttft": 0.166, "mean_tpot": 0.054}}"#,
        );
        assert!(nested[0].contains("throughput-24") && nested[0].contains("ttft-166"), "{nested:?}");
    }
}
