//! What limits a configuration, and what each single change of it does.

use super::print::{self, change};
use super::sweep::weights_of;
use super::{Block, Case, Row, Span, Study, edit};
use crate::config::catalog::catalog;
use crate::config::{Dtype, Load, Scenario};
use crate::graph::Phase;
use crate::serving::words;
use crate::units::{Dollars, Seconds, count, percent};

/// Every single change worth trying; what the checks refuse is left out of the answer.
pub fn cases(base: &Scenario) -> Vec<Case> {
    let mut cases = Vec::new();
    for tp in ranks(base) {
        cases.push(Case::edited(format!("TP {tp}"), base, |scenario| edit::tp(scenario, tp)));
    }
    let stage = edit::stage(base);
    for (name, ep) in [("Experts dealt over all GPUs", stage), ("Experts cut over all GPUs", 1)] {
        if stage > 1 && base.ep != ep {
            cases.push(Case::edited(name, base, |scenario| scenario.ep = ep));
        }
    }
    let now = weights_of(base).map_or(f64::INFINITY, Dtype::bytes);
    for dtype in Dtype::ALL.iter().copied().filter(|dtype| dtype.bytes() < now) {
        let name = format!("Weights in {}", words::dtype(dtype));
        cases.push(Case::edited(name, base, |scenario| scenario.weights = Some(dtype)));
    }
    if base.kv.bytes() > Dtype::Fp8.bytes() {
        cases.push(Case::edited("KV cache in FP8", base, |scenario| scenario.kv = Dtype::Fp8));
    }
    for engine in catalog().engines.engines.iter().filter(|engine| engine.id != base.engine) {
        cases.push(Case::edited(&engine.name, base, |scenario| edit::engine(scenario, engine)));
    }
    cases.extend(loads(base));
    for gpu in catalog().gpus.gpus.iter().filter(|gpu| gpu.id != base.gpu) {
        cases.push(Case::edited(&gpu.name, base, |scenario| edit::gpu(scenario, gpu)));
    }
    cases
}

/// Half the ranks that share heads, twice as many, and more as far as one machine's links reach: a model may be too
/// large for twice.
fn ranks(base: &Scenario) -> Vec<u32> {
    let machine = catalog().gpu(&base.gpu).map_or(0, |gpu| gpu.link.domain);
    let [twice, more @ ..] = [2, 4, 8].map(|factor| base.tp.saturating_mul(factor));
    let more = more.into_iter().filter(|&tp| tp <= machine);
    (base.tp > 1).then_some(base.tp / 2).into_iter().chain([twice]).chain(more).collect()
}

/// Half the load, or the same over twice the replicas.
fn loads(base: &Scenario) -> Vec<Case> {
    let mut cases = Vec::new();
    let half = |count: u32| (count > 1).then_some(count / 2);
    let less = match base.workload.load {
        Load::Concurrency(clients) => {
            half(clients).map(|half| (format!("{half} clients"), Load::Concurrency(half)))
        }
        Load::Batch(prompts) => half(prompts).map(|half| (format!("{half} prompts"), Load::Batch(half))),
        Load::Rate(rate) => {
            Some((format!("{} requests per second", count(rate / 2.0)), Load::Rate(rate / 2.0)))
        }
    };
    if let Some((name, load)) = less {
        cases.push(Case::edited(name, base, |scenario| scenario.workload.load = load));
    }
    let twice = base.replicas.saturating_mul(2);
    cases.push(Case::edited(format!("{twice} replicas"), base, |scenario| scenario.replicas = twice));
    cases
}

pub fn blocks(study: &Study) -> Vec<Block> {
    let own = study.own();
    let mut blocks = vec![Block::heading("What limits it")];
    blocks.extend(limits(own).into_iter().map(Block::text));
    let mut offered: Vec<&Case> = study.others().iter().filter(|case| case.headline().is_some()).collect();
    offered.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    blocks.extend(advice(study, &offered));
    if offered.is_empty() {
        blocks.push(Block::text("No single change of those tried gives an answer."));
        return blocks;
    }
    let (settings, gpus): (Vec<&Case>, Vec<&Case>) =
        offered.into_iter().partition(|case| case.scenario.gpu == study.own().scenario.gpu);
    for (name, cases) in [("Change one setting", settings), ("Change the GPU", gpus)] {
        if !cases.is_empty() {
            blocks.push(Block::heading(name));
            let rows = cases.iter().map(|case| row(study, case)).collect();
            blocks.push(Block::table(name, &HEAD, rows));
        }
    }
    blocks.push(Block::text(
        "Each is the closed form of the same load with one thing changed, and behind each number the change against \
         this configuration. First those that keep to the limits, then by dollars per output token where prices are \
         known, else by output per GPU.",
    ));
    blocks
}

