//! Answers the page's question, then other loads one at a time.

use super::protocol::{Answered, PredictionRequest, Swept};
use super::view::{self, MeasuredPoints};
use crate::config::{Issue, Scenario, catalog, check, link};
use crate::efficiency::{Efficiencies, Rows, UNANSWERED};
use crate::serving::run::{Bands, OwnRuns, Run, Runner, Sweep, Trace};
use crate::serving::table::Tables;
use crate::serving::{answer, plan_among};
use crate::study::accuracy::Accuracy;
use crate::study::against_measured::runs_like;

/// The setup whose loads are swept.
pub struct Loads {
    pub id: u32,
    runner: Runner,
    /// The scenario as asked, with the visitor's measurement.
    scenario: Scenario,
    run: Option<(Run, Option<Bands>)>,
    sweep: Option<Sweep>,
    /// Whether no load is left to run.
    over: bool,
}

/// Everything about the configuration that the page asks for. `models` answer rows.
pub fn of(
    asked: &PredictionRequest,
    trace: Option<Trace>,
    (own_runs, tables): (&mut OwnRuns, &mut Tables),
    models: impl Fn(&Rows) -> Result<Efficiencies, String>,
) -> Result<(Answered, Option<Loads>), String> {
    let id = asked.id;
    let refused = |issues: Vec<Issue>| Ok((Answered { id, issues, ..Answered::default() }, None));
    let (mut link, _) = link::decode(&asked.link);
    // The check reports unknown names.
    link.settle();
    link.scenario.measured = link.comparable();
    let (setup, found) = check(&link.scenario, catalog());
    let Some(setup) = setup else { return refused(found) };
    let traced = trace.is_some();
    let (plan, rows) = match plan_among(&setup, trace, tables) {
        Ok(planned) => planned,
        Err(issues) => return refused([found, issues].concat()),
    };
    let efficiencies = models(&rows)?;
    let (own, of_runs) = own_runs.of(&link.runs, &models)?;
    let plan = plan.calibrated_on(&own);
    let (report, runner) = answer(&plan, &efficiencies).ok_or(UNANSWERED)?;
    let release = report.basis.release().map(str::to_owned);
    let shown = view::answer(&plan.setup, &report, &link.scenario.measured, traced);
    let issues = [found, report.issues, of_runs].concat();
    let bands = report.calibrated.map(|calibrated| calibrated.bands);
    let run = report.run.map(|run| (run, bands));
    let scenario = link.scenario;
    let loads = runner.filter(|_| run.is_some()).map(|runner| Loads {
        id,
        runner,
        scenario,
        run,
        sweep: None,
        over: false,
    });
    let answered = Answered { id, release, issues, answer: Some(shown), has_loads: loads.is_some() };
    Ok((answered, loads))
}

impl Loads {
    /// Runs the next load, if any is left; returns everything known so far. `accuracy` has measured runs to show beside it.
    pub fn step(&mut self, accuracy: Option<&Accuracy>) -> Swept {
        let Self { id, runner, scenario, run, sweep, over } = self;
        let sweep = sweep.get_or_insert_with(|| Sweep::of(runner, run.take()));
        // A load that cannot be served ends the curve.
        *over = *over || !sweep.advance(runner).unwrap_or(false);
        let runs = accuracy.map(|accuracy| runs_like(accuracy, runner.setup(), scenario)).unwrap_or_default();
        let measured = MeasuredPoints { own: &scenario.measured, runs };
        Swept {
            id: *id,
            done: sweep.curve().len() as u32,
            total: sweep.total() as u32,
            finished: *over,
            document: view::curve(runner.setup(), &measured, sweep, *over),
        }
    }
}
