//! Answers the page's question, then other loads one at a time.

use super::protocol::{Answered, Ask, Swept};
use super::view;
use crate::config::catalog::catalog;
use crate::config::{Issue, Measured, check, link};
use crate::efficiency::{Efficiencies, Rows};
use crate::serving::run::{Bands, OwnRuns, Run, Runner, Sweep, Trace};
use crate::serving::{answer, plan, plan_replay};

/// The setup whose loads are swept.
pub struct Loads {
    pub id: u32,
    runner: Runner,
    /// Shown next to the prediction.
    measured: Measured,
    run: Option<(Run, Option<Bands>)>,
    sweep: Option<Sweep>,
}

/// Everything about the configuration that the page asks for. `models` answer rows.
pub fn of(
    asked: &Ask,
    trace: Option<Trace>,
    own_runs: &mut OwnRuns,
    models: impl Fn(&Rows) -> Result<Efficiencies, String>,
) -> Result<(Answered, Option<Loads>), String> {
    let id = asked.id;
    let refused = |issues: Vec<Issue>| Ok((Answered { id, issues, ..Answered::default() }, None));
    let (link, _) = link::decode(&asked.link);
    let (setup, found) = check(&link.scenario, catalog());
    let Some(setup) = setup else { return refused(found) };
    let traced = trace.is_some();
    let planned = match trace {
        Some(trace) => plan_replay(&setup, trace),
        None => plan(&setup),
    };
    let (plan, rows) = match planned {
        Ok(planned) => planned,
        Err(issues) => return refused([found, issues].concat()),
    };
    let efficiencies = models(&rows)?;
    let release = match &efficiencies {
        Efficiencies::Roofline => None,
        Efficiencies::Learned(learned) => Some(learned.release.clone()),
    };
    let (own, of_runs) = own_runs.of(&link.runs, catalog(), models)?;
    let plan = plan.calibrated_on(&own);
    let (report, runner) = answer(&plan, &efficiencies).ok_or("the models did not answer every row")?;
    let shown = view::answer(&plan.setup, &report, &link.scenario.measured, traced);
    let issues = [found, report.issues, of_runs].concat();
    let bands = report.calibrated.map(|calibrated| calibrated.bands);
    let run = report.run.map(|run| (run, bands));
    let measured = link.scenario.measured;
    let loads =
        runner.filter(|_| run.is_some()).map(|runner| Loads { id, runner, measured, run, sweep: None });
    let answered = Answered { id, release, issues, answer: Some(shown), has_loads: loads.is_some() };
    Ok((answered, loads))
}

impl Loads {
    /// Runs the next load; returns everything known so far.
    pub fn step(&mut self) -> Swept {
        let Self { id, runner, measured, run, sweep } = self;
        let sweep = sweep.get_or_insert_with(|| Sweep::of(runner, run.take()));
        // A load that cannot be served ends the curve.
        let ran = sweep.advance(runner).unwrap_or(false);
        Swept {
            id: *id,
            done: sweep.curve().len() as u32,
            total: sweep.total() as u32,
            finished: !ran,
            document: view::curve(runner.setup(), measured, sweep.curve(), sweep.largest(), !ran),
        }
    }
}
