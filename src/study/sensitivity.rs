//! How much each figure of the GPU matters: one of them changed at a time.

use super::metric::{COST, HeadlineMetric, PER_GPU, TPOT, TTFT, changes, head};
use super::{Block, Case, Row, Span, Study};
use crate::config::inputs::{FormGroup, Input, Number};
use crate::config::link::Link;
use crate::config::{Field, Scenario};
use crate::units::{Order, count, significant};

/// The default first.
pub const CHOICES: [(&str, &str); 3] = [("tenth", "10 % more"), ("twice", "Twice"), ("half", "Half")];

const COLUMNS: [HeadlineMetric; 4] = [TTFT, TPOT, PER_GPU, COST];
/// Changes below this are rounding and the noise of a run's arrivals.
const SAME: f64 = 0.001;
/// Significant digits of a changed figure.
const DIGITS: i32 = 4;

fn factor(chosen: &str) -> f64 {
    match chosen {
        "twice" => 2.0,
        "half" => 0.5,
        _ => 1.1,
    }
}

/// A case for each figure that the GPU has.
pub fn cases(link: &Link, chosen: &str) -> Vec<Case> {
    let base = &link.scenario;
    let inputs = FormGroup::Hardware.inputs().into_iter().filter(|input| (input.applies)(base));
    let changed = inputs.filter_map(|input| {
        let value = changed(input, base, factor(chosen))?;
        Some(Case::edited(input.field.id(), base, |scenario| {
            if let Some(number) = &input.number {
                (number.write)(scenario, Some(value));
            }
        }))
    });
    changed.collect()
}

fn changed(input: &Input, scenario: &Scenario, factor: f64) -> Option<f64> {
    let number = input.number.as_ref()?;
    let value = number.effective(scenario)? * factor;
    let value = if number.whole { value.round() } else { significant(value, DIGITS) };
    input.check(value).is_none().then_some(value)
}

pub fn blocks(study: &Study) -> Vec<Block> {
    let own = study.own();
    if study.is_unanswered() {
        return super::refused(own.issues());
    }
    let mut rows: Vec<(f64, &Input, &Case)> = Vec::new();
    let mut idle: Vec<&str> = Vec::new();
    for case in study.others() {
        let Some(input) = Field::from_id(&case.name).map(Field::input) else { continue };
        match effect(own, case) {
            Some(effect) if effect < SAME => idle.push(input.label),
            effect => rows.push((effect.unwrap_or(f64::INFINITY), input, case)),
        }
    }
    rows.order_by(|a, b| b.0.total_cmp(&a.0));
    let mut blocks = vec![Block::text(
        "Each row changes one figure of the GPU and simulates the same load again; percentages are relative to this \
         configuration, largest effect first. Peaks that are not set follow SMs and clock. The models of this GPU's \
         kernels give their efficiency at the new figures, but raising one figure alone never \
         makes a kernel slower than on the catalog's GPU. A real chip with these figures would differ.",
    )];
    let prefill = &study.link.scenario.prefill;
    if prefill.workers > 0 && prefill.gpu.is_some() {
        blocks.push(Block::text("The prefill workers' GPU stays as it is."));
    }
    if !rows.is_empty() {
        let head = head(&["Figure", "Now", "Changed to"], &COLUMNS);
        let rows = rows.into_iter().map(|(_, input, case)| row(study, input, case));
        blocks.push(Block::table("Effect of each figure", &head, rows));
    }
    if !idle.is_empty() {
        blocks.push(Block::text(format!("No effect on this configuration: {}.", idle.join(", "))));
    }
    blocks
}

/// The largest relative change of a latency or of the output; `None` if there is no answer.
fn effect(own: &Case, case: &Case) -> Option<f64> {
    case.headline()?;
    let change = |metric: &HeadlineMetric| Some(metric.ratio(case, own)?.ln().abs());
    Some([TTFT, TPOT, PER_GPU].iter().filter_map(change).fold(0.0, f64::max))
}

fn row(study: &Study, input: &Input, case: &Case) -> Row {
    let print = |scenario| {
        let printed =
            |number: &Number| Some(format!("{} {}", count(number.effective(scenario)?), number.unit));
        input.number.as_ref().and_then(printed).unwrap_or_else(|| "–".into())
    };
    let mut cells: Vec<Span> = vec![study.open(input.label, case)];
    cells.push(print(&study.own().scenario).into());
    cells.push(print(&case.scenario).into());
    cells.extend(changes(&COLUMNS, case, study.own()));
    Row::new(cells)
}
