//! Host times of the engines, fitted on measured closed loops.
//!
//! Few constants an engine, each physical and above zero: what the host adds to a step, to a launch, to a
//! layer of experts, to a request and to a prompt token. Nothing else of a prediction is fitted here.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Run, Tables, tables};
use crate::config::catalog::{Catalog, Physics};
use crate::config::{Figure, HostTime};
use crate::evidence::cases::ClosedLoopCase;
use crate::evidence::contradictions::contradictions;
use crate::evidence::copies::copies;
use crate::evidence::serving::Ask;
use crate::serving::replica;
use crate::serving::sim::Policy;

/// Clients up to which runs are short enough to be simulated hundreds of times, and queues do not yet hide
/// what the host does.
const MOST_CLIENTS: u32 = 8;
/// A case further off than this, as a logarithm of the ratio, weighs no more: something else is wrong there.
const MOST_WEIGHT: f64 = 0.7;
/// Factors tried on each constant, round by round finer.
const FACTORS: [&[f64]; 3] =
    [&[0.0, 0.1, 0.2, 0.4, 0.7, 1.5, 2.5, 5.0, 10.0, 20.0], &[0.5, 0.7, 1.4, 2.0], &[0.85, 1.18]];

/// Where the search begins, in µs: the scale of each constant.
const BEGINNING: Constants = Constants {
    decode_step: 500.0,
    prefill_step: 1000.0,
    eager_launch: 5.0,
    expert_layer: 300.0,
    admission: 5000.0,
    prompt_token: 2.0,
};

/// An engine's host times, in µs; [`HostTime`] says what each is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Constants {
    pub decode_step: f64,
    pub prefill_step: f64,
    pub eager_launch: f64,
    pub expert_layer: f64,
    pub admission: f64,
    pub prompt_token: f64,
}

/// One engine's constants, and what they are without each model and each GPU.
#[derive(Debug, Clone, Serialize)]
pub struct Fitted {
    pub cases: usize,
    pub constants: Constants,
    /// Mean |ln(predicted / measured)| of TTFT and TPOT, capped, on the cases of the fit.
    pub error: f64,
    /// By the model or GPU left out: the constants without it, and the errors with those and with the
    /// constants of all on its own cases.
    pub without: BTreeMap<String, Without>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Without {
    pub constants: Constants,
    pub error_left_out: f64,
    pub error_fitted: f64,
}

struct Sample<'a> {
    case: &'a ClosedLoopCase,
    run: Run,
}

impl Constants {
    fn each(&mut self) -> [&mut f64; 6] {
        let Self { decode_step, prefill_step, eager_launch, expert_layer, admission, prompt_token } = self;
        [decode_step, prefill_step, eager_launch, expert_layer, admission, prompt_token]
    }

    fn host(&self, host: &HostTime) -> HostTime {
        let figure = |micros: f64| Figure(Some(micros), String::new());
        HostTime {
            decode_step_us: figure(self.decode_step),
            prefill_step_us: figure(self.prefill_step),
            eager_launch_us: figure(self.eager_launch),
            expert_layer_us: figure(self.expert_layer),
            admission_us: figure(self.admission),
            prompt_token_us: figure(self.prompt_token),
            graph_gap_us: host.graph_gap_us.clone(),
        }
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
            (engine.to_owned(), fitted)
        });
        done.collect()
    }))
}

fn fit_engine(samples: &[&Sample<'_>], tables: &BTreeMap<String, Tables>) -> Fitted {
    let (constants, error) = search(samples, tables, BEGINNING, &FACTORS);
    let mut groups: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
    for (index, sample) in samples.iter().enumerate() {
        for group in [&sample.case.model, &sample.case.gpu] {
            groups.entry(group).or_insert_with(|| vec![false; samples.len()])[index] = true;
        }
    }
    let without = groups.into_iter().filter_map(|(group, inside)| {
        let of = |wanted: bool| -> Vec<&Sample<'_>> {
            samples
                .iter()
                .zip(&inside)
                .filter(|(_, inside)| **inside == wanted)
                .map(|(one, _)| *one)
                .collect()
        };
        let (own, others) = (of(true), of(false));
        if others.is_empty() {
            return None;
        }
        let (left_out, _) = search(&others, tables, constants, &FACTORS[1..]);
        let without = Without {
            constants: left_out,
            error_left_out: error_of(&own, tables, &left_out),
            error_fitted: error_of(&own, tables, &constants),
        };
        Some((group.to_owned(), without))
    });
    Fitted { cases: samples.len(), constants, error, without: without.collect() }
}

/// Coordinate by coordinate, finer each round.
fn search(
    samples: &[&Sample<'_>],
    tables: &BTreeMap<String, Tables>,
    beginning: Constants,
    rounds: &[&[f64]],
) -> (Constants, f64) {
    let mut best = (beginning, error_of(samples, tables, &beginning));
    for factors in rounds {
        for index in 0..best.0.each().len() {
            let around = best.0;
            for factor in *factors {
                let mut tried = around;
                if let Some(constant) = tried.each().into_iter().nth(index) {
                    *constant *= factor;
                }
                let error = error_of(samples, tables, &tried);
                if error < best.1 {
                    best = (tried, error);
                }
            }
        }
    }
    best
}

fn error_of(samples: &[&Sample<'_>], tables: &BTreeMap<String, Tables>, constants: &Constants) -> f64 {
    let off = |ours: f64, real: f64| (ours / real).ln().abs().min(MOST_WEIGHT);
    let errors = samples.iter().filter_map(|sample| {
        let Sample { case, run } = sample;
        let host = constants.host(&run.setup.engine.host);
        let table = &tables.get(&run.table_key())?.learned;
        let admission_delay = replica::admission(&host, run.setup.mean_prompt()).0;
        let policy = Policy { admission_delay, ..run.policy.clone() };
        let times = run.simulate_under(&policy, case.concurrency, &table.under(&host)).ok()?;
        let measured = &case.measured;
        Some(0.5 * (off(times.ttft_ms, measured.ttft_ms) + off(times.tpot_ms, measured.tpot_ms)))
    });
    let errors: Vec<f64> = errors.collect();
    errors.iter().sum::<f64>() / errors.len().max(1) as f64
}
