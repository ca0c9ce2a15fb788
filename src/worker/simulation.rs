//! A simulation under way in the worker: the load asked for, then the loads around it, one at a time.

use super::asked::setup;
use super::protocol::{Simulate, Simulated, Swept};
use super::view;
use crate::config::Issue;
use crate::efficiency::{Efficiencies, Rows};
use crate::serving::run::{RunPlan, Runner, Sweep, Trace};

pub struct Simulation {
    pub id: u32,
    runner: Runner,
    sweep: Sweep,
}

impl Simulation {
    /// What the load asked for comes to, and the simulation of the others, where it can be run at all. `ask` has
    /// the models answer rows.
    pub fn start(
        asked: &Simulate,
        trace: Option<Trace>,
        ask: impl FnOnce(&Rows) -> Result<Efficiencies, String>,
    ) -> Result<(Simulated, Option<Self>), String> {
        let refused =
            |issues: Vec<Issue>| Ok((Simulated { id: asked.id, issues, ..Simulated::default() }, None));
        let traced = trace.is_some();
        let planned = setup(&asked.link).and_then(|setup| match trace {
            Some(trace) => RunPlan::of_trace(&setup, trace),
            None => RunPlan::new(&setup),
        });
        let plan = match planned {
            Ok(plan) => plan,
            Err(issues) => return refused(issues),
        };
        let efficiencies = ask(plan.rows())?;
        let runner = plan.finish(&efficiencies).ok_or("the models did not answer every row")?;
        match runner.run(runner.setup().load) {
            Ok(run) => {
                let issues = view::saturated(&run).into_iter().collect();
                let document = view::run(runner.setup(), &run, traced);
                let sweep = Sweep::of(&runner, Some(run));
                let shown = Simulated { id: asked.id, issues, goes_on: true, document };
                Ok((shown, Some(Self { id: asked.id, runner, sweep })))
            }
            Err(issue) => refused(vec![issue]),
        }
    }

    /// Runs the next load; all that is known then.
    pub fn step(&mut self) -> Swept {
        // A load that cannot be served ends the curve.
        let ran = self.sweep.advance(&self.runner).unwrap_or(false);
        let document = view::curve(self.runner.setup(), self.sweep.curve(), self.sweep.largest());
        Swept {
            id: self.id,
            done: self.sweep.curve().len() as u32,
            total: self.sweep.total() as u32,
            finished: !ran,
            document,
        }
    }
}
