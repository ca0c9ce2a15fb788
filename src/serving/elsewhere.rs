//! Alternatives for a report's kernels: other engines' kernels, and other tiles.

use crate::config::{Engine, Setup};
use crate::efficiency::{Efficiencies, Rows};
use crate::kernels::{Op, Schedule};
use crate::latency::Provenance;
use crate::units::Seconds;

use super::plan::Plan;
use super::report::Report;
use super::step::PlannedCall;

/// Alternatives for one line of a pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Alternative {
    /// The engine with the fastest predicted kernel, and its time per launch. Only engines whose kernels for such
    /// calls were measured on the GPU are considered; there may be none.
    pub engine: Option<(String, Seconds)>,
    /// The launch that wastes least among known tiles.
    pub tile: Option<Schedule>,
}

/// A call as launched by another engine.
struct OtherCall<'a> {
    pass: usize,
    line: usize,
    setup: Setup,
    name: &'a str,
    call: PlannedCall,
}

/// Alternatives for every line of every pass in the report of `plan`, in order.
pub fn elsewhere(
    plan: &Plan,
    report: &Report,
    engines: &[Engine],
    ask: impl FnOnce(&Rows) -> Result<Efficiencies, String>,
) -> Result<Vec<Vec<Alternative>>, String> {
    let mut rows = Rows::default();
    let mut calls = Vec::new();
    let mut found: Vec<Vec<Alternative>> = Vec::new();
    for (at, pass) in report.passes.iter().enumerate() {
        found.push(vec![Alternative::default(); pass.kernels.len()]);
        let Some((own, step)) = plan.step_of(pass) else { continue };
        let running: Vec<Engine> = engines.iter().map(|engine| engine.running(&own.model)).collect();
        for planned in &step.calls {
            let Some(line) = pass.line_of(&planned.call) else { continue };
            found[at][line].tile = least_waste(planned, own);
            let others = engines.iter().zip(&running);
            for (engine, running) in
                others.filter(|(_, running)| is_comparable(&planned.call.op, own, running))
            {
                let setup = Setup { engine: launching(own, running), ..own.clone() };
                if let Ok(call) = planned.on(&setup, &mut rows) {
                    calls.push(OtherCall { pass: at, line, setup, name: &engine.name, call });
                }
            }
        }
    }
    let efficiencies = ask(&rows)?;
    for OtherCall { pass, line, setup, name, call } in calls {
        let time = call.time(&setup, &efficiencies);
        let learned = time.filter(|time| time.provenance == Provenance::Learned);
        let held = &mut found[pass][line].engine;
        if let Some(time) = learned
            && held.as_ref().is_none_or(|(_, fastest)| time.time.0 < fastest.0)
        {
            *held = Some((name.to_owned(), time.time));
        }
    }
    Ok(found)
}

/// Whether another engine's kernel for `op` was measured, and does everything ours does.
fn is_comparable(op: &Op, own: &Setup, engine: &Engine) -> bool {
    let rotates = matches!(op, Op::Attention(_)) && own.engine.rope_in_attention && !engine.rope_in_attention;
    engine.id != own.engine.id && !rotates && op.measured_with(&own.gpu, engine)
}

/// `engine` with its kernels launched like our own with regard to quantisation.
fn launching(own: &Setup, engine: &Engine) -> Engine {
    Engine { quantises_before: own.engine.quantises_before, ..engine.clone() }
}

fn least_waste(planned: &PlannedCall, setup: &Setup) -> Option<Schedule> {
    let all = planned.call.op.candidates(&setup.gpu).into_iter();
    all.min_by(|a, b| a.stretch().total_cmp(&b.stretch()))
}
