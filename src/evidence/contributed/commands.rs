//! Checks that a contributed run's commands agree with its scenario.

use crate::config::command::{self, CHANGES_RESULTS};
use crate::config::inputs::{Input, in_links};
use crate::config::link::Link;
use crate::config::{Field, Issue, Scenario, Severity};

/// Disagreements of the launch command, and what cannot be read.
pub fn launch(text: &str, scenario: &Scenario) -> Vec<Issue> {
    let Some((started, issues)) = command::read(text, scenario) else {
        let wanted = "`launch` starts no known engine: give the whole command, such as `vllm serve Qwen/Qwen3-32B \
            -tp 2`";
        return vec![Issue::error(Field::Runs, wanted)];
    };
    found("launch", started.as_ref(), issues, scenario)
}

/// Disagreements of the benchmark command, and what cannot be read.
pub fn benchmark(text: &str, scenario: &Scenario) -> Vec<Issue> {
    let Some((loaded, issues)) = command::read_load(text, scenario) else {
        let unread = "`benchmark` is not compared with `scenario`: only `vllm bench serve`, `vllm bench throughput` \
            and `sglang.bench_serving` are read";
        return vec![Issue::warning(Field::Runs, unread)];
    };
    found("benchmark", Some(&loaded), issues, scenario)
}

/// Compares every input: a command is read onto the scenario, which keeps what the command does not determine.
fn found(command: &str, said: Option<&Scenario>, issues: Vec<Issue>, scenario: &Scenario) -> Vec<Issue> {
    let of_command = |issue: Issue| {
        // A prediction may leave such an argument out, a run to learn from may not.
        let severity = match issue.text.starts_with(CHANGES_RESULTS) {
            true => Severity::Error,
            false => issue.severity,
        };
        Issue { text: format!("`{command}`: {}", issue.text), severity, ..issue }
    };
    let read = issues.into_iter().filter(|issue| issue.severity != Severity::Note).map(of_command);
    // A benchmark's limits count requests and change none; runs of pools are not learned from.
    let said = said.cloned().map(|mut said| {
        (said.workload.slos, said.prefill) = (scenario.workload.slos, scenario.prefill.clone());
        explicit(said)
    });
    let own = explicit(scenario.clone());
    let differ =
        said.iter().flat_map(|said| in_links().filter_map(|input| difference(input, command, said, &own)));
    read.chain(differ).collect()
}

/// With the weight format, also where it is the published one.
fn explicit(scenario: Scenario) -> Link {
    Link::new(Scenario { weights: scenario.weights_format(), ..scenario })
}

fn difference(input: &Input, command: &str, said: &Link, own: &Link) -> Option<Issue> {
    let [said, own] = [said, own].map(|link| input.get(link));
    // Replicas may have been started one by one.
    if input.aside || said == own || input.field == Field::Gpus && said.is_none() {
        return None;
    }
    let shown = |value: Option<String>| value.map_or("nothing".to_owned(), |text| format!("`{text}`"));
    let text = format!(
        "`{}`: `{command}` says {}, `scenario` {}: make them agree",
        input.field.id(),
        shown(said),
        shown(own)
    );
    Some(Issue::error(input.field, text))
}
