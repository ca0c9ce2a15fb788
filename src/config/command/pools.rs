//! Dynamo's deployments, whose services are the pools of prefill and decode workers.

use super::apply::apply;
use super::find::{LaunchCommand, launch};
use super::launches::launches as records;
use super::yaml::uncommented;
use crate::config::{Issue, ModelChoice, Prefill, Scenario};

/// The launch that a text describes, and that of its prefill workers, if it has them apart.
pub fn launches(text: &str) -> Result<(Option<LaunchCommand>, Option<LaunchCommand>), String> {
    if !text.contains("DynamoGraphDeployment") {
        return Ok((launch(text)?, None));
    }
    let (mut decode, mut prefill) = (Vec::new(), Vec::new());
    for service in services(text) {
        let Some(found) = launch(&service)? else { continue };
        match found.arguments.iter().any(|word| word == "prefill") {
            true => prefill.push(found),
            false => decode.push(found),
        }
    }
    let others = (decode.len() + prefill.len().saturating_sub(1)).saturating_sub(1);
    let mut all = decode.into_iter().take(1).chain(prefill.into_iter().take(1));
    let first = all.next().map(|first| LaunchCommand { others, ..first });
    Ok((first, all.next()))
}

/// The services, each a manifest of its own: replicas and GPUs are the service's.
fn services(text: &str) -> Vec<String> {
    let (mut all, mut outer) = (Vec::<String>::new(), None);
    let lines = text.lines().filter(|line| !uncommented(line).trim().is_empty());
    for line in lines.skip_while(|line| uncommented(line).trim() != "services:").skip(1) {
        let indent = line.len() - line.trim_start().len();
        if indent <= *outer.get_or_insert(indent) {
            all.push(String::new());
        }
        if let Some(service) = all.last_mut() {
            *service += line;
            service.push('\n');
        }
    }
    all
}

/// A scenario of decode and prefill workers.
pub fn apply_both(
    decode: &LaunchCommand,
    prefill: &LaunchCommand,
    onto: &Scenario,
    own: Option<&ModelChoice>,
) -> (Scenario, Vec<Issue>) {
    // All workers are given, so none are asked for.
    let onto = Scenario { replicas: 1, prefill: Prefill::default(), ..onto.clone() };
    let (mut scenario, mut issues) = apply(&pooled(decode), onto.clone(), own);
    let (workers, others) = apply(&pooled(prefill), onto, own);
    let budget = workers.overrides.token_budget;
    scenario.prefill = Prefill {
        workers: workers.replicas,
        parallel: workers.parallel,
        token_budget: budget.filter(|_| budget != scenario.overrides.token_budget),
        gpu: Some(workers.gpu).filter(|gpu| *gpu != scenario.gpu),
        ..Prefill::default()
    };
    for issue in others {
        if !issues.contains(&issue) {
            issues.push(issue);
        }
    }
    (scenario, issues)
}

/// A worker's launch without the flags that make it one of a pool.
fn pooled(launch: &LaunchCommand) -> LaunchCommand {
    let mut launch = launch.clone();
    let of = records().of(launch.engine).and_then(|of| of.dynamo.as_ref());
    let transfer = of.and_then(|of| of.transfer.first()).map_or("", String::as_str);
    for flag in ["--disaggregation-mode", transfer] {
        if let Some(at) = launch.arguments.iter().position(|word| word == flag) {
            launch.arguments.drain(at..launch.arguments.len().min(at + 2));
        }
    }
    launch
}
