//! Step times of measured runs, tabulated on all cores.

use std::sync::Mutex;

use rustc_hash::FxHashMap;

use crate::config::kernels::KernelChoice;
use crate::config::{Dtype, Parallelism, Setup};
use crate::efficiency::{Efficiencies, UNANSWERED};
use crate::evidence::cases::AskLearned;
use crate::evidence::compared::{SkippedCase, parted};
use crate::serving::table::{Extent, Phases, StepTable, TablePlan};

/// Step times of one setup.
#[derive(Debug, Clone)]
pub struct Tables {
    pub learned: StepTable,
    pub roofline: StepTable,
}

/// What step times depend on: a table serves all runs of which this is the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct TableKey {
    model: String,
    gpu: String,
    engine: String,
    parallel: Parallelism,
    weights: Dtype,
    kv: Dtype,
    drafted: u32,
    state_bytes: u32,
    kernels: Option<KernelChoice>,
    fuses_norms: bool,
    graph_tokens: Option<u32>,
    largest_graph: u32,
    waits_for_delta_rules: bool,
    computes_older_delta_rules: bool,
    leaves_experts_untuned: bool,
    phases: Phases,
}

impl TableKey {
    fn of(setup: &Setup, phases: Phases) -> Self {
        let Setup { model, gpu, engine, .. } = setup;
        Self {
            model: model.id.clone(),
            gpu: gpu.id.clone(),
            engine: engine.id.clone(),
            parallel: setup.parallel,
            weights: setup.weights,
            kv: setup.kv,
            drafted: setup.workload.drafts.drafted,
            state_bytes: setup.state_bytes,
            kernels: engine.kernels_on(gpu.arch).cloned(),
            fuses_norms: engine.norm_in_all_reduce.of(model),
            graph_tokens: engine.graph_tokens,
            largest_graph: setup.largest_graph,
            waits_for_delta_rules: engine.waits_for_delta_rules,
            computes_older_delta_rules: engine.computes_older_delta_rules,
            leaves_experts_untuned: !engine.untuned.is_empty(),
            phases,
        }
    }
}

/// The tables of measured runs.
pub struct TablesOfRuns(FxHashMap<TableKey, Tables>);

impl TablesOfRuns {
    pub fn of(&self, setup: &Setup, extent: &Extent) -> Result<&Tables, String> {
        self.0.get(&TableKey::of(setup, extent.phases)).ok_or_else(|| "no table of step times".into())
    }
}

/// A table for each key, as large as the largest run with that key requires.
pub fn tables<'a>(
    runs: impl Iterator<Item = (&'a Setup, &'a Extent)>,
    ask: &AskLearned<'_>,
) -> Result<TablesOfRuns, String> {
    let mut wanted: FxHashMap<TableKey, (&Setup, Extent)> = FxHashMap::default();
    for (setup, needed) in runs {
        let (_, extent) = wanted.entry(TableKey::of(setup, needed.phases)).or_insert((setup, *needed));
        *extent = extent.joined(needed);
    }
    let wanted: Vec<(TableKey, (&Setup, Extent))> = wanted.into_iter().collect();
    let table = |(key, (setup, extent)): &(TableKey, (&Setup, Extent))| {
        let plan = TablePlan::new(setup, extent)?;
        let finish = |efficiencies: &Efficiencies| plan.finish(efficiencies).ok_or(UNANSWERED);
        let learned = finish(&Efficiencies::Learned(ask(plan.rows())?))?;
        Ok((key.clone(), Tables { learned, roofline: finish(&Efficiencies::Roofline)? }))
    };
    on_all_cores(&wanted, table).into_iter().collect::<Result<_, _>>().map(TablesOfRuns)
}

/// The results of `of`, in order, computed on all cores; those it has no result for by `id`.
pub fn attempted<T: Sync, R: Send>(
    all: &[T],
    id: impl Fn(&T) -> &String,
    of: impl Fn(&T) -> Result<R, String> + Sync,
) -> (Vec<R>, Vec<SkippedCase>) {
    parted(all.iter().map(id).zip(on_all_cores(all, of)))
}

/// The results of `of`, in order, computed on all cores.
pub fn on_all_cores<T: Sync, R: Send>(all: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut results: Vec<Option<R>> = all.iter().map(|_| None).collect();
    let left = Mutex::new(all.iter().zip(&mut results));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((one, result)) = left.lock().ok().and_then(|mut left| left.next()) {
                    *result = Some(of(one));
                }
            });
        }
    });
    results.into_iter().map(|result| result.expect("every input has a result")).collect()
}
