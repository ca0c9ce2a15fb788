//! What a change of the model's shape buys: moves at equal memory, and at equal TPOT.

use super::metric::{COST, HeadlineMetric, PER_GPU, TPOT, TTFT, change, changes, head};
use super::{Block, Case, Row, Span, Study};
use crate::config::link::Link;
use crate::config::model::{Model, Size};
use crate::config::{ModelChoice, Scenario};
use crate::units::count;

/// The default first.
pub const CHOICES: [(&str, &str); 2] = [("memory", "Equal memory"), (TIME, "Equal TPOT")];
const TIME: &str = "latency";

const COLUMNS: [HeadlineMetric; 4] = [TTFT, TPOT, PER_GPU, COST];
/// Widths tried for one of equal TPOT, as multiples of that of equal memory.
const TRIED: [f64; 3] = [0.7, 1.0, 1.4];
/// GEMMs use tiles of this many columns, and block-scaled formats blocks; narrower shards than the
/// published ones need no wider tiles.
const TILES: [f64; 4] = [128.0, 64.0, 32.0, 16.0];

/// Sizes set together, each as a multiple of its present value.
struct Move {
    name: &'static str,
    sizes: &'static [(Size, f64)],
}

const fn step(name: &'static str, sizes: &'static [(Size, f64)]) -> Move {
    Move { name, sizes }
}

const MOVES: [Move; 12] = [
    step("A quarter fewer layers", &[(Size::Layers, 0.75)]),
    step("A quarter more layers", &[(Size::Layers, 1.25)]),
    step("A quarter narrower", &[(Size::Hidden, 0.75)]),
    step("A quarter wider", &[(Size::Hidden, 1.25)]),
    step("Half the KV heads", &[(Size::KvHeads, 0.5)]),
    step("Twice the KV heads", &[(Size::KvHeads, 2.0)]),
    step("Half the latent size", &[(Size::Latent, 0.5)]),
    step("Half the window", &[(Size::Window, 0.5)]),
    step("Half the active experts", &[(Size::Active, 0.5)]),
    step("Twice the active experts", &[(Size::Active, 2.0)]),
    step(
        "Twice as many experts, half as wide",
        &[(Size::Experts, 2.0), (Size::Active, 2.0), (Size::ExpertWidth, 0.5)],
    ),
    step("Half the vocabulary", &[(Size::Vocab, 0.5)]),
];

/// The width that makes up for a move: of the experts, or else of the MLPs.
fn balance(model: &Model) -> Option<Size> {
    [Size::ExpertWidth, Size::Mlp].into_iter().find(|size| model.size(*size).is_some())
}

pub fn cases(link: &Link, chosen: &str) -> Vec<Case> {
    let base = &link.scenario;
    let Some(model) = base.model.record() else { return Vec::new() };
    let Some(balance) = balance(model) else { return Vec::new() };
    let widths: &[f64] = if chosen == TIME { &TRIED } else { &[1.0] };
    let moved = MOVES.iter().filter_map(|step| Some((step.name, step.of(model)?)));
    let cases = moved.flat_map(|(name, moved)| {
        let equal = at_equal_memory(&moved, model, balance);
        let sized = widths.iter().filter_map(move |times| whole_tiles(equal? * times, base, balance));
        let case = move |width: u32| {
            Case::edited(name, base, |scenario| put(scenario, moved.resized(balance, width)))
        };
        sized.map(case).collect::<Vec<_>>()
    });
    cases.collect()
}

impl Move {
    /// `None` if the model lacks a size, or one is not whole.
    fn of(&self, model: &Model) -> Option<Model> {
        let mut moved = model.clone();
        for (size, times) in self.sizes {
            let value = f64::from(model.size(*size)?) * times;
            let value = if *size == Size::Layers { value.round() } else { value };
            if value.fract() != 0.0 || value < 1.0 {
                return None;
            }
            moved = moved.resized(*size, value as u32);
        }
        moved.objections().is_empty().then_some(moved)
    }
}

fn put(scenario: &mut Scenario, model: Model) {
    scenario.model = ModelChoice::Custom(Box::new(model));
}

/// The width at which `moved` has as many parameters as `model`: they are linear in it.
fn at_equal_memory(moved: &Model, model: &Model, balance: Size) -> Option<f64> {
    let width = moved.size(balance)?;
    let [now, wider] = [width, width + 1].map(|width| moved.resized(balance, width).parameters());
    let equal = f64::from(width) + (model.parameters() - now) / (wider - now);
    (equal > 0.0).then_some(equal)
}

/// The nearest width whose shards are whole tiles; `None` if there is none.
fn whole_tiles(width: f64, scenario: &Scenario, balance: Size) -> Option<u32> {
    let parallel = scenario.parallel;
    let ranks = (f64::from(parallel.gpus_per_stage()) / f64::from(parallel.ep.max(1))).max(1.0);
    let shard = scenario.size(balance)? / ranks;
    let tile = TILES.into_iter().find(|tile| shard % tile == 0.0).unwrap_or(1.0) * ranks;
    let whole = (width / tile).round() * tile;
    (whole >= tile && whole < f64::from(u32::MAX)).then_some(whole as u32)
}

