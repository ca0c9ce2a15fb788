//! Commands that start an engine, as scenarios: `vllm serve MODEL -tp 4`, `python -m sglang.launch_server ...`,
//! `trtllm-serve ...`, inside `docker run`, a compose file or a Kubernetes manifest.

mod apply;
mod benchmark;
mod find;
mod flags;
mod formats;
mod graphs;
mod launches;
mod manifest;
mod options;
mod options_file;
mod pools;
mod ranks;
mod shell;
#[cfg(test)]
mod tests;
mod variables;
mod yaml;

use super::catalog::catalog;
use super::{Field, Issue, ModelChoice, Scenario};

pub use apply::CHANGES_RESULTS;
pub use flags::{Flag, flags};
pub use launches::{DataParallel, EngineLaunch, HostCacheUnit, Launches, launches};
pub use options::{Program, Setting, setting, written_for};

/// Programs that start other engines: Text Generation Inference, llama.cpp, Ollama, LMDeploy and MLC.
const FOREIGN: [&str; 5] = ["text-generation-launcher", "llama-server", "ollama", "lmdeploy", "mlc_llm"];

/// Reads the command in `text` into `onto`, replacing model and engine; workload and GPU stay. Arguments that are
/// not recognised are listed in a warning.
///
/// `None` if the text has no command that starts a known engine. If there is no scenario, the issues hold an error.
pub fn read(text: &str, onto: &Scenario) -> Option<(Option<Scenario>, Vec<Issue>)> {
    read_with(text, onto, None)
}

/// Reads a command like [`read`], with `model` in place of the one that the command names.
pub fn read_with(
    text: &str,
    onto: &Scenario,
    model: Option<&ModelChoice>,
) -> Option<(Option<Scenario>, Vec<Issue>)> {
    let launches = pools::launches(text);
    let (found, prefill) =
        match launches.and_then(|(found, prefill)| Ok((yaml::served(text, found)?, prefill))) {
            Ok((Some(found), prefill)) => (found, prefill),
            Ok((None, _)) => return Some((None, vec![Issue::error(Field::Link, foreign(text)?)])),
            Err(fault) => return Some((None, vec![Issue::error(Field::Link, fault)])),
        };
    let (scenario, mut issues) = match prefill {
        Some(prefill) => pools::apply_both(&found, &prefill, onto, model),
        None => apply::apply(&found, onto.clone(), model),
    };
    issues.extend(other_version(text, found.engine));
    let sound = !issues.iter().any(Issue::is_error);
    Some((sound.then_some(scenario), issues))
}

/// Reads the load that a benchmark's command in `text` sends into `onto`. `None` if it has none whose load is read.
pub fn read_load(text: &str, onto: &Scenario) -> Option<(Scenario, Vec<Issue>)> {
    let (client, arguments) = find::bench(text)?;
    Some(apply::loaded(client, &arguments, onto.clone()))
}

/// Why a text is not read, if it starts another engine.
fn foreign(text: &str) -> Option<String> {
    let names =
        |program: &&&str| text.split_whitespace().any(|word| word.rsplit('/').next() == Some(program));
    let program = FOREIGN.iter().find(names)?;
    Some(format!(
        "`{program}` starts an engine that is not covered: choose vLLM, SGLang or TensorRT-LLM, and give the model"
    ))
}

/// A note if the engine's image is of another version than the one predicted.
fn other_version(text: &str, engine: &str) -> Option<Issue> {
    let (named, record) = (find::version(text, engine)?, catalog().engine(engine)?);
    let ours = record.version.to_string();
    (named != ours).then(|| {
        let text = format!("the image is of {} {named}; the prediction is for {ours}", record.name);
        Issue::note(Field::Engine, text)
    })
}
