//! Texts provided by the visitor: a `config.json`, a name, a command, a trace, a measurement. The worker reads
//! them, since few visitors have one.

use leptos::prelude::*;

use super::{Form, State, WorkerStatus};
use crate::config::{Field, Issue, catalog, link};
use crate::worker::protocol::{Read, Text};

/// A request in one line.
#[derive(Debug, Clone, Default)]
pub struct RequestText {
    /// The request as last entered.
    pub typed: String,
    /// The request as last understood, and the link it led to.
    pub text: String,
    pub link: String,
}

/// Has the worker read the text for `field`, which may be a name that a link holds.
pub fn read(state: State, field: Field, text: String, is_of_link: bool) {
    if let Some(why) = state.worker.with_untracked(WorkerStatus::ended) {
        return state.found(field, vec![Issue::error(field, why)]);
    }
    state.found(field, Vec::new());
    let link = state.form.with_untracked(Form::link);
    state.predictor.update_value(|predictor| predictor.read(Text { field, text, link }, is_of_link));
}

/// Has the worker look up a model missing from the catalog: links may hold a published name.
pub fn look_up(state: State) {
    let unknown = state.form.with_untracked(|form| {
        let model = &form.scenario().model;
        let is_known = model.record().is_some() || catalog().refused_model(model.id()).is_some();
        (!is_known).then(|| model.id().to_owned())
    });
    let Some(name) = unknown else { return };
    let is_asked = |(text, is_of_link): &(Text, bool)| *is_of_link && text.text == name;
    if !state.predictor.with_value(|predictor| predictor.reading.iter().any(is_asked)) {
        read(state, Field::Model, name, true);
    }
}

/// Applies what a text holds to the form; for a trace its means, which the link keeps.
pub fn receive(state: State, answer: Read) {
    let field = answer.field;
    let asked = state.predictor.try_update_value(|predictor| {
        let at = predictor.reading.iter().position(|(text, _)| text.field == field)?;
        Some(predictor.reading.remove(at))
    });
    let mut looked_up = false;
    if let Some((Text { text, link, .. }, is_of_link)) = asked.flatten() {
        looked_up = is_of_link;
        let (own, model) =
            state.form.with_untracked(|form| (form.link(), form.scenario().model.id().to_owned()));
        // Another model may have been chosen meanwhile.
        if looked_up && model != text {
            return;
        }
        // The worker adds a text to the form as it was: what was edited meanwhile would be lost.
        if field != Field::Trace && own != link {
            return read(state, field, text, is_of_link);
        }
    }
    let (link, wrong) = link::decode(&answer.link);
    let sound = !answer.link.is_empty() && !wrong.iter().any(Issue::is_error);
    // Whichever fields they are about, they came with this text.
    let wrong: Vec<Issue> = wrong.into_iter().map(|issue| Issue { field, ..issue }).collect();
    let issues = [answer.issues, wrong].concat();
    if sound && looked_up {
        return state.amend(|form| {
            form.choose(field, |scenario| {
                (scenario.model, scenario.weights) = (link.scenario.model, link.scenario.weights);
            });
            form.show_issues(issues);
        });
    }
    state.found(field, issues);
    if !sound {
        return;
    }
    if field == Field::Vary {
        let form = Form::from_link(&answer.link);
        state.said.update(|said| (said.text, said.link) = (said.typed.clone(), form.link()));
        // Each request has its entry in the history.
        state.last_pushed.set_value(None);
        return state.choose(field.id(), |own| *own = form);
    }
    let (of, runs) = (link.scenario, link.runs);
    if field == Field::Trace {
        // A histogram is none: the worker keeps the one it has.
        if !answer.trace.is_empty() {
            state.held_trace.set(answer.trace.clone());
        }
        state.trace.set(answer.trace);
        // Its issues were about the previous load.
        state.found(Field::Measured, Vec::new());
    }
    state.choose(field.id(), |form| match field {
        Field::Model => form.take(of),
        Field::Measured => {
            form.calibrate_on((!runs.is_empty()).then_some(runs));
            form.choose(field, |scenario| scenario.measured = of.measured);
        }
        _ => {
            use Field::{Burstiness, Isl, LogSpread, Osl, Rate, Spread};
            let histogram = of.workload.histogram.clone();
            // A histogram has neither means nor times.
            let numbers = [Spread, LogSpread, Burstiness, Isl, Osl, Rate];
            for &number in if histogram.is_empty() { &numbers[..] } else { &numbers[..2] } {
                if let Some(value) = number.input().number.and_then(|number| (number.read)(&of)) {
                    form.set(number, value);
                }
            }
            form.choose(Field::Histogram, |scenario| {
                scenario.workload.shape = None;
                if !histogram.is_empty() {
                    scenario.workload.draw_from(histogram);
                }
            });
        }
    });
}

/// The worker has ended: pending texts stay unread.
pub fn ended(state: State) {
    let why = state.worker.with_untracked(WorkerStatus::ended).unwrap_or_default();
    let reading = state.predictor.try_update_value(|predictor| std::mem::take(&mut predictor.reading));
    for (Text { field, .. }, _) in reading.into_iter().flatten() {
        state.found(field, vec![Issue::error(field, &*why)]);
    }
}

impl State {
    /// Removes the measurement, with an empty link.
    pub fn end_measured(self) {
        receive(self, Read { field: Field::Measured, link: "v=1".into(), ..Read::default() });
    }

    /// Shows the issues of the text for `field`, replacing those of another.
    pub fn found(self, field: Field, issues: Vec<Issue>) {
        self.texts.update(|texts| {
            texts.retain(|issue| issue.field != field);
            texts.extend(issues);
        });
    }
}
