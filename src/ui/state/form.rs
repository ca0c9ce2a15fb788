//! What the visitor has entered: a scenario, and beside it the text that is no number yet.

use super::quantity::Quantity;
use crate::config::link::{self, Link};
use crate::config::{Field, Issue, Scenario};

/// The form's content. Text that does not parse stays here as typed, and the scenario keeps its last
/// good number.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// The scenario, and what else the link held: keys of other releases are kept.
    link: Link,
    /// What a box shows in place of the scenario's number, while it is edited or wrong.
    drafts: Vec<(Field, String)>,
    /// What was wrong with the link or a draft. An edit of the field clears it.
    issues: Vec<Issue>,
}

impl Form {
    /// Reads a whole address, or its fragment.
    pub fn from_link(address: &str) -> Self {
        let (link, issues) = link::decode(address);
        let given = |issue: &Issue| issue.given.clone().map(|given| (issue.field, given));
        let drafts = issues.iter().filter(|issue| issue.is_error()).filter_map(given).collect();
        Self { link, drafts, issues }
    }

    /// The fragment of a link to this form, without its `#`.
    pub fn link(&self) -> String {
        self.link.encode()
    }

    /// The same, with the release of data and weights that its numbers are of.
    pub fn pinned_link(&self, release: String) -> String {
        let mut link = self.link.clone();
        link.data_release = Some(release);
        link.encode()
    }

    /// What to keep in mind of a link that was made with other data and weights than those of `release`.
    pub fn then_and_now(&self, release: &str) -> Option<Issue> {
        self.link.then_and_now(release)
    }

    pub fn scenario(&self) -> &Scenario {
        &self.link.scenario
    }

    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// Whether a box holds text that is no number: the scenario is then not what is on the screen.
    pub fn has_bad_draft(&self) -> bool {
        self.drafts
            .iter()
            .any(|(field, _)| self.issues.iter().any(|issue| issue.field == *field && issue.is_error()))
    }

    /// What the box of `quantity` shows.
    pub fn text(&self, quantity: &Quantity) -> String {
        let draft = self.draft(quantity.field).map(str::to_owned);
        let number = || quantity.read(self.scenario()).map(|value| quantity.print(value));
        draft.or_else(number).unwrap_or_default()
    }

    /// A keystroke: the text stays as typed, the number follows where there is one.
    pub fn type_text(&mut self, quantity: &Quantity, text: String) {
        self.forget(quantity.field);
        match quantity.parse(&text) {
            Ok(value) => quantity.write(&mut self.link.scenario, value),
            Err(error) => self.issues.push(Issue::error(quantity.field, error.to_string())),
        }
        self.drafts.push((quantity.field, text));
    }

    /// The box is left: a number is shown in its plain form, anything else stays as typed.
    pub fn leave(&mut self, quantity: &Quantity) {
        let good = self.draft(quantity.field).is_some_and(|text| quantity.parse(text).is_ok());
        if good {
            self.drafts.retain(|(field, _)| *field != quantity.field);
        }
    }

    /// A number chosen with the slider or the arrow keys.
    pub fn set(&mut self, quantity: &Quantity, value: f64) {
        self.forget(quantity.field);
        quantity.write(&mut self.link.scenario, Some(value));
    }

    /// A choice from a list.
    pub fn choose(&mut self, field: Field, change: impl FnOnce(&mut Scenario)) {
        self.forget(field);
        change(&mut self.link.scenario);
    }

    fn draft(&self, field: Field) -> Option<&str> {
        self.drafts.iter().find(|(of, _)| *of == field).map(|(_, text)| text.as_str())
    }

    /// Makes way for an edit of `field`. What the link was made with says nothing of another scenario.
    fn forget(&mut self, field: Field) {
        self.link.data_release = None;
        self.drafts.retain(|(of, _)| *of != field);
        self.issues.retain(|issue| issue.field != field);
    }
}

#[cfg(test)]
mod tests {
    use super::super::quantity::{ISL, PRICE};
    use super::*;

    #[test]
    fn bad_text_stays_and_the_last_good_number_stands() {
        let mut form = Form::from_link("");
        form.type_text(&ISL, "2048".into());
        form.type_text(&ISL, "2048x".into());
        form.leave(&ISL);
        assert_eq!(form.text(&ISL), "2048x");
        assert_eq!(ISL.read(form.scenario()), Some(2048.0));
        assert!(form.has_bad_draft());
        assert_eq!(form.issues().len(), 1);

        form.set(&ISL, 512.0);
        assert_eq!(form.text(&ISL), "512");
        assert!(!form.has_bad_draft() && form.issues().is_empty());
    }

    #[test]
    fn leaving_a_box_tidies_a_good_number() {
        let mut form = Form::from_link("");
        form.type_text(&ISL, " 4 096".into());
        assert_eq!(form.text(&ISL), " 4 096");
        form.leave(&ISL);
        assert_eq!(form.text(&ISL), "4096");
    }

    #[test]
    fn an_emptied_optional_box_is_the_catalogs_figure() {
        let mut form = Form::from_link("");
        form.type_text(&PRICE, "3".into());
        assert_eq!(form.scenario().overrides.price, Some(3.0));
        form.type_text(&PRICE, String::new());
        assert_eq!(form.scenario().overrides.price, None);
        assert!(form.issues().is_empty());
    }

    #[test]
    fn an_edit_unpins_the_release() {
        let mut form = Form::from_link("#v=1&isl=300&d=2026-01-01");
        assert_eq!(form.link(), "v=1&isl=300&d=2026-01-01");
        assert_eq!(form.pinned_link("2026-02-02".into()), "v=1&isl=300&d=2026-02-02");
        assert!(form.then_and_now("2026-01-01").is_none() && form.then_and_now("2026-02-02").is_some());
        form.set(&ISL, 300.0);
        assert_eq!(form.link(), "v=1&isl=300");
        assert!(form.then_and_now("2026-02-02").is_none());
    }
}
