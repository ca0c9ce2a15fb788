//! The content of the page's form: a scenario, and text that is not a valid number yet.

use super::stops::round;
use super::{FormGroup, INPUTS, Input};
use crate::config::catalog::{Offered, catalog};
use crate::config::link::{self, Link, SearchSpace};
use crate::config::{Dtype, Field, Issue, Lengths, Load, ModelChoice, Scenario, Slos, SpecSheet, comparable};

/// The form's content. Text that is no number in range stays here as typed, and the scenario keeps its last
/// good number.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// The scenario and the rest of the link: keys of other releases are kept.
    link: Link,
    /// Text that a box shows instead of the scenario's number, while being edited or invalid.
    drafts: Vec<(Field, String)>,
    /// Problems with the link or a draft. Editing the field clears them.
    issues: Vec<Issue>,
    /// The model size being edited, and the model before the edit: each keystroke resizes that model, or rounding would
    /// accumulate.
    sized: Option<(Field, ModelChoice)>,
    /// Formats of weights and KV cache that the GPU ruled out, for the next GPU that has them.
    ruled_out: Option<(Option<Dtype>, Dtype)>,
    /// The load that an offline workload replaced, and the limits, for the next load that is not offline.
    set_aside: Option<(Load, Slos)>,
}

impl Form {
    /// Reads a whole address, or its fragment.
    pub fn from_link(address: &str) -> Self {
        let (link, issues) = link::decode(address);
        let given = |issue: &Issue| issue.given.clone().map(|given| (issue.field, given));
        let drafts = issues.iter().filter(|issue| issue.is_error()).filter_map(given).collect();
        Self { link, drafts, issues, sized: None, ruled_out: None, set_aside: None }
    }

    /// The form for the address of a freshly opened page: without a link it shows [`link::FRESH`].
    pub fn opened(address: &str) -> Self {
        Self::from_link(if link::names_nothing(address) { link::FRESH } else { address })
    }

    /// The fragment of a link to this form, without its `#`.
    pub fn link(&self) -> String {
        self.link.encode()
    }

    /// The fragment of a link to this form, pinned to the release of data and weights behind its numbers.
    pub fn pinned_link(&self, release: String) -> String {
        let mut link = self.link.clone();
        link.data_release = Some(release);
        link.encode()
    }

    /// A warning if the link was made with a different release of data and weights.
    pub fn then_and_now(&self, release: &str) -> Option<Issue> {
        self.link.then_and_now(release)
    }

    pub fn scenario(&self) -> &Scenario {
        &self.link.scenario
    }

    /// The configurations to compare with.
    pub fn compared(&self) -> &[Scenario] {
        &self.link.compared
    }

    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// The search, if plans are requested.
    pub fn find(&self) -> Option<&SearchSpace> {
        self.link.find.as_ref()
    }

    /// The rates of the day that plans are requested for, in place of one load.
    pub fn hours(&self) -> Vec<&str> {
        self.find().map(SearchSpace::hours).unwrap_or_default()
    }

    /// Whether plans are requested and the page has a control for `field` in that mode.
    pub fn seeks(&self, field: Field) -> bool {
        let is_setting = field.input().place.is_some() && !SearchSpace::chooses(field);
        self.find().is_some() && (field == Field::Vary || SearchSpace::takes(field)) && !is_setting
    }

    /// Turns the search on or off.
    pub fn set_find(&mut self, find: Option<SearchSpace>) {
        self.link.find = find;
        self.link.data_release = None;
        self.issues.retain(|issue| issue.field != Field::Vary);
    }

    /// Whether the form shows a control for `field`: it applies, is not at its default, or holds unreadable input;
    /// and no search chooses it, or takes the rates of a day instead.
    pub fn shows(&self, field: Field) -> bool {
        let input = field.input();
        let is_of_day = Load::sizes().contains(&field) && !self.hours().is_empty();
        let is_chosen = self.find().is_some() && SearchSpace::chooses(field) || is_of_day;
        !is_chosen
            && input.place.is_some()
            && (input.is_shown(self.scenario()) || self.draft(field).is_some())
    }

    /// Whether a box holds text that is not a number, or the link what cannot be read: the scenario then differs from what
    /// was asked.
    pub fn has_bad_draft(&self) -> bool {
        let is_unread = |of: Field| of == Field::Link || self.draft(of).is_some();
        self.issues.iter().any(|issue| issue.is_error() && is_unread(issue.field))
    }

