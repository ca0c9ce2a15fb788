//! The content of the page's form: a scenario, and text that is not a valid number yet.

use super::{FormGroup, Input};
use crate::config::link::{self, Find, Link};
use crate::config::{Field, Issue, Load, ModelChoice, Scenario};

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
    /// The size being edited, and the model before: each keystroke sizes that one anew, or rounding would add up.
    sized: Option<(Field, ModelChoice)>,
}

impl Form {
    /// Reads a whole address, or its fragment.
    pub fn from_link(address: &str) -> Self {
        let (link, issues) = link::decode(address);
        let given = |issue: &Issue| issue.given.clone().map(|given| (issue.field, given));
        let drafts = issues.iter().filter(|issue| issue.is_error()).filter_map(given).collect();
        Self { link, drafts, issues, sized: None }
    }

    /// From the address of a freshly opened page: without a link it shows [`link::FRESH`].
    pub fn opened(address: &str) -> Self {
        Self::from_link(if link::names_nothing(address) { link::FRESH } else { address })
    }

    /// The fragment of a link to this form, without its `#`.
    pub fn link(&self) -> String {
        self.link.encode()
    }

    /// The same, pinned to the release of data and weights behind its numbers.
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

    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// The search, if plans are requested.
    pub fn find(&self) -> Option<&Find> {
        self.link.find.as_ref()
    }

    /// Whether plans are requested and the page has a control for `field` in that mode.
    pub fn seeks(&self, field: Field) -> bool {
        let is_setting = field.input().place.is_some() && !Find::chooses(field);
        self.find().is_some() && (field == Field::Vary || Find::takes(field)) && !is_setting
    }

    /// Turns the search on or off.
    pub fn set_find(&mut self, find: Option<Find>) {
        self.link.find = find;
        self.link.data_release = None;
        self.issues.retain(|issue| issue.field != Field::Vary);
    }

    /// Whether the form shows a control for `field`: it applies, is not at its default, or holds unreadable input;
    /// and no search chooses it.
    pub fn shows(&self, field: Field) -> bool {
        let input = field.input();
        let is_chosen = self.find().is_some() && Find::chooses(field);
        !is_chosen
            && input.place.is_some()
            && (input.is_shown(self.scenario()) || self.draft(field).is_some())
    }

    /// Whether a box holds text that is not a number: the scenario then differs from what is on screen.
    pub fn has_bad_draft(&self) -> bool {
        self.drafts
            .iter()
            .any(|(field, _)| self.issues.iter().any(|issue| issue.field == *field && issue.is_error()))
    }

    /// The text in the box of `input`.
    pub fn text(&self, input: &Input) -> String {
        let draft = self.draft(input.field).map(str::to_owned);
        let number = || {
            let number = input.number.as_ref()?;
            (number.read)(self.scenario()).map(|value| number.print(value))
        };
        draft.or_else(number).unwrap_or_default()
    }

    /// Handles a keystroke: the text stays as typed, and the number follows if it is valid.
    pub fn type_text(&mut self, input: &Input, text: String) {
        self.forget(input.field);
        match input.typed(&text) {
            Ok(value) => {
                self.write(input.field, value);
                self.issues.extend(input.note(&text, self.scenario()));
            }
            Err(issue) => {
                self.issues.push(issue);
                self.drop_refused(input);
            }
        }
        self.drafts.push((input.field, text));
    }

    /// Handles leaving the box: a valid number is shown in plain form, anything else stays as typed.
    pub fn leave(&mut self, input: &Input) {
        if self.draft(input.field).is_some_and(|text| input.typed(text).is_ok()) {
            self.drafts.retain(|(field, _)| *field != input.field);
        }
    }

    /// A number chosen with the slider or the arrow keys.
    pub fn set(&mut self, field: Field, value: f64) {
        self.forget(field);
        self.write(field, Some(value));
    }

    /// Shows issues until their field is edited.
    pub fn show_issues(&mut self, issues: Vec<Issue>) {
        self.issues.extend(issues);
    }

    /// Handles a choice from a list. Inputs it rules out are reset, with notes.
    pub fn choose(&mut self, field: Field, change: impl FnOnce(&mut Scenario)) {
        self.forget(field);
        self.sized = None;
        change(&mut self.link.scenario);
        self.issues.extend(super::reset(&mut self.link.scenario, field));
        let ruled_out = |of: &Field| !of.input().is_shown(&self.link.scenario);
        let (gone, kept) = std::mem::take(&mut self.drafts).into_iter().partition(|(of, _)| ruled_out(of));
        self.drafts = kept;
        for (of, text) in gone {
            self.issues.retain(|issue| issue.field != of);
            let note = format!("{} was reset: `{text}` no longer applies", of.input().label);
            self.issues.push(Issue::note(field, note));
        }
    }

    /// The measured runs that calibrate predictions.
    pub fn runs(&self) -> &[Scenario] {
        &self.link.runs
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
    }

