//! The loads around that of the answer: run when the answer stands, ended by the next change.

use gloo::timers::callback::Timeout;
use leptos::prelude::*;

use super::{State, frame, suggest};
use crate::worker::protocol::Swept;

/// A pause this long in the changes begins a sweep: while a slider moves there is none.
const PAUSE_MS: u32 = 200;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Progress {
    /// There is nothing to run, or nothing to do it.
    #[default]
    None,
    /// What is shown is another configuration's, until this one's comes.
    Due,
    Running,
    /// By the visitor.
    Stopped,
    Done,
}

/// What is known of the loads around the answer `id`.
#[derive(Debug, Clone, Default)]
pub struct Sweep {
    id: u32,
    pub progress: Progress,
    pub curve: Option<Swept>,
}

/// Begins the sweep around the answer `id` after a pause, where it is shown.
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

/// There will be a sweep, around the next answer: its place is kept.
pub fn expect(state: State) {
    if frame::shows("curve") {
        state.sweep.update(|sweep| sweep.progress = Progress::Due);
    }
}

/// Ends the sweep under way, since the form has changed.
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

/// The visitor has seen enough.
pub fn stop(state: State) {
    end(state);
    state.sweep.update(|sweep| sweep.progress = Progress::Stopped);
    suggest::rest(state);
}

pub fn swept(state: State, curve: Swept) {
    state.sweep.update(|sweep| {
        if curve.id != sweep.id || sweep.progress != Progress::Running {
            return;
        }
        if curve.finished {
            sweep.progress = Progress::Done;
        }
        sweep.curve = Some(curve);
    });
    suggest::rest(state);
}
