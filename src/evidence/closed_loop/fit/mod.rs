//! Host times of the engines, fitted on measured closed loops.
//!
//! Few constants an engine, each physical and above zero: what the host adds to a decode step, to a layer of
//! experts, to a request and to a prompt token. Nothing else of a prediction is fitted here.

mod linear;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Run, Tables, tables};
use crate::config::catalog::{Catalog, Physics};
use crate::config::{Figure, HostTime};
use crate::evidence::cases::{Ask, ClosedLoopCase};
use crate::evidence::contradictions::contradictions;
use crate::evidence::copies::copies;
use crate::serving::replica;
use crate::serving::sim::Policy;
use linear::Linear;

/// Clients up to which queues do not yet hide what the host does.
const MOST_CLIENTS: u32 = 8;
/// A case further off than this, as a logarithm of the ratio, weighs no more: something else is wrong there.
const MOST_WEIGHT: f64 = 0.7;
/// Times the linear form is renewed around what it found.
const ROUNDS: usize = 4;

/// How many constants are fitted. What else [`HostTime`] holds stands on other grounds, and stays.
const COUNT: usize = 4;

/// An engine's fitted host times, in µs and in the order of `NAMES`; [`HostTime`] says what each is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants([f64; COUNT]);

const NAMES: [&str; COUNT] = ["decode_step_us", "expert_layer_us", "admission_us", "prompt_token_us"];

impl Serialize for Constants {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(NAMES.iter().zip(self.0))
    }
}

/// One engine's constants, and what they are without each model and each GPU.
#[derive(Debug, Clone, Serialize)]
pub struct Fitted {
    pub cases: usize,
    /// Those of the catalog, and their error.
    pub before: Constants,
    pub error_before: f64,
    pub constants: Constants,
    /// Mean |ln(predicted / measured)| of TTFT and TPOT, capped, on the cases of the fit.
    pub error: f64,
    /// By the model or GPU left out: the constants without it, and the errors with those and with the
    /// constants of all on its own cases.
    pub without: BTreeMap<String, Without>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Without {
    pub cases: usize,
    pub constants: Constants,
    pub error_left_out: f64,
    pub error_fitted: f64,
}

struct Sample<'a> {
    case: &'a ClosedLoopCase,
    run: Run,
}

/// TTFT and TPOT of a run in ms: ours, and measured.
#[derive(Debug, Clone, Copy)]
struct Seen {
    times: [f64; 2],
    measured: [f64; 2],
}

