//! Texts provided by the visitor: a `config.json`, a name, a command, a trace, a measurement. The worker reads
//! them, since few visitors have one.

use leptos::prelude::*;

use super::{Form, State, WorkerStatus};
use crate::config::{Field, Issue, link};
use crate::worker::protocol::{Read, Text};

/// A request in one line.
#[derive(Debug, Clone, Default)]
pub struct RequestText {
    /// As last entered.
    pub typed: String,
    /// As last understood, and the link it led to.
    pub text: String,
    pub link: String,
}

/// Has the worker read the text for `field`.
pub fn read(state: State, field: Field, text: String) {
    if let Some(why) = state.worker.with_untracked(WorkerStatus::ended) {
        return state.found(field, vec![Issue::error(field, why)]);
    }
    state.found(field, Vec::new());
    let link = state.form.with_untracked(Form::link);
    state.predictor.update_value(|predictor| predictor.read(Text { field, text, link }));
}

/// Has the worker look up a model missing from the catalog: links may hold a published name.
pub fn look_up(state: State) {
    let unknown = state.form.with_untracked(|form| {
        let model = &form.scenario().model;
        model.record().is_none().then(|| model.id().to_owned())
    });
    if let Some(name) = unknown {
        state.predictor.update_value(|predictor| predictor.named = Some(name.clone()));
        read(state, Field::Model, name);
    }
}

/// Applies what a text holds to the form; for a trace its means, which the link keeps.
pub fn receive(state: State, read: Read) {
    let field = read.field;
    let looked_up = state.predictor.try_update_value(|predictor| {
        predictor.reading.retain(|other| *other != field);
        if field == Field::Model { predictor.named.take() } else { None }
    });
    let looked_up = looked_up.flatten();
    // Another model may have been chosen meanwhile.
    let passed = |name: &String| state.form.with_untracked(|form| form.scenario().model.id() != name);
    if looked_up.as_ref().is_some_and(passed) {
        return;
    }
    let (link, wrong) = link::decode(&read.link);
    let sound = !read.link.is_empty() && !wrong.iter().any(Issue::is_error);
    // Whichever fields they are about, they came with this text.
    let wrong: Vec<Issue> = wrong.into_iter().map(|issue| Issue { field, ..issue }).collect();
    let issues = [read.issues, wrong].concat();
    if sound && looked_up.is_some() {
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
        let form = Form::from_link(&read.link);
        state.said.update(|said| (said.text, said.link) = (said.typed.clone(), form.link()));
        // Each request has its entry in the history.
        state.last_pushed.set_value(None);
        return state.choose(field.id(), |own| *own = form);
    }
    let (of, runs) = (link.scenario, link.runs);
    if field == Field::Trace {
        state.trace.set(read.trace);
        state.lost_trace.set(false);
        // Its issues were about the previous load.
        state.found(Field::Measured, Vec::new());
    }
    state.choose(field.id(), |form| {
        let histogram = of.workload.histogram.clone();
        use Field::{
            Accepted, Burstiness, CachedShare, Dp, Drafted, Ep, Gpus, HostCache, Isl, LogSpread, MaxSeqs,
            MemoryShare, Osl, Pp, Rate, Requests, Spread, TokenBudget, Tp,
        };
        let numbers: &[Field] = match field {
            Field::Trace if histogram.is_empty() => &[Spread, LogSpread, Burstiness, Isl, Osl, Rate],
            Field::Trace => &[Spread, LogSpread],
            Field::Model => &[
                Tp,
                Pp,
                Dp,
                Ep,
                Gpus,
                TokenBudget,
                MaxSeqs,
                MemoryShare,
                Drafted,
                Accepted,
                HostCache,
                Isl,
                Osl,
                Spread,
                CachedShare,
                Requests,
            ],
            _ => &[],
        };
        let of_model = field == Field::Model;
        // What a manifest states about its nodes, and a benchmark about its load.
        if of_model && of.gpu != form.scenario().gpu {
            form.choose(Field::Gpu, |scenario| {
                (scenario.gpu, scenario.spec) = (of.gpu.clone(), of.spec.clone())
            });
        }
        if of_model && of.workload.load != form.scenario().workload.load {
            form.choose(Field::Load, |scenario| scenario.workload.load = of.workload.load);
        }
        for &number_field in numbers {
            let Some(number) = number_field.input().number else { continue };
            match (number.read)(&of) {
                // Only a command sets these; typed text is kept.
                value if of_model && value == (number.read)(form.scenario()) => {}
                Some(value) => form.set(number_field, value),
                None if of_model => form.type_text(number_field.input(), String::new()),
                None => {}
            }
        }
        if field == Field::Measured {
            form.calibrate_on((!runs.is_empty()).then_some(runs));
        }
        let taken = if field == Field::Trace { Field::Histogram } else { field };
        form.choose(taken, |scenario| match field {
            Field::Model => {
                (scenario.model, scenario.weights) = (of.model, of.weights);
                (scenario.engine, scenario.kv) = (of.engine, of.kv);
            }
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

/// The worker has ended: pending texts stay unread.
pub fn ended(state: State) {
    let why = state.worker.with_untracked(WorkerStatus::ended).unwrap_or_default();
    let reading = state.predictor.try_update_value(|predictor| std::mem::take(&mut predictor.reading));
    for field in reading.into_iter().flatten() {
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
