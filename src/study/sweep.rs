//! A configuration along one of its settings.

use super::{Block, Case, Row, Span, Study, edit, print};
use crate::chart::{Axis, Bar, Bars, Chart, Curves, Line, Panel, Tone, Unit};
use crate::config::catalog::catalog;
use crate::config::{Dtype, Engine, Lengths, Load, ModelChoice, Scenario};
use crate::serving::report::Headline;
use crate::serving::words;
use crate::units::{Dollars, Seconds, count, decimal};

/// Settings to go along; the load first.
pub const CHOICES: [(&str, &str); 9] = [
    ("load", "Load"),
    ("isl", "Input length"),
    ("osl", "Output length"),
    ("tp", "Tensor parallel"),
    ("gpu", "GPU"),
    ("engine", "Engine"),
    ("weights", "Weights"),
    ("token_budget", "Token budget"),
    ("max_seqs", "Sequences at once"),
];

const HEIGHT: u32 = 240;
/// Doublings up and down from the form's own value.
const DOUBLINGS: i32 = 4;
const MOST_TP: u32 = 16;
const BUDGETS: [u32; 6] = [512, 1024, 2048, 4096, 8192, 16384];
const SEQUENCES: [u32; 6] = [16, 32, 64, 128, 256, 512];

pub fn cases(base: &Scenario, chosen: &str) -> Vec<Case> {
    let along = |values: Vec<u32>, edit: fn(&mut Scenario, u32)| {
        let case =
            |value: u32| Case::edited(decimal(f64::from(value)), base, |scenario| edit(scenario, value));
        values.into_iter().map(case).collect()
    };
    match chosen {
        "isl" => match (base.workload.means(), &base.workload.isl) {
            (Some((isl, _)), _) | (None, &Lengths::Fixed(isl)) => along(around(isl), edit::isl),
            (None, Lengths::Each(_)) => Vec::new(),
        },
        "osl" => {
            let osl = base.workload.means().map_or(base.workload.osl, |(_, osl)| osl);
            along(around(osl), edit::osl)
        }
        "tp" => {
            let doubling = std::iter::successors(Some(1), |tp| Some(tp * 2)).take_while(|&tp| tp <= MOST_TP);
            along(doubling.filter(|&tp| tp != base.tp).collect(), edit::tp)
        }
        "token_budget" => {
            along(BUDGETS.into(), |scenario, most| scenario.overrides.token_budget = Some(most))
        }
        "max_seqs" => along(SEQUENCES.into(), |scenario, most| scenario.overrides.max_seqs = Some(most)),
        "gpu" => {
            let others = catalog().gpus.gpus.iter().filter(|gpu| gpu.id != base.gpu);
            others.map(|gpu| Case::edited(&gpu.name, base, |scenario| edit::gpu(scenario, gpu))).collect()
        }
        "engine" => {
            let others = catalog().engines.engines.iter().filter(|engine| engine.id != base.engine);
            let case =
                |engine: &Engine| Case::edited(&engine.name, base, |scenario| edit::engine(scenario, engine));
            others.map(case).collect()
        }
        "weights" => Dtype::ALL
            .iter()
            .copied()
            .filter(|dtype| Some(*dtype) != weights_of(base))
            .map(|dtype| Case::edited(words::dtype(dtype), base, |scenario| scenario.weights = Some(dtype)))
            .collect(),
        _ => loads(base),
    }
}

fn loads(base: &Scenario) -> Vec<Case> {
    let case =
        |load: Load| Case::edited(count(load.amount()), base, |scenario| scenario.workload.load = load);
    match base.workload.load {
        Load::Concurrency(clients) => {
            around(clients).into_iter().map(|count| case(Load::Concurrency(count))).collect()
        }
        Load::Batch(prompts) => around(prompts).into_iter().map(|count| case(Load::Batch(count))).collect(),
        Load::Rate(rate) => {
            let steps = (1..=2 * DOUBLINGS as u32).map(|step| f64::from(step) / f64::from(DOUBLINGS));
            steps.filter(|&step| step != 1.0).map(|step| case(Load::Rate(rate * step))).collect()
        }
    }
}