/// Simulates a sample under an engine's constants; none where it does not run.
type Simulated<'a> = &'a dyn Fn(&Sample<'_>, &Constants) -> Option<Seen>;

impl Constants {
    /// Those of the catalog.
    fn of(host: &HostTime) -> Option<Self> {
        let figures =
            [&host.decode_step_us, &host.expert_layer_us, &host.admission_us, &host.prompt_token_us];
        let mut constants = [0.0; COUNT];
        for (constant, figure) in constants.iter_mut().zip(figures) {
            *constant = figure.0?;
        }
        Some(Self(constants))
    }

    fn host(&self, host: &HostTime) -> HostTime {
        let [decode_step_us, expert_layer_us, admission_us, prompt_token_us] =
            self.0.map(|micros| Figure(Some(micros), String::new()));
        HostTime { decode_step_us, expert_layer_us, admission_us, prompt_token_us, ..host.clone() }
    }
}

/// Fits every engine's host times on `cases`.
///
/// # Errors
/// Where the models or the catalogs do not answer.
pub fn fit(
    cases: &[&ClosedLoopCase],
    (catalog, physics): (&Catalog, &Physics),
    ask: &Ask<'_>,
) -> Result<BTreeMap<String, Fitted>, String> {
    let repeated: BTreeSet<usize> = copies(cases).into_iter().map(|(row, _)| row).collect();
    let doubtful: BTreeSet<String> = contradictions(cases, &|_| None).into_iter().map(|one| one.id).collect();
    let usable = cases.iter().enumerate().filter(|(row, case)| {
        case.concurrency <= MOST_CLIENTS && !repeated.contains(row) && !doubtful.contains(&case.id)
    });
    let samples: Vec<Sample<'_>> = usable
        .filter_map(|(_, case)| Some(Sample { case, run: Run::of(case, catalog).ok()? }))
        .filter(|sample| sample.run.launch.matched() && sample.run.launch.inferred.is_empty())
        .collect();
    let runs: Vec<&Run> = samples.iter().map(|sample| &sample.run).collect();
    let tables = tables(&runs, physics, ask)?;
    let mut engines: BTreeMap<&str, Vec<&Sample<'_>>> = BTreeMap::new();
    for sample in &samples {
        engines.entry(&sample.case.engine).or_default().push(sample);
    }
    Ok(std::thread::scope(|scope| {
        let fits: Vec<_> = engines
            .iter()
            .map(|(engine, samples)| (*engine, scope.spawn(|| fit_engine(samples, &tables))))
            .collect();
        let done = fits.into_iter().map(|(engine, fit)| {
            let fitted = fit.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Some((engine.to_owned(), fitted?))
        });
        done.flatten().collect()
    }))
}

fn fit_engine(samples: &[&Sample<'_>], tables: &BTreeMap<String, Tables>) -> Option<Fitted> {
    let of = |sample: &Sample<'_>, constants: &Constants| simulated(sample, tables, constants);
    let samples: Vec<&Sample<'_>> = samples
        .iter()
        .copied()
        .filter(|sample| {
            Constants::of(&sample.run.setup.engine.host).is_some_and(|host| of(sample, &host).is_some())
        })
        .collect();
    let error_of = |samples: &[&Sample<'_>], constants: &Constants| {
        error(samples.iter().filter_map(|sample| of(sample, constants)))
    };
    let before = Constants::of(&samples.first()?.run.setup.engine.host)?;
    let error_before = error_of(&samples, &before);
    let mut best = (before, error_before);
    let mut linear = Linear::around(&samples, &of, before, before);
    let all = vec![true; linear.len()];
    for _ in 0..ROUNDS {
        let found = linear.best(&all);
        let error = error_of(&samples, &found);
        if error >= best.1 {
            break;
        }
        best = (found, error);
        linear = Linear::around(&samples, &of, found, before);
    }
    let (constants, error) = best;
    let groups: BTreeSet<&str> =
        samples.iter().flat_map(|sample| [sample.case.model.as_str(), sample.case.gpu.as_str()]).collect();
    let without = groups.into_iter().filter_map(|group| {
        let inside = |sample: &Sample<'_>| sample.case.model == group || sample.case.gpu == group;
        let others: Vec<bool> = samples.iter().map(|sample| !inside(sample)).collect();
        let own: Vec<&Sample<'_>> = samples.iter().copied().filter(|sample| inside(sample)).collect();
        if own.len() == samples.len() {
            return None;
        }
        let left_out = linear.best(&others);
        let without = Without {
            cases: own.len(),
            constants: left_out,
            error_left_out: error_of(&own, &left_out),
            error_fitted: error_of(&own, &constants),
        };
        Some((group.to_owned(), without))
    });
    let without = without.collect();
    Some(Fitted { cases: samples.len(), before, error_before, constants, error, without })
}

fn simulated(sample: &Sample<'_>, tables: &BTreeMap<String, Tables>, constants: &Constants) -> Option<Seen> {
    let Sample { case, run } = sample;
    let host = constants.host(&run.setup.engine.host);
    let table = &tables.get(&run.table_key())?.learned;
    let admission_delay = replica::admission(&host, run.setup.mean_prompt()).0;
    let policy = Policy { admission_delay, ..run.policy.clone() };
    let times = run.simulate_under(&policy, case.concurrency, &table.under(&host)).ok()?;
    let measured = [case.measured.ttft_ms, case.measured.tpot_ms];
    Some(Seen { times: [times.ttft_ms?, times.tpot_ms?], measured })
}

/// Mean over runs and both metrics.
fn error(seen: impl Iterator<Item = Seen>) -> f64 {
    let off =
        |seen: Seen, metric: usize| (seen.times[metric] / seen.measured[metric]).ln().abs().min(MOST_WEIGHT);
    let errors: Vec<f64> = seen.map(|seen| 0.5 * (off(seen, 0) + off(seen, 1))).collect();
    errors.iter().sum::<f64>() / errors.len().max(1) as f64
}
