//! Separate prefill workers: each is a setup like a replica's, checked by the same rules.

use super::resolve;
use crate::config::catalog::Catalog;
use crate::config::{Field, Issue, Load, Overrides, Prefill, PrefillPool, Scenario};

/// Replica inputs and the worker inputs that replace them.
const INSTEAD: [(Field, Field); 8] = [
    (Field::Gpu, Field::PrefillGpu),
    (Field::Gpus, Field::PrefillWorkers),
    (Field::Tp, Field::PrefillTp),
    (Field::Pp, Field::PrefillPp),
    (Field::Dp, Field::PrefillDp),
    (Field::Ep, Field::PrefillEp),
    (Field::TokenBudget, Field::PrefillBudget),
    (Field::Price, Field::PrefillPrice),
];

/// The prefill worker's input that corresponds to a replica's.
pub fn instead(field: Field) -> Option<Field> {
    INSTEAD.iter().find(|(own, _)| *own == field).map(|(_, other)| *other)
}

/// Inputs of prefill workers that have no effect, as there are none, or none on a GPU of their own.
pub fn unused(scenario: &Scenario, issues: &mut Vec<Issue>) {
    let Prefill { workers, gpu, .. } = &scenario.prefill;
    let others = INSTEAD.iter().map(|(_, field)| *field).chain([Field::SendRate, Field::SendTime]);
    let given = |field: &Field| match field {
        Field::PrefillGpu => *workers == 0 && gpu.is_some(),
        _ => field.input().is_unused(scenario),
    };
    issues.extend(others.filter(given).filter_map(|field| {
        let why = match (*workers, field) {
            (0, _) => "without prefill workers",
            (_, Field::PrefillPrice) => "while the prefill workers are on the replicas' GPU, at its price",
            // The model rules it out, which is an issue of its own.
            _ => return None,
        };
        Some(Issue::warning(field, format!("{} has no effect {why}", field.input().label)))
    }));
}

/// The prefill workers; `None` if there are none or they are refused. Issues specific to them are added to
/// `issues`.
pub fn pool(scenario: &Scenario, catalog: &Catalog, issues: &mut Vec<Issue>) -> Option<Box<PrefillPool>> {
    let Prefill { workers, gpu, parallel, token_budget, price, send_gb_per_s, send_us } = &scenario.prefill;
    if !scenario.has_pools() {
        return None;
    }
    let own = |issue: &Issue| INSTEAD.iter().any(|(_, field)| *field == issue.field);
    if issues.iter().any(|issue| issue.is_error() && own(issue)) {
        return None;
    }
    if matches!(scenario.workload.load, Load::Batch(_) | Load::Offline(_)) {
        let text = "prefill and decode workers need a server: choose a load other than a static batch or an offline \
            queue";
        issues.push(Issue::error(Field::PrefillWorkers, text));
        return None;
    }
    let same = gpu.as_ref().is_none_or(|gpu| *gpu == scenario.gpu);
    let given = &scenario.overrides;
    let mut worker = Scenario {
        parallel: *parallel,
        replicas: *workers,
        prefill: Prefill::default(),
        overrides: Overrides {
            token_budget: token_budget.or(given.token_budget),
            max_seqs: None,
            ..given.clone()
        },
        ..scenario.clone()
    };
    if let Some(gpu) = gpu.as_ref().filter(|_| !same) {
        worker.put_on(gpu);
        worker.overrides.price = *price;
    }
    let mut found = Vec::new();
    let setup = resolve(&worker, catalog, &mut found);
    let sound = !found.iter().any(Issue::is_error);
    for issue in found {
        match instead(issue.field) {
            // If both pools use the same GPU type, report its shortcomings once.
            Some(field) if issue.field != Field::Gpu || !same => {
                issues.push(Issue { field, text: format!("prefill workers: {}", issue.text), ..issue });
            }
            _ if !issues.iter().any(|known| known.field == issue.field && known.text == issue.text) => {
                issues.push(Issue { text: format!("prefill workers: {}", issue.text), ..issue });
            }
            _ => {}
        }
    }
    let setup = setup.filter(|_| sound)?.of_prompts();
    Some(Box::new(PrefillPool { setup, send_gb_per_s: *send_gb_per_s, send_us: *send_us }))
}