const HEAD: [&str; 7] =
    ["Change", "TTFT", "TPOT", "Output per GPU", "Output", "$ per M tokens", "Within limits"];

/// Lower is better: those that miss limits after all others, then by cost, else by output of a GPU.
fn rank(case: &Case) -> f64 {
    const AFTER: f64 = 1e9;
    let missed = if case.keeps() == Some(false) { AFTER } else { 0.0 };
    let Some(headline) = case.headline() else { return f64::INFINITY };
    let cost = headline.dollars_per_million.map(|dollars| dollars.0);
    missed + cost.unwrap_or(AFTER / 2.0 - headline.output_per_s_per_gpu)
}

fn limits(own: &Case) -> Vec<String> {
    let mut lines: Vec<String> = own.issues().iter().map(|issue| issue.text.clone()).collect();
    if let Some(memory) = own.report().map(|report| &report.memory) {
        let needed = memory.kv_needed.0 / memory.kv_room.0;
        if needed.is_finite() {
            lines.push(format!(
                "Memory: weights take {} of {}; this load fills {} of the room for the KV cache.",
                memory.weights.print(),
                memory.usable.print(),
                percent(needed),
            ));
        }
    }
    if let (Some(headline), Some(prefill)) = (own.headline(), own.pass(Phase::Prefill))
        && !matches!(own.scenario.workload.load, Load::Batch(_))
    {
        let waiting = (1.0 - prefill.time.0 / headline.ttft.0).max(0.0);
        lines.push(format!(
            "TTFT: {} of it is waiting for steps, for prompts of others and for a slot; the prompt itself takes {}.",
            percent(waiting),
            prefill.time.print(),
        ));
    }
    for phase in [Phase::Prefill, Phase::Decode] {
        lines.extend(own.pass(phase).map(|pass| pass.sentence.clone()));
    }
    lines
}

/// The change to make first, where something has to be mended.
fn advice(study: &Study, offered: &[&Case]) -> Option<Block> {
    let own = study.own();
    let what = match (own.headline(), own.keeps()) {
        (None, _) => "Cheapest single change that gives an answer: ",
        (Some(_), Some(false)) => "Cheapest single change that keeps to the limits: ",
        _ => return None,
    };
    let mends = |case: &&&Case| case.keeps() != Some(false);
    // Of all that mend it, the one that costs least an hour; those without a known price last.
    let price = |case: &&&Case| case.dollars_per_hour().unwrap_or(f64::MAX);
    let best = offered.iter().filter(mends).min_by(|a, b| price(a).total_cmp(&price(b)));
    Some(match best {
        Some(case) => {
            let link = Span::link(&case.name, study.link_to(&case.scenario));
            Block::spans(vec![what.into(), link, ".".into()])
        }
        None => Block::text("No single change of those tried mends it."),
    })
}

fn row(study: &Study, case: &Case) -> Row {
    let own = study.own().headline();
    let Some(headline) = case.headline() else { return Row::default() };
    let time = |time: Seconds, was: Option<Seconds>| {
        time.print().to_string() + &against(time.0, was.map(|was| was.0))
    };
    let cells = vec![
        Span::link(&case.name, study.link_to(&case.scenario)),
        time(headline.ttft, own.map(|own| own.ttft)).into(),
        headline.tpot.map_or("–".into(), |tpot| time(tpot, own.and_then(|own| own.tpot))).into(),
        (count(headline.output_per_s_per_gpu)
            + &against(headline.output_per_s_per_gpu, own.map(|own| own.output_per_s_per_gpu)))
            .into(),
        (count(headline.output_per_s) + &against(headline.output_per_s, own.map(|own| own.output_per_s)))
            .into(),
        print::or_dash(headline.dollars_per_million.map(Dollars::print)).into(),
        case.keeps().map_or("–", |kept| if kept { "yes" } else { "no" }).into(),
    ];
    Row::new(cells)
}

/// ` (+12 %)`: the change against what was.
fn against(value: f64, was: Option<f64>) -> String {
    was.and_then(|was| change(value, was)).map_or_else(String::new, |change| format!(" ({change})"))
}
