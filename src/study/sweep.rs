//! A configuration with one setting varied.

use super::metric::{self, COST, HeadlineMetric, OUTPUT, PER_GPU, TPOT, TTFT};
use super::{Block, Case, Row, Study, against_measured, edit};
use crate::chart::{Axis, Bar, Bars, Chart, ChartUnit, Curves, Panel, Tone, runs};
use crate::config::DEGREES;
use crate::config::link::Link;
use crate::config::{Dtype, Lengths, Scenario};
use crate::study::words;
use crate::units::{Order, chance, count};

/// Settings that can be varied; the load first.
pub const CHOICES: [(&str, &str); 9] = [
    ("load", "Load"),
    ("isl", "Input length"),
    ("osl", "Output length"),
    ("tp", "Tensor parallel"),
    ("gpu", "GPU"),
    ("engine", "Engine"),
    ("weights", "Weights"),
    ("token_budget", "Token budget"),
    ("max_seqs", "Max sequences"),
];

const HEIGHT: u32 = 240;
/// Doublings up and down from the form's value.
const DOUBLINGS: i32 = 4;
const BUDGETS: [u32; 6] = [512, 1024, 2048, 4096, 8192, 16384];
const SEQUENCES: [u32; 6] = [16, 32, 64, 128, 256, 512];
const COLUMNS: [HeadlineMetric; 5] = [TTFT, TPOT, OUTPUT, PER_GPU, COST];

pub fn cases(link: &Link, chosen: &str) -> Vec<Case> {
    let base = &link.scenario;
    let over = |values: Vec<u32>, edit: fn(&mut Scenario, u32)| {
        let case = |value: u32| Case::edited(count(f64::from(value)), base, |scenario| edit(scenario, value));
        values.into_iter().map(case).collect()
    };
    let means = base.workload.means();
    match chosen {
        "isl" => match (means, &base.workload.isl) {
            (Some((isl, _)), _) | (None, &Lengths::Fixed(isl)) => over(around(isl), edit::isl),
            (None, Lengths::Each(_)) => Vec::new(),
        },
        "osl" => over(around(means.map_or(base.workload.osl, |(_, osl)| osl)), edit::osl),
        "tp" => over(DEGREES.into_iter().filter(|&tp| tp != base.parallel.tp).collect(), edit::tp),
        "token_budget" => over(BUDGETS.into(), |scenario, most| scenario.overrides.token_budget = Some(most)),
        "max_seqs" => over(SEQUENCES.into(), |scenario, most| scenario.overrides.max_seqs = Some(most)),
        "gpu" => edit::every_other_gpu(base),
        "engine" => edit::other_engines(base),
        "weights" => Dtype::ALL
            .iter()
            .copied()
            .filter(|dtype| Some(*dtype) != base.weights_format())
            .map(|dtype| Case::edited(dtype.name(), base, |scenario| scenario.weights = Some(dtype)))
            .collect(),
        _ => loads(base),
    }
}

fn loads(base: &Scenario) -> Vec<Case> {
    let own = base.workload.load;
    let amounts: Vec<f64> = if own.is_rate() {
        let steps = (1..=2 * DOUBLINGS).map(|step| f64::from(step) / f64::from(DOUBLINGS));
        steps.filter(|&step| step != 1.0).map(|step| own.amount() * step).collect()
    } else {
        around(own.amount() as u32).into_iter().map(f64::from).collect()
    };
    let load = |amount| move |scenario: &mut Scenario| scenario.workload.load = own.with_amount(amount);
    amounts.into_iter().map(|amount| Case::edited(count(amount), base, load(amount))).collect()
}

/// Halves and doubles of a number, without the number itself.
fn around(value: u32) -> Vec<u32> {
    let scaled = (-DOUBLINGS..=DOUBLINGS).map(|power| f64::from(value) * 2f64.powi(power));
    let mut all: Vec<u32> =
        scaled.map(|value| value.round().max(1.0) as u32).filter(|&other| other != value).collect();
    all.dedup();
    all
}

/// A configuration's position along the setting; `None` if the setting is not a number.
fn position(case: &Case, chosen: &str) -> Option<f64> {
    let scenario = &case.scenario;
    match chosen {
        "load" => return Some(scenario.workload.load.amount()),
        "isl" => {
            let is_list = matches!(scenario.workload.isl, Lengths::Each(_));
            return scenario.workload.mean_prompt().filter(|_| !is_list);
        }
        "osl" => Some(scenario.workload.mean_output()),
        "tp" => Some(scenario.parallel.tp),
        "token_budget" => case.setup().map(|setup| setup.token_budget),
        "max_seqs" => case.setup().map(|setup| setup.max_seqs),
        _ => None,
    }
    .map(f64::from)
}

