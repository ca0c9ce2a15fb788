//! The simulation of the load on the form: begun when its learned answer stands, ended by the next change.

use gloo::timers::callback::Timeout;
use leptos::prelude::*;

use super::frame;
use super::{Form, State};
use crate::worker::protocol::{Simulated, Swept};

/// A pause this long in the changes begins a simulation: while a slider moves there is none.
const PAUSE_MS: u32 = 200;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Progress {
    /// There is nothing to simulate, or nothing to do it.
    #[default]
    None,
    /// What is shown is another configuration's, until this one's comes.
    Due,
    Running,
    /// By the visitor.
    Stopped,
    Done,
}

/// What is known of the simulation.
#[derive(Debug, Clone, Default)]
pub struct Simulation {
    id: u32,
    pub progress: Progress,
    pub run: Option<Simulated>,
    pub curve: Option<Swept>,
}

/// Begins the simulation after a pause, where it is shown.
pub fn begin(state: State) {
    if !frame::shows("curve") {
        return;
    }
    state.simulation.update(|simulation| {
        simulation.id = simulation.id.wrapping_add(1);
        simulation.progress = Progress::Due;
    });
    let timer = Timeout::new(PAUSE_MS, move || {
        let (id, link) =
            (state.simulation.with_untracked(|one| one.id), state.form.with_untracked(Form::link));
        let replay = state.trace.with_untracked(|trace| !trace.is_empty());
        state.with_client(|client| client.simulate(id, link, replay));
    });
    state.simulation_timer.set_value(Some(timer));
}

/// Ends the simulation under way, since the form has changed.
pub fn end(state: State) {
    state.simulation_timer.set_value(None);
    state.simulation.update(|simulation| {
        if simulation.progress == Progress::Running {
            state.with_client(|client| client.stop(simulation.id));
        }
        simulation.progress = if simulation.run.is_some() { Progress::Due } else { Progress::None };
    });
}

/// The visitor has seen enough.
pub fn stop(state: State) {
    end(state);
    state.simulation.update(|simulation| simulation.progress = Progress::Stopped);
}

pub fn simulated(state: State, run: Simulated) {
    state.simulation.update(|simulation| {
        if run.id != simulation.id || simulation.progress != Progress::Due {
            return;
        }
        // What cannot be run has no curve either.
        simulation.progress = if run.goes_on { Progress::Running } else { Progress::Done };
        simulation.curve = None;
        simulation.run = Some(run);
    });
}

pub fn swept(state: State, curve: Swept) {
    state.simulation.update(|simulation| {
        if curve.id != simulation.id || simulation.progress != Progress::Running {
            return;
        }
        if curve.finished {
            simulation.progress = Progress::Done;
        }
        simulation.curve = Some(curve);
    });
}