    /// Whether the box of `field` holds text that is not a number.
    pub fn is_unread(&self, field: Field) -> bool {
        self.draft(field).is_some()
            && self.issues.iter().any(|issue| issue.is_error() && issue.field == field)
    }

    /// The text in the box of `input`.
    pub fn text(&self, input: &Input) -> String {
        let draft = self.draft(input.field).map(str::to_owned);
        let number = || {
            let number = input.number.as_ref()?;
            (number.read)(self.scenario()).map(|value| number.print(value))
        };
        let workload = &self.scenario().workload;
        let is_list = matches!(workload.isl, Lengths::Each(_)) && workload.histogram.is_empty();
        let list = || if input.field == Field::Isl && is_list { input.get(&self.link) } else { None };
        draft.or_else(list).or_else(number).unwrap_or_default()
    }

    /// Handles a keystroke: the text stays as typed, and the number follows if it is valid.
    pub fn type_text(&mut self, input: &Input, text: String) {
        self.forget(input.field);
        match (input.listed(&text, self.scenario()), input.typed(&text)) {
            (Some(lengths), _) => self.link.scenario.workload.set_prompts(lengths),
            (None, Ok(value)) => {
                self.write(input.field, value);
                self.issues.extend(input.note(&text, self.scenario()));
            }
            (None, Err(issue)) => {
                self.issues.push(input.refused(issue, &text, self.scenario()));
                self.drop_refused(input);
            }
        }
        self.drafts.push((input.field, text));
    }

    /// Handles leaving the box: a valid number, or list, is shown in plain form, anything else stays as typed.
    pub fn leave(&mut self, input: &Input) {
        let is_read = |text: &str| input.typed(text).is_ok() || input.listed(text, self.scenario()).is_some();
        if self.draft(input.field).is_some_and(is_read) {
            self.drafts.retain(|(field, _)| *field != input.field);
        }
    }

    /// A number chosen with the slider or the arrow keys.
    pub fn set(&mut self, field: Field, value: f64) {
        self.forget(field);
        let load = self.scenario().workload.load;
        self.write(field, Some(value));
        self.replace_load(load);
    }

    /// Shows issues until their field is edited.
    pub fn show_issues(&mut self, issues: Vec<Issue>) {
        self.issues.extend(issues);
    }

    /// Handles a choice from a list. Inputs it rules out are reset, with notes.
    pub fn choose(&mut self, field: Field, change: impl FnOnce(&mut Scenario)) {
        self.forget(field);
        self.sized = None;
        if field == Field::Gpu {
            self.choose_gpu(change);
        } else {
            if matches!(field, Field::Model | Field::Weights | Field::Kv) {
                self.ruled_out = None;
            }
            let load = self.scenario().workload.load;
            change(&mut self.link.scenario);
            self.issues.extend(super::reset(&mut self.link.scenario, field));
            if field == Field::Load {
                self.replace_load(load);
            }
        }
        let ruled_out = |of: &Field| !of.input().is_shown(&self.link.scenario);
        let (gone, kept) = std::mem::take(&mut self.drafts).into_iter().partition(|(of, _)| ruled_out(of));
        self.drafts = kept;
        for (of, text) in gone {
            self.issues.retain(|issue| issue.field != of);
            let note = format!("{} was reset: `{text}` no longer applies", of.input().label);
            self.issues.push(Issue::note(field, note));
        }
    }

    /// Takes over what a pasted text says about the model, how it is served and its load. Text typed for a number that
    /// this leaves as it is stays.
    pub fn take(&mut self, mut of: Scenario) {
        let changes = |input: &&Input| {
            input.number.is_some_and(|number| (number.read)(&of) != (number.read)(self.scenario()))
        };
        let changed: Vec<Field> = INPUTS.iter().filter(changes).map(|input| input.field).collect();
        changed.into_iter().for_each(|field| self.forget(field));
        if of.workload.load != self.scenario().workload.load {
            self.choose(Field::Load, |scenario| scenario.workload.clone_from(&of.workload));
            of.workload.clone_from(&self.scenario().workload);
        }
        self.choose(Field::Model, |scenario| *scenario = of);
    }

    /// Formats that the GPU before ruled out come back if this one has them.
    fn choose_gpu(&mut self, change: impl FnOnce(&mut Scenario)) {
        let scenario = &mut self.link.scenario;
        let before = (scenario.weights, scenario.kv);
        let wished = self.ruled_out.take().unwrap_or(before);
        (scenario.weights, scenario.kv) = wished;
        change(scenario);
        let mut notes = super::reset(scenario, Field::Gpu);
        let formats = (scenario.weights, scenario.kv);
        if formats != wished {
            self.ruled_out = Some(wished);
        } else if formats != before {
            notes
                .push(Issue::note(Field::Gpu, "Formats that the previous GPU did not support were restored"));
        }
        self.issues.extend(notes);
    }

