//! Checks that a contributed run's commands agree with its scenario.

use crate::config::command::{self, flags};
use crate::config::link::Link;
use crate::config::{Field, Issue, Load, Scenario, Severity};
use crate::units::decimal;

/// Inputs determined by the launch command.
const OF_LAUNCH: [Field; 11] = [
    Field::Model,
    Field::Engine,
    Field::Weights,
    Field::Kv,
    Field::Tp,
    Field::Pp,
    Field::Dp,
    Field::Ep,
    Field::TokenBudget,
    Field::MaxSeqs,
    Field::MemoryShare,
];

/// Options of vLLM's and SGLang's benchmark clients, and their inputs.
const OF_BENCHMARK: [(&str, Field); 9] = [
    ("max_concurrency", Field::Concurrency),
    ("request_rate", Field::Rate),
    ("num_prompts", Field::Requests),
    ("num_prompt", Field::Requests),
    ("input_len", Field::Isl),
    ("output_len", Field::Osl),
    ("random_input_len", Field::Isl),
    ("random_output_len", Field::Osl),
    ("burstiness", Field::Burstiness),
];

/// Disagreements of the launch command, and what cannot be read.
pub fn launch(text: &str, scenario: &Scenario) -> Vec<Issue> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let Some((started, issues)) = command::read(text, scenario) else {
        let wanted = "`launch` starts no known engine: give the whole command, such as `vllm serve Qwen/Qwen3-32B \
            -tp 2`";
        return vec![Issue::error(Field::Runs, wanted)];
    };
    let of_launch = |issue: Issue| Issue { text: format!("`launch`: {}", issue.text), ..issue };
    let mut found: Vec<Issue> =
        issues.into_iter().filter(|issue| issue.severity != Severity::Note).map(of_launch).collect();
    if let Some(started) = started {
        found.extend(
            OF_LAUNCH
                .iter()
                .filter_map(|field| difference(*field, scenario, "launch", &value(*field, &started))),
        );
    }
    found
}

/// Disagreements of the benchmark command.
pub fn benchmark(text: &str, scenario: &Scenario) -> Vec<Issue> {
    let given = flags(&text.replace("\\\n", " "));
    let of_field = |(name, field): &(&str, Field)| {
        let flag = given.iter().find(|flag| flag.name == *name)?;
        // `inf` means all at once, or as many as there are clients.
        let number = flag.number().filter(|number| number.is_finite())?;
        let field = match (*field, scenario.workload.load) {
            (Field::Rate, Load::ConstantRate(_)) => Field::ConstantRate,
            (Field::Requests, Load::Offline(_)) => Field::Offline,
            (field, _) => field,
        };
        difference(field, scenario, "benchmark", &Some(decimal(number)))
    };
    OF_BENCHMARK.iter().filter_map(of_field).collect()
}

/// As written in a link; the weight format is always explicit.
fn value(field: Field, scenario: &Scenario) -> Option<String> {
    let mut scenario = scenario.clone();
    if field == Field::Weights {
        scenario.weights = scenario.weights_format();
    }
    field.input().get(&Link::new(scenario))
}

fn difference(field: Field, scenario: &Scenario, command: &str, said: &Option<String>) -> Option<Issue> {
    let own = value(field, scenario);
    let shown =
        |value: &Option<String>| value.as_ref().map_or("nothing".to_owned(), |text| format!("`{text}`"));
    let text = || {
        format!(
            "`{}`: `{command}` says {}, `scenario` {}: make them agree",
            field.id(),
            shown(said),
            shown(&own)
        )
    };
    (own != *said).then(|| Issue::error(field, text()))
}