/// The format of the weights: the published one where none is chosen.
pub fn weights_of(base: &Scenario) -> Option<Dtype> {
    let published = match &base.model {
        ModelChoice::Catalog(id) => catalog().model(id).map(|model| model.weights),
        ModelChoice::Custom(model) => Some(model.weights),
    };
    base.weights.or(published)
}

/// Halves and doubles of a number, without the number itself.
fn around(value: u32) -> Vec<u32> {
    let scaled = (-DOUBLINGS..=DOUBLINGS).map(|power| f64::from(value) * 2f64.powi(power));
    let mut all: Vec<u32> =
        scaled.map(|value| value.round().max(1.0) as u32).filter(|&other| other != value).collect();
    all.dedup();
    all
}

/// Where a configuration stands along the setting; none along settings that are no numbers.
fn position(case: &Case, chosen: &str) -> Option<f64> {
    let scenario = &case.scenario;
    let number = |value: u32| Some(f64::from(value));
    match chosen {
        "load" => Some(scenario.workload.load.amount()),
        "isl" => match scenario.workload.isl {
            Lengths::Fixed(isl) => number(isl),
            Lengths::Each(_) => None,
        },
        "osl" => number(scenario.workload.osl),
        "tp" => number(scenario.tp),
        "token_budget" => number(case.setup()?.token_budget),
        "max_seqs" => number(case.setup()?.max_seqs),
        _ => None,
    }
}

pub fn blocks(study: &Study) -> Vec<Block> {
    let own = study.own();
    // Where a setting is left to the engine, one of the others is what the engine takes.
    let same = |case: &&Case| {
        let at = position(case, &study.chosen);
        at.is_some() && at == position(own, &study.chosen)
    };
    let others = study.others().iter().filter(|case| !same(case));
    let mut cases: Vec<&Case> = std::iter::once(own).chain(others).collect();
    cases.sort_by(|a, b| {
        let at = |case: &Case| position(case, &study.chosen).unwrap_or(0.0);
        at(a).total_cmp(&at(b))
    });
    let numeric = position(own, &study.chosen).is_some();
    let answered: Vec<&Case> = cases.iter().copied().filter(|case| case.headline().is_some()).collect();
    let mut blocks = Vec::new();
    if study.cases.len() == 1 {
        blocks.push(Block::text("A batch of prompts of their own lengths has no one input length to vary."));
    }
    if answered.len() > 1 {
        blocks.push(if numeric { curves(study, &answered) } else { bars(study, &answered) });
    }
    let setting = CHOICES.iter().find(|(id, _)| *id == study.chosen).map_or("", |(_, name)| name);
    let head = [setting, "TTFT", "TPOT", "Output", "Output per GPU", "$ per M tokens"];
    let shown = |case: &&&Case| case.headline().is_some() || (numeric && case.outcome.is_some());
    let rows = cases.iter().filter(shown).map(|case| row(study, case)).collect();
    blocks.push(Block::table(setting, &head, rows));
    let left_out = cases.iter().filter(|case| case.outcome.is_some() && case.headline().is_none()).count();
    if left_out > 0 && !numeric {
        blocks.push(Block::text(format!("{left_out} others cannot serve this configuration.")));
    }
    blocks
}

/// What the value of a case is called.
fn label(study: &Study, case: &Case) -> String {
    if !case.name.is_empty() {
        return case.name.clone();
    }
    let setup = case.setup();
    match study.chosen.as_str() {
        "gpu" => setup.map_or_else(|| case.scenario.gpu.clone(), |setup| setup.gpu.name.clone()),
        "engine" => setup.map_or_else(|| case.scenario.engine.clone(), |setup| setup.engine.name.clone()),
        "weights" => setup.map_or("", |setup| words::dtype(setup.weights)).into(),
        chosen => position(case, chosen).map(count).unwrap_or_default(),
    }
}