    /// The measured runs that calibrate predictions.
    pub fn runs(&self) -> &[Scenario] {
        &self.link.runs
    }

    /// A link to the run whose measurement the form holds without its configuration.
    pub fn measured_elsewhere(&self) -> Option<String> {
        let own = &self.link.scenario;
        let run = self.link.runs.iter().find(|run| run.measured == own.measured)?;
        let is_elsewhere = !own.measured.is_empty() && comparable(own, &self.link.runs).is_empty();
        is_elsewhere.then(|| Link { scenario: run.clone(), ..self.link.clone() }.encode())
    }

    /// Adds `runs`, keeping the newest if a link cannot hold all; `None` removes all.
    pub fn calibrate_on(&mut self, runs: Option<Vec<Scenario>>) {
        let Some(runs) = runs else { return self.link.runs.clear() };
        for run in runs {
            if !self.link.runs.contains(&run) {
                self.link.runs.push(run);
            }
        }
        let over = self.link.runs.len().saturating_sub(link::MOST_RUNS);
        self.link.runs.drain(..over);
    }

    /// Removes one of the runs, and the form's measurement if it is that run's.
    pub fn remove_run(&mut self, at: usize) {
        if at >= self.link.runs.len() {
            return;
        }
        let run = self.link.runs.remove(at);
        if self.link.scenario.measured == run.measured {
            self.link.scenario.measured = Default::default();
        }
        // What was said of the runs numbers them.
        self.issues.retain(|issue| issue.field != Field::Runs);
    }

    fn write(&mut self, field: Field, value: Option<f64>) {
        let model = &mut self.link.scenario.model;
        match &self.sized {
            Some((of, before)) if *of == field => model.clone_from(before),
            _ if field.input().group() == Some(FormGroup::Architecture) => {
                self.sized = Some((field, model.clone()))
            }
            _ => self.sized = None,
        }
        if let Some(number) = &field.input().number {
            (number.write)(&mut self.link.scenario, value);
        }
        if field.input().group() == Some(FormGroup::Hardware) {
            self.drop_own_figures();
        }
    }

    /// If all figures equal the GPU's own, nothing is edited. A single one that does may still be an edit: peaks follow
    /// SMs and clock unless given.
    fn drop_own_figures(&mut self) {
        let scenario = &mut self.link.scenario;
        let (Some(gpu), Some(engine)) = (catalog().gpu(&scenario.gpu), Offered::of(&scenario.engine)) else {
            return;
        };
        let own =
            FormGroup::Hardware.inputs().iter().filter_map(|input| input.number.as_ref()).all(|number| {
                let figure = number.catalog.and_then(|of| of(&engine.scheduler, gpu, scenario));
                (number.read)(scenario).is_none_or(|held| figure.map(round) == Some(round(held)))
            });
        if own {
            scenario.spec = SpecSheet::default();
        }
    }

    /// Resets an out-of-range number of the link, which would otherwise stay there and have an error of its own in
    /// addition to that of the text.
    fn drop_refused(&mut self, input: &Input) {
        let held = input.number.and_then(|number| (number.read)(self.scenario()));
        if held.is_some_and(|value| input.check(value).is_some()) {
            self.write(input.field, input.default_number());
        }
    }

    fn draft(&self, field: Field) -> Option<&str> {
        self.drafts.iter().find(|(of, _)| *of == field).map(|(_, text)| text.as_str())
    }

    /// Prepares for an edit of `field`: the link's release and its general issues no longer apply.
    fn forget(&mut self, field: Field) {
        self.link.data_release = None;
        // A length replaces the histogram, a load any other load.
        let sizes = Load::sizes();
        let replaced: &[Field] = match field {
            Field::Isl | Field::Osl => &[Field::Histogram],
            // How many replicas a link's GPUs are.
            Field::Tp | Field::Pp | Field::Dp => &[Field::Gpus],
            size if size == Field::Load || sizes.contains(&size) => &sizes,
            _ => &[],
        };
        let gone = |of: Field| of == field || of == Field::Link || replaced.contains(&of);
        self.drafts.retain(|(of, _)| !gone(*of));
        self.issues.retain(|issue| !gone(issue.field));
    }
}

mod preset;
#[cfg(test)]
mod tests;
