//! Other loads around the answer's: run once the answer is known, stopped by the next change.

use gloo::timers::callback::Timeout;
use leptos::prelude::*;

use super::{State, frame, suggest};
use crate::worker::protocol::Swept;

/// Pause in editing after which a sweep starts.
const PAUSE_MS: u32 = 200;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Progress {
    /// Nothing to run, or no worker.
    #[default]
    None,
    /// The content shown is for another configuration, until the next arrives.
    Due,
    Running,
    /// Stopped by the visitor.
    Stopped,
    Done,
}

/// Results for other loads around answer `id`.
#[derive(Debug, Clone, Default)]
pub struct Sweep {
    id: u32,
    pub progress: Progress,
    pub curve: Option<Swept>,
}

/// Starts the sweep around answer `id` after a pause, if it is shown.
pub fn begin(state: State, id: u32) {
    if !frame::shows("curve") {
        return;
    }
    state.sweep.update(|sweep| (sweep.id, sweep.progress) = (id, Progress::Due));
    let timer = Timeout::new(PAUSE_MS, move || {
        state.sweep.update(|sweep| {
            if (sweep.id, sweep.progress) == (id, Progress::Due) {
                sweep.progress = Progress::Running;
            }
        });
        state.with_client(|client| client.sweep(id));
    });
    state.sweep_timer.set_value(Some(timer));
}

/// Reserves space for a sweep around the next answer.
pub fn expect(state: State) {
    if frame::shows("curve") {
        state.sweep.update(|sweep| sweep.progress = Progress::Due);
    }
}

/// Ends the sweep, since the form has changed.
pub fn end(state: State) {
    state.sweep_timer.set_value(None);
    state.sweep.update(|sweep| {
        if sweep.progress == Progress::Running {
            state.with_client(|client| client.stop(sweep.id));
        }
        if sweep.progress != Progress::None {
            sweep.progress = Progress::Due;
        }
    });
}

/// The answer has no other loads.
pub fn none(state: State) {
    state.sweep.update(|sweep| (sweep.progress, sweep.curve) = (Progress::None, None));
}

impl State {
    /// Ends the sweep, keeping its results.
    pub fn stop_sweep(self) {
        end(self);
        self.sweep.update(|sweep| sweep.progress = Progress::Stopped);
        suggest::rest(self);
    }
}

pub fn swept(state: State, curve: Swept) {
    state.sweep.update(|sweep| {
        if curve.id != sweep.id || !matches!(sweep.progress, Progress::Running | Progress::Done) {
            return;
        }
        if curve.finished {
            sweep.progress = Progress::Done;
        }
        sweep.curve = Some(curve);
    });
    suggest::rest(state);
}