pub fn blocks(study: &Study) -> Vec<Block> {
    let own = study.own();
    let at = |case: &Case| position(case, &study.chosen);
    let numeric = at(own).is_some();
    // If a setting is left to the engine, one of the others may equal its default.
    let others = study.others().iter().filter(|case| !numeric || at(case) != at(own));
    let mut cases: Vec<&Case> = std::iter::once(own).chain(others).collect();
    cases.order_by(|a, b| at(a).unwrap_or(0.0).total_cmp(&at(b).unwrap_or(0.0)));
    let answered: Vec<&Case> = cases.iter().copied().filter(|case| case.headline().is_some()).collect();
    let refused = cases.iter().filter(|case| case.outcome.is_some() && case.headline().is_none()).count();
    let mut blocks = Vec::new();
    if study.cases.len() == 1 {
        blocks.push(Block::text("Each prompt of this batch has its own length, so there is none to vary."));
    }
    let setting = match CHOICES.iter().find(|(id, _)| *id == study.chosen) {
        Some(("load", _)) => runs::size_of(own.scenario.workload.load),
        found => found.map_or("", |(_, name)| name),
    };
    if answered.len() > 1 {
        blocks.push(if numeric { curves(study, setting, &answered) } else { bars(study, &answered) });
    }
    // Loads and lengths are not alternatives.
    let chances = !["load", "isl", "osl"].contains(&&*study.chosen);
    let limited = cases.iter().any(|case| case.meets_limits().is_some() || case.is_overloaded());
    let columns = Columns { chances, limited };
    let first = if limited { &[setting, "Meets limits"][..] } else { &[setting] };
    let mut head = metric::head(first, &COLUMNS);
    head.extend(chances.then_some("Likely cheaper"));
    let shown = cases.iter().filter(|case| case.headline().is_some() || (numeric && case.outcome.is_some()));
    blocks.push(Block::table(setting, &head, shown.map(|case| row(study, case, columns))));
    if refused > 0 && !numeric {
        blocks.push(Block::text(format!("{refused} more do not fit or are not supported.")));
    }
    blocks
}

/// The value of the setting in words.
fn label(study: &Study, case: &Case) -> String {
    if !case.name.is_empty() {
        return case.name.clone();
    }
    let setup = case.setup();
    match study.chosen.as_str() {
        "gpu" => setup.map_or_else(|| case.scenario.gpu.clone(), |setup| setup.gpu.name.clone()),
        "engine" => setup.map_or_else(|| case.scenario.engine.clone(), |setup| setup.engine.name.clone()),
        "weights" => setup.map_or("", |setup| setup.weights.name()).into(),
        chosen => position(case, chosen).map(count).unwrap_or_default(),
    }
}

/// Which columns there are beside the metrics.
#[derive(Debug, Clone, Copy)]
struct Columns {
    limited: bool,
    chances: bool,
}

fn row(study: &Study, case: &Case, columns: Columns) -> Row {
    let mut cells = vec![study.open(label(study, case), case)];
    match case.headline() {
        Some(_) => {
            cells.extend(columns.limited.then(|| case.meets().into()));
            cells.extend(COLUMNS.map(|metric| metric.print(case).into()));
            let cheaper = case.beats(COST).map_or_else(|| "–".into(), |beats| chance(beats.with));
            // The cost of serving only part of the load says nothing.
            let cheaper = if case.is_overloaded() { "–".into() } else { cheaper };
            cells.extend(columns.chances.then(|| cheaper.into()));
        }
        None => cells.push(case.reason().into()),
    }
    Row { cells, own: std::ptr::eq(case, study.own()) }
}

fn curves(study: &Study, setting: &str, cases: &[&Case]) -> Block {
    let slos = study.own().scenario.workload.slos;
    let limits = [slos.ttft_ms, slos.tpot_ms, None];
    let at = |case: &Case| position(case, &study.chosen);
    // Measured runs have their own settings.
    let has_runs = ["load", "isl", "osl", "tp"].contains(&&*study.chosen);
    let panel = |(metric, limit): (HeadlineMetric, Option<f64>)| {
        let points = cases.iter().filter_map(|case| Some((at(case)?, *case)));
        let dots = against_measured::dots(study, metric, points.clone().filter(|_| has_runs));
        let panel = metric.panel(vec![metric.line("", Tone::Accent, points), dots])?;
        Some(Panel { limit: limit.map(|limit| limit * 1e-3), ..panel })
    };
    let panels = metric::CURVES.into_iter().zip(limits).filter_map(panel).collect();
    let rate = study.chosen == "load" && study.own().scenario.workload.load.is_rate();
    let x = Axis::new(setting, ChartUnit::Count, !rate);
    let chart = Chart::Curves(Curves { x, panels, mark: at(study.own()) });
    Block::figure(setting, HEIGHT, chart, words(study, cases))
}

fn bars(study: &Study, cases: &[&Case]) -> Block {
    let output = |case: &Case| PER_GPU.of(case).unwrap_or(0.0);
    let mut sorted = cases.to_vec();
    // Those that do not keep up with the load yield the most, and are no alternatives.
    sorted.retain(|case| !case.is_overloaded());
    let left_out = match cases.len() - sorted.len() {
        0 => "",
        _ if sorted.is_empty() => {
            sorted = cases.to_vec();
            " All are overloaded."
        }
        _ => " Those that are overloaded are left out.",
    };
    sorted.order_by(|a, b| output(b).total_cmp(&output(a)));
    let bars =
        sorted.iter().map(|case| Bar { name: label(study, case), parts: vec![output(case)] }).collect();
    let legend = vec![PER_GPU.name.into()];
    let chart = Bars { unit: ChartUnit::Count, legend, bars, ..Bars::default() };
    Block::bars("Output per GPU", chart, words(study, &sorted) + left_out)
}

/// Describes the first and the last of them.
fn words(study: &Study, cases: &[&Case]) -> String {
    let sentence = |case: &&Case| {
        let tpot = TPOT.of(case).map_or_else(String::new, |_| format!(", TPOT {}", TPOT.print(case)));
        let setting = match study.chosen.as_str() {
            "load" => words::load(case.scenario.workload.load),
            _ => label(study, case),
        };
        format!("{setting}: TTFT {}{tpot}, {} tok/s per GPU", TTFT.print(case), PER_GPU.print(case))
    };
    let ends = [cases.first(), cases.last()];
    ends.into_iter().flatten().map(sentence).collect::<Vec<_>>().join("; ") + "."
}