    /// A link's number out of range would stay in the link, and have an error of its own beside that of the text.
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
        let replaced: &[Field] = match field {
            Field::Isl | Field::Osl => &[Field::Histogram],
            Field::Load => &Load::SIZES,
            size if Load::SIZES.contains(&size) => &Load::SIZES,
            _ => &[],
        };
        let gone = |of: Field| of == field || of == Field::Link || replaced.contains(&of);
        self.drafts.retain(|(of, _)| !gone(*of));
        self.issues.retain(|issue| !gone(issue.field));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn isl() -> &'static Input {
        Field::Isl.input()
    }

    #[test]
    fn invalid_text_stays_in_the_box_and_the_last_valid_number_applies() {
        let mut form = Form::from_link("");
        form.type_text(isl(), "2048".into());
        form.type_text(isl(), "2048x".into());
        form.leave(isl());
        assert_eq!(form.text(isl()), "2048x");
        assert_eq!(form.scenario().workload.mean_prompt(), Some(2048.0));
        assert!(form.has_bad_draft());
        assert_eq!(form.issues().len(), 1);

        form.set(Field::Isl, 512.0);
        assert_eq!(form.text(isl()), "512");
        assert!(!form.has_bad_draft() && form.issues().is_empty());
    }

    #[test]
    fn a_number_out_of_range_stays_typed_and_out_of_the_link() {
        let limit = Field::SloTtft.input();
        for address in ["v=1", "v=1&st=99999999999"] {
            let mut form = Form::from_link(address);
            for text in ["99999999999", "abc"] {
                form.type_text(limit, text.into());
                form.leave(limit);
                assert_eq!((form.text(limit).as_str(), form.link().as_str()), (text, "v=1"));
                assert!(
                    form.issues().len() == 1 && form.issues()[0].text.contains(text),
                    "{:?}",
                    form.issues()
                );
            }
        }
        let mut form = Form::from_link("v=1");
        form.type_text(Field::Concurrency.input(), "100200".into());
        assert!(form.has_bad_draft() && form.link() == "v=1");
    }

    #[test]
    fn leaving_a_box_normalises_a_valid_number() {
        let mut form = Form::from_link("");
        form.type_text(isl(), " 4 096".into());
        assert_eq!(form.text(isl()), " 4 096");
        form.leave(isl());
        assert_eq!(form.text(isl()), "4096");
    }

    #[test]
    fn lengths_of_a_batch_are_not_read_as_thousands_silently() {
        let said = |address: &str| {
            let mut form = Form::from_link(address);
            form.type_text(isl(), "100,200".into());
            form.leave(isl());
            assert!(!form.has_bad_draft() && form.text(isl()) == "100200");
            form.issues().iter().map(|issue| issue.text.clone()).collect::<Vec<_>>()
        };
        assert!(said("b=2")[0].contains("`100,200` is read as 100200"), "{:?}", said("b=2"));
        assert_eq!(said("c=2"), [""; 0]);
    }

    #[test]
    fn an_emptied_optional_box_is_the_catalogs_figure() {
        let mut form = Form::from_link("");
        form.type_text(Field::Price.input(), "3".into());
        assert_eq!(form.scenario().overrides.price, Some(3.0));
        form.type_text(Field::Price.input(), String::new());
        assert_eq!(form.scenario().overrides.price, None);
        assert!(form.issues().is_empty());
    }

    #[test]
    fn a_choice_resets_excluded_inputs_with_a_note() {
        let mut form = Form::from_link("#m=qwen3-30b-a3b&tp=4&ep=4&dp=x");
        assert!(form.shows(Field::Ep) && form.shows(Field::Dp) && form.has_bad_draft());
        form.choose(Field::Model, |scenario| scenario.model = ModelChoice::Catalog("qwen3-32b".into()));
        assert_eq!((form.scenario().ep, form.has_bad_draft()), (1, false));
        assert!(!form.shows(Field::Ep) && !form.shows(Field::Dp));
        let notes: Vec<&str> = form.issues().iter().map(|issue| &*issue.text).collect();
        assert!(notes[0].starts_with("Expert parallel was reset from 4 to 1"), "{notes:?}");
        assert!(notes[1].starts_with("Attention data parallel was reset"), "{notes:?}");
        assert!(form.issues().iter().all(|issue| issue.field == Field::Model && !issue.is_error()));
    }

    #[test]
    fn unreadable_values_are_shown_at_their_input() {
        let form = Form::from_link("#r=1,5&bu=x&ep=y");
        for field in [Field::Rate, Field::Burstiness, Field::Ep, Field::Concurrency] {
            assert!(form.shows(field), "{field:?}");
        }
        assert_eq!(form.text(Field::Rate.input()), "1,5");
        // A comparison does not block the prediction.
        assert!(!Form::from_link("#vs=m~").has_bad_draft());
        // Another load or length replaces what could not be read.
        let mut form = Form::from_link("#r=1,5&hl=5");
        form.set(Field::Concurrency, 8.0);
        form.set(Field::Osl, 8.0);
        assert!(!form.has_bad_draft() && !form.shows(Field::Rate) && form.issues().is_empty());
    }

    #[test]
    fn only_a_page_without_a_link_is_fresh() {
        let load = |address: &str| Form::opened(address).scenario().workload.load;
        for address in ["https://example.org/", "https://example.org/?utm=x", "https://example.org/#", ""] {
            assert_eq!(load(address), Load::Rate(4.0), "{address}");
        }
        for address in
            ["https://example.org/#v=1", "https://example.org/?tp=2", "https://example.org/#future=1"]
        {
            assert_eq!(load(address), Load::Concurrency(16), "{address}");
        }
    }

    #[test]
    fn an_edit_unpins_the_release() {
        let mut form = Form::from_link("#v=1&isl=300&d=2026-01-01");
        assert_eq!(form.link(), "v=1&isl=300&d=2026-01-01");
        assert_eq!(form.pinned_link("2026-02-02".into()), "v=1&isl=300&d=2026-02-02");
        assert!(form.then_and_now("2026-01-01").is_none() && form.then_and_now("2026-02-02").is_some());
        form.set(Field::Isl, 300.0);
        assert_eq!(form.link(), "v=1&isl=300");
        assert!(form.then_and_now("2026-02-02").is_none());
    }
}