pub fn blocks(study: &Study) -> Vec<Block> {
    let own = study.own();
    if own.outcome.is_some() && own.headline().is_none() {
        return super::refused(own.issues());
    }
    let Some(balance) = own.scenario.model.record().and_then(balance) else {
        return vec![Block::text(
            "This model has neither MLPs nor experts whose width could make up for a change.",
        )];
    };
    if study.chosen == TIME { at_equal_tpot(study, balance) } else { of_equal_memory(study, balance) }
}

/// The size's name as the head of a column.
fn label(balance: Size) -> &'static str {
    if balance == Size::Mlp { "MLP width" } else { "Expert width" }
}

/// The parts whose width is `balance`, within a sentence.
fn owners(balance: Size) -> &'static str {
    if balance == Size::Mlp { "MLPs" } else { "experts" }
}

fn of_equal_memory(study: &Study, balance: Size) -> Vec<Block> {
    let intro = format!(
        "Each row changes the model's shape and sets the width of its {} so that the parameter count changes as little as whole tiles allow, then simulates the \
         same load again; percentages are relative to this configuration. Effects on model quality are not predicted.",
        owners(balance)
    );
    let mut blocks = vec![Block::text(intro)];
    let rows: Vec<Row> = study
        .others()
        .iter()
        .filter_map(|case| {
            let mut cells: Vec<Span> = vec![study.open(&case.name, case)];
            cells.push(count(case.scenario.size(balance)?).into());
            cells.push(parameters(study.own(), case)?.into());
            cells.push(kv(study.own(), case).into());
            cells.extend(changes(&COLUMNS, case, study.own()));
            Some(Row::new(cells))
        })
        .collect();
    if !rows.is_empty() {
        let head = head(&["Change", label(balance), "Parameters", "KV cache per token and GPU"], &COLUMNS);
        blocks.push(Block::table("At equal memory", &head, rows));
    }
    blocks
}

fn at_equal_tpot(study: &Study, balance: Size) -> Vec<Block> {
    let intro = format!(
        "Each row changes the model's shape and sets the width of its {} so that TPOT changes as little as whole tiles allow. \
         The width is interpolated between three simulated ones; open a row to simulate it. Effects on model quality are not predicted.",
        owners(balance)
    );
    let own = study.own();
    if own.headline().is_some() && tpot(own).is_none() {
        return vec![Block::text("There is no TPOT with one output token.")];
    }
    let mut blocks = vec![Block::text(intro)];
    let mut rows = Vec::new();
    for tried in study.others().chunk_by(|a, b| a.name == b.name).filter(|tried| tried.len() > 1) {
        let found = tpot(own).and_then(|tpot| width_at(tpot, tried, balance));
        let moved = found.and_then(|width| whole_tiles(width, &own.scenario, balance)).and_then(|width| {
            let model = tried[0].scenario.model.record()?.resized(balance, width);
            Some(Case::edited(&*tried[0].name, &tried[0].scenario, |scenario| put(scenario, model)))
        });
        rows.push(match moved {
            Some(case) => Row::new(vec![
                study.open(&case.name, &case),
                count(case.scenario.size(balance).unwrap_or_default()).into(),
                parameters(own, &case).unwrap_or_default().into(),
                kv(own, &tried[0]).into(),
            ]),
            None => {
                let reason = tried.iter().map(Case::reason).find(|reason| !reason.is_empty());
                let text = reason.unwrap_or("no width tried has this TPOT").to_owned();
                Row::new(vec![tried[0].name.clone().into(), text.into(), "–".into(), "–".into()])
            }
        });
    }
    if !rows.is_empty() {
        let head = ["Change", label(balance), "Parameters", "KV cache per token and GPU"];
        blocks.push(Block::table("At equal TPOT", &head, rows));
    }
    blocks
}

fn tpot(case: &Case) -> Option<f64> {
    TPOT.of(case)
}

/// The width whose TPOT is `wanted`, between those tried; `None` if it lies outside.
fn width_at(wanted: f64, tried: &[Case], balance: Size) -> Option<f64> {
    let points: Vec<(f64, f64)> =
        tried.iter().filter_map(|case| Some((case.scenario.size(balance)?, tpot(case)?))).collect();
    points.windows(2).find_map(|pair| {
        let [(a, at_a), (b, at_b)] = [pair[0], pair[1]];
        let share = (wanted - at_a) / (at_b - at_a);
        (0.0..=1.0).contains(&share).then_some(a + (b - a) * share)
    })
}

/// `8.4 B (+5 %)`.
fn parameters(own: &Case, case: &Case) -> Option<String> {
    let of = |case: &Case| Some(case.scenario.model.record()?.parameters());
    let (now, then) = (of(own)?, of(case)?);
    Some(format!("{} B ({})", count(then / 1e9), change(then, now)?))
}

/// Bytes of the KV cache per token.
fn kv(own: &Case, case: &Case) -> String {
    let of = |case: &Case| Some(case.report()?.memory.kv_per_token);
    let text = of(own)
        .zip(of(case))
        .and_then(|(now, then)| Some(format!("{} ({})", then.print(), change(then.0, now.0)?)));
    text.unwrap_or_else(|| "–".into())
}
