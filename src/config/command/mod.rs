//! Commands that start an engine, as scenarios: `vllm serve MODEL -tp 4`, `python -m sglang.launch_server ...`,
//! `trtllm-serve ...`, inside `docker run`, a compose file or a Kubernetes manifest.

mod apply;
mod find;
mod flags;
mod settings;
#[cfg(test)]
mod tests;
mod yaml;

use super::{Field, Issue, Scenario};

pub use flags::{Flag, flags};
pub use settings::{Setting, setting};

/// What the command in `text` starts, put in the place of what `onto` says of model and engine; workload and GPU stay.
/// What is not understood of it is listed in a warning.
///
/// `None` if the text holds no command that starts a known engine. Without a scenario the issues hold an error.
pub fn read(text: &str, onto: &Scenario) -> Option<(Option<Scenario>, Vec<Issue>)> {
    let found = match find::launch(text) {
        Ok(found) => found?,
        Err(fault) => return Some((None, vec![Issue::error(Field::Link, fault)])),
    };
    let (scenario, issues) = apply::apply(&found, onto.clone());
    let sound = !issues.iter().any(Issue::is_error);
    Some((sound.then_some(scenario), issues))
}
