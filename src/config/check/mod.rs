//! Resolves a scenario against the catalogs, or reports everything that is wrong with it.

mod formats;
mod images;
mod kernels;
mod lookup;
mod parallel;
mod pools;
mod requests;
mod settings;
mod workload;

pub use formats::{KV as KV_FORMATS, of_weights as weight_formats};
pub(super) use formats::{kv as check_kv, weights as check_weights};
pub(crate) use lookup::{engine as check_engine, gpu as check_gpu};
pub use pools::instead as of_workers;
pub use workload::{MAX_BINS, MAX_LENGTHS, MAX_OF_SESSIONS};

use super::catalog::Catalog;
use super::inputs::check_ranges;
use super::{Engine, Field, Figure, Gpu, Issue, Load, MissingFigure, STATE_BYTES, Scenario, Setup, Workload};

/// Resolves ids and checks all ranges and constraints. Returns all findings at once, each with its field; there is
/// a setup only if none is an error.
pub fn check(scenario: &Scenario, catalog: &Catalog) -> (Option<Setup>, Vec<Issue>) {
    let mut issues = Vec::new();
    let setup = resolve(scenario, catalog, &mut issues);
    pools::unused(scenario, &mut issues);
    let prefill = pools::pool(scenario, catalog, &mut issues);
    let setup = setup.map(|setup| Setup { prefill, ..setup });
    let sound = !issues.iter().any(Issue::is_error);
    (setup.filter(|_| sound), issues)
}

fn resolve(scenario: &Scenario, catalog: &Catalog, issues: &mut Vec<Issue>) -> Option<Setup> {
    let Scenario { parallel, replicas, kv, .. } = *scenario;
    let model = lookup::model(&scenario.model, catalog, issues);
    let gpu = lookup::gpu(&scenario.gpu, catalog, issues);
    issues.extend(gpu.into_iter().flat_map(|gpu| scenario.spec.issues(gpu)));
    let gpu = gpu.map(|gpu| scenario.spec.apply(gpu));
    let gpu = gpu.as_deref();
    let engine = lookup::engine(&scenario.engine, catalog, issues);
    issues.extend(check_ranges(scenario));
    let out_of_range = |issue: &Issue| parallel::FIELDS.contains(&issue.field);
    let degrees_are_sane = !issues.iter().any(out_of_range);
    let applied = workload::applied(&scenario.workload, issues);
    requests::check(scenario, issues);

    let weights = scenario.weights.or(model.map(|model| model.weights));
    if let Some(gpu) = gpu {
        missing_gpu_figures(gpu, issues);
        if !is_served(gpu, catalog, issues) {
            return None;
        }
        formats::kv(kv, gpu, issues);
        // With prefill workers, those keep the histories.
        if !scenario.has_pools() {
            requests::host_cache(gpu, &scenario.workload, issues);
        }
        if degrees_are_sane {
            parallel::links(gpu, parallel, issues);
        }
        if let (Some(weights), Some(model)) = (weights, model) {
            let rules = engine.map(|engine| (&*engine.name, &*engine.weight_rules));
            formats::weights(weights, model, gpu, rules, issues);
        }
    }
    if let Some(model) = model {
        let notes = model.notes_in(weights.unwrap_or(model.weights));
        issues.extend(notes.map(|note| Issue::warning(Field::Model, note)));
        requests::drafts_of(model, &scenario.workload, issues);
        if degrees_are_sane {
            parallel::fits_model(model, parallel, issues);
            weights.into_iter().for_each(|weights| formats::blocks_divide(weights, model, parallel, issues));
            if model.has_experts() {
                engine.into_iter().for_each(|engine| parallel::fits_engine(engine, parallel, issues));
            }
        }
        if let Some(workload) = &applied {
            workload::fits_context(workload, model, issues);
        }
    }
    let (images, image_tokens) = model.map_or((0, 0), |model| {
        let prompts = applied.as_ref().map_or(&[][..], |workload| workload.isl.each());
        images::images(model, applied.as_ref().unwrap_or(&scenario.workload), prompts, issues)
    });
    let (gpu, engine) = (gpu?, engine?);
    kernels::served(engine, gpu, model, catalog, issues);
    missing_engine_figures(engine, issues);
    let given = match scenario.workload.load {
        Load::Batch(_) => settings::unscheduled(&scenario.overrides, issues),
        _ => scenario.overrides.clone(),
    };
    let settings = settings::settings(&given, (engine, &parallel, scenario.usage()), gpu, issues);
    let (model, applied, weights, settings) = (model?, applied?, weights?, settings?);
    let engine = &engine.running(model);
    let formats = engine.formats_of(model, weights, gpu.arch);
    kernels::measured(engine, gpu, model, &formats, parallel.ep, issues);
    let longest = applied.longest(model.max_context);
    let workload = Workload { images, slos: workload::limits(applied.slos, &longest, issues), ..applied };
    let setup = Setup {
        model: model.clone(),
        gpu: gpu.clone(),
        engine: match scenario.workload.load {
            Load::Offline(_) | Load::Batch(_) => engine.without_server(),
            _ => engine.clone(),
        },
        parallel,
        replicas,
        prefill: None,
        weights,
        formats,
        kv,
        state_bytes: STATE_BYTES,
        workload,
        image_tokens,
        token_budget: settings.token_budget,
        max_seqs: settings.max_seqs,
        memory_share: settings.memory_share,
        largest_graph: settings.largest_graph,
        sustained: settings.sustained,
        power_cap: settings.power_cap,
        power_overhead: scenario.overrides.power_overhead.unwrap_or(1.0),
        price: settings.price,
    };
    // With prefill workers, prompts are theirs to compute.
    workload::fits_budget(if scenario.has_pools() { &[] } else { &longest }, &setup, issues);
    Some(setup)
}

