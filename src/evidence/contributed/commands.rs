//! Checks that a contributed run's commands agree with its scenario.

use crate::config::command::{self, CHANGES_RESULTS};
use crate::config::link::Link;
use crate::config::{Field, Issue, Scenario, Severity};

/// Inputs determined by the command that starts the server.
const OF_LAUNCH: [Field; 13] = [
    Field::Model,
    Field::Engine,
    Field::Weights,
    Field::Kv,
    Field::Tp,
    Field::Pp,
    Field::Dp,
    Field::Ep,
    Field::Gpus,
    Field::Drafted,
    Field::TokenBudget,
    Field::MaxSeqs,
    Field::MemoryShare,
];

/// Inputs determined by the command that loads it.
const OF_BENCHMARK: [Field; 14] = [
    Field::Isl,
    Field::Osl,
    Field::Spread,
    Field::LogSpread,
    Field::Shape,
    Field::CachedShare,
    Field::Concurrency,
    Field::Rate,
    Field::ConstantRate,
    Field::Burstiness,
    Field::Burst,
    Field::Offline,
    Field::MaxInFlight,
    Field::Requests,
];

/// Disagreements of the launch command, and what cannot be read.
pub fn launch(text: &str, scenario: &Scenario) -> Vec<Issue> {
    let Some((started, issues)) = command::read(text, scenario) else {
        let wanted = "`launch` starts no known engine: give the whole command, such as `vllm serve Qwen/Qwen3-32B \
            -tp 2`";
        return vec![Issue::error(Field::Runs, wanted)];
    };
    found(("launch", &OF_LAUNCH), started.as_ref(), issues, scenario)
}

/// Disagreements of the benchmark command, and what cannot be read.
pub fn benchmark(text: &str, scenario: &Scenario) -> Vec<Issue> {
    let Some((loaded, issues)) = command::read_load(text, scenario) else {
        let unread = "`benchmark` is not compared with `scenario`: only `vllm bench serve`, `vllm bench throughput` \
            and `sglang.bench_serving` are read";
        return vec![Issue::warning(Field::Runs, unread)];
    };
    found(("benchmark", &OF_BENCHMARK), Some(&loaded), issues, scenario)
}

fn found(
    (command, fields): (&str, &[Field]),
    said: Option<&Scenario>,
    issues: Vec<Issue>,
    scenario: &Scenario,
) -> Vec<Issue> {
    let of_command = |issue: Issue| {
        // A prediction may leave such an argument out, a run to learn from may not.
        let severity = match issue.text.starts_with(CHANGES_RESULTS) {
            true => Severity::Error,
            false => issue.severity,
        };
        Issue { text: format!("`{command}`: {}", issue.text), severity, ..issue }
    };
    let read = issues.into_iter().filter(|issue| issue.severity != Severity::Note).map(of_command);
    let compared = |field: &Field, said: &Scenario| {
        let said = value(*field, said);
        // Replicas may have been started one by one.
        let is_said = *field != Field::Gpus || said.is_some();
        is_said.then(|| difference(*field, scenario, command, &said)).flatten()
    };
    let differ = said.into_iter().flat_map(|said| fields.iter().filter_map(|field| compared(field, said)));
    read.chain(differ).collect()
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