fn row(study: &Study, case: &Case) -> Row {
    let own = std::ptr::eq(case, study.own());
    let name = Span::link(label(study, case), study.link_to(&case.scenario));
    let Some(headline) = case.headline() else {
        return Row { cells: vec![name, case.reason().into()], own };
    };
    let cells = [
        headline.ttft.print().to_string(),
        print::or_dash(headline.tpot.map(Seconds::print)),
        count(headline.output_per_s),
        count(headline.output_per_s_per_gpu),
        print::or_dash(headline.dollars_per_million.map(Dollars::print)),
    ];
    Row { cells: std::iter::once(name).chain(cells.map(Span::plain)).collect(), own }
}

fn curves(study: &Study, cases: &[&Case]) -> Block {
    let panel = |name: &str, unit: Unit, log: bool, limit: Option<f64>, of: fn(&Headline) -> Option<f64>| {
        let points =
            cases.iter().filter_map(|case| Some((position(case, &study.chosen)?, of(case.headline()?)?)));
        let (x, y) = points.unzip();
        let line = Line { name: String::new(), tone: Tone::Accent, x, y, marked: true, ..Line::default() };
        Panel { y: Axis { name: name.into(), unit, log }, lines: vec![line], limit, ..Panel::default() }
    };
    let slos = study.own().scenario.workload.slos;
    let seconds = |limit: Option<f64>| limit.map(|limit| limit * 1e-3);
    let panels = vec![
        panel("TTFT", Unit::Seconds, true, seconds(slos.ttft_ms), |headline| Some(headline.ttft.0)),
        panel("TPOT", Unit::Seconds, true, seconds(slos.tpot_ms), |headline| {
            headline.tpot.map(|tpot| tpot.0)
        }),
        panel("Output per GPU, tok/s", Unit::Count, false, None, |headline| {
            Some(headline.output_per_s_per_gpu)
        }),
    ];
    let panels =
        panels.into_iter().filter(|panel| panel.lines.iter().any(|line| !line.x.is_empty())).collect();
    let name = CHOICES.iter().find(|(id, _)| *id == study.chosen).map_or("", |(_, name)| name);
    let rate = study.chosen == "load" && matches!(study.own().scenario.workload.load, Load::Rate(_));
    let x = Axis { name: name.into(), unit: Unit::Count, log: !rate };
    let mark = position(study.own(), &study.chosen);
    Block::figure(name, HEIGHT, Chart::Curves(Curves { x, panels, mark }), words(study, cases))
}

fn bars(study: &Study, cases: &[&Case]) -> Block {
    let mut sorted = cases.to_vec();
    let output = |case: &Case| case.headline().map_or(0.0, |headline| headline.output_per_s_per_gpu);
    sorted.sort_by(|a, b| output(b).total_cmp(&output(a)));
    let bars: Vec<Bar> = sorted
        .iter()
        .map(|case| Bar { name: label(study, case), parts: vec![output(case).round()] })
        .collect();
    let chart = Bars { unit: Unit::Count, legend: vec!["Output tokens per second and GPU".into()], bars };
    print::bars("Output per GPU", chart, words(study, &sorted))
}

fn words(study: &Study, cases: &[&Case]) -> String {
    let ends = [cases.first(), cases.last()].into_iter().flatten();
    let say = |case: &&Case| {
        let headline = case.headline()?;
        let tpot = headline.tpot.map_or(String::new(), |tpot: Seconds| format!(", TPOT {}", tpot.print()));
        Some(format!(
            "{}: TTFT {}{tpot}, {} tok/s per GPU",
            label(study, case),
            headline.ttft.print(),
            count(headline.output_per_s_per_gpu.round()),
        ))
    };
    ends.filter_map(say).collect::<Vec<_>>().join("; ") + "."
}