/// Whether the model's heads, columns, experts and blocks of weights divide by the setup's degrees, which its engine can
/// start.
pub fn divides(setup: &Setup) -> bool {
    let Setup { model, engine, parallel, weights, .. } = setup;
    let mut issues = Vec::new();
    parallel::fits_model(model, *parallel, &mut issues);
    if model.has_experts() {
        parallel::fits_engine(engine, *parallel, &mut issues);
    }
    formats::blocks_divide(*weights, model, *parallel, &mut issues);
    issues.is_empty()
}

/// Whether some engine has kernels for this GPU; says which of them were measured on its architecture, if not all.
fn is_served(gpu: &Gpu, catalog: &Catalog, issues: &mut Vec<Issue>) -> bool {
    if !catalog.is_served(gpu) {
        let text = format!("no engine has known kernels for {}: choose another GPU", gpu.name);
        issues.push(Issue::error(Field::Gpu, text));
        return false;
    }
    if !gpu.arch.is_nvidia() {
        let (measured, others) = match gpu.arch.is_amd() {
            true => ("tuned GEMMs and some of aiter's experts", "attention, norms and other experts"),
            false => ("GEMMs and attention", "norms and experts"),
        };
        let text = format!(
            "on {}'s architecture only {measured} were measured: {others} are extrapolated from NVIDIA's kernels",
            gpu.name
        );
        issues.push(Issue::warning(Field::Gpu, text));
    }
    true
}

/// Reports missing figures without which no kernel can be timed on this GPU.
fn missing_gpu_figures(gpu: &Gpu, issues: &mut Vec<Issue>) {
    let needed: [Option<MissingFigure>; 5] = [
        gpu.memory().err(),
        gpu.bandwidth().err(),
        gpu.l2().err(),
        gpu.sm_count().err(),
        gpu.clock_hz().err(),
    ];
    issues.extend(needed.into_iter().flatten().map(|missing| Issue::error(Field::Gpu, missing.to_string())));
}

fn missing_engine_figures(engine: &Engine, issues: &mut Vec<Issue>) {
    let name = &engine.name;
    let host = &engine.host;
    let needed: [(&str, &Figure); 9] = [
        ("KV block size", &engine.scheduler.kv_block_tokens),
        ("host time of a decode step", &host.decode_step_us),
        ("host time of a prefill step", &host.prefill_step_us),
        ("time to launch a kernel", &host.eager_launch_us),
        ("host time of a sequence", &host.sequence_us),
        ("API server's time for a request", &host.frontend_us),
        ("time to admit a request", &host.admission_us),
        ("time to tokenise a prompt", &host.prompt_token_us),
        ("time to send a token", &host.stream_us),
    ];
    let missing = needed.into_iter().filter(|(_, figure)| figure.0.is_none());
    issues.extend(missing.map(|(what, figure)| {
        Issue::error(Field::Engine, format!("{name} has no known {what}: {}", figure.1))
    }));
}

/// The token budget, if nothing is wrong with it and with the number of sequences.
pub fn sound_budget(scenario: &Scenario, catalog: &Catalog) -> Option<u32> {
    let (setup, issues) = check(scenario, catalog);
    let wrong = |issue: &Issue| matches!(issue.field, Field::TokenBudget | Field::MaxSeqs);
    setup.filter(|_| !issues.iter().any(wrong)).map(|setup| setup.token_budget)
}

/// The least power of two that is such a budget.
pub fn least_budget(scenario: &Scenario, catalog: &Catalog) -> Option<u32> {
    (10..=20).find_map(|power| {
        let mut scenario = scenario.clone();
        scenario.overrides.token_budget = Some(1 << power);
        sound_budget(&scenario, catalog)
    })
}
