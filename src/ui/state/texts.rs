//! Texts of the visitor's own: a `config.json`, a trace, a measurement. The worker reads them, since few have one.

use leptos::prelude::*;

use super::{Form, State, WorkerStatus};
use crate::config::{Field, Issue, link};
use crate::worker::protocol::{Read, Text};

/// Has the worker read the text that is to be `field`.
pub fn read(state: State, field: Field, text: String) {
    if let Some(why) = state.worker.with_untracked(WorkerStatus::ended) {
        return found(state, field, vec![Issue::error(field, why)]);
    }
    found(state, field, Vec::new());
    let link = state.form.with_untracked(Form::link);
    state.predictor.update_value(|predictor| predictor.read(Text { field, text, link }));
}

/// The form takes what the text holds: of a trace its means, which is what the link keeps of it.
pub fn heard(state: State, read: Read) {
    let field = read.field;
    state.predictor.update_value(|predictor| predictor.reading.retain(|other| *other != field));
    let (link, wrong) = link::decode(&read.link);
    let sound = !read.link.is_empty() && !wrong.iter().any(Issue::is_error);
    found(state, field, [read.issues, wrong].concat());
    if !sound {
        return;
    }
    let of = link.scenario;
    if field == Field::Trace {
        state.trace.set(read.trace);
    }
    state.choose(field.id(), |form| {
        let histogram = of.workload.histogram.clone();
        use Field::{Burstiness, Isl, LogSpread, Osl, Rate, Spread};
        let numbers: &[Field] = match field {
            Field::Trace if histogram.is_empty() => &[Spread, LogSpread, Burstiness, Isl, Osl, Rate],
            Field::Trace => &[Spread, LogSpread],
            _ => &[],
        };
        for &number in numbers {
            if let Some(value) = number.input().number.and_then(|number| (number.read)(&of)) {
                form.set(number, value);
            }
        }
        let taken = if field == Field::Trace { Field::Histogram } else { field };
        form.choose(taken, |scenario| match field {
            Field::Model => scenario.model = of.model,
            Field::Measured => scenario.measured = of.measured,
            _ => {
                scenario.workload.shape = None;
                if !histogram.is_empty() {
                    scenario.workload.histogram = histogram;
                }
            }
        });
    });
}

/// The worker has ended: what it was to read stays unread.
pub fn ended(state: State) {
    let why = state.worker.with_untracked(WorkerStatus::ended).unwrap_or_default();
    let reading = state.predictor.try_update_value(|predictor| std::mem::take(&mut predictor.reading));
    for field in reading.into_iter().flatten() {
        found(state, field, vec![Issue::error(field, &*why)]);
    }
}

/// Takes the measurement off the form: one of a link that holds none.
pub fn end_measured(state: State) {
    heard(state, Read { field: Field::Measured, link: "v=1".into(), ..Read::default() });
}

/// Says what was found in the text for `field`, in place of what was found in another.
pub fn found(state: State, field: Field, issues: Vec<Issue>) {
    state.texts.update(|texts| {
        texts.retain(|issue| issue.field != field);
        texts.extend(issues);
    });
}
