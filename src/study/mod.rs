//! Studies of a configuration: what its time goes to, what would change it, and how it compares.
//!
//! A study names other configurations to predict beside the one on the form, predicts them one at a time, and says
//! what it found as a [`Document`]. Whoever runs it has the models answer: the page's worker between two messages,
//! `predict` in place.

mod breakdown;
mod case;
mod change;
mod compare;
mod document;
mod edit;
mod evidence;
mod explain;
mod export;
mod find;
mod markdown;
mod measured;
mod print;
mod share;
mod sweep;
mod tradeoff;

pub use case::{Case, Outcome};
pub use document::{
    Block, Choice, Code, Document, Fact, Facts, Figure, Fold, Heading, Row, Span, Table, Text,
};

use serde::{Deserialize, Serialize};
use std::rc::Rc;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::config::catalog::catalog;
use crate::config::ids::ids;
use crate::config::link::{self, Link};
use crate::config::{Issue, Scenario};
use crate::efficiency::{Efficiencies, Rows};
use crate::serving::accuracy::Accuracy;

/// What is asked about a configuration.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Topic {
    /// What the time of a step goes to.
    #[default]
    Breakdown,
    /// Where each number comes from.
    Explain,
    /// What limits it, and what single changes do.
    Change,
    /// Beside other configurations.
    Compare,
    /// Along one of its settings.
    Sweep,
    /// Speed for one user against throughput of a GPU.
    Tradeoff,
    /// Predicted against measured.
    Evidence,
    /// Snippets that show it elsewhere.
    Share,
    /// The report as a file.
    Export,
    /// What is called so: the words searched for are what is chosen.
    Find,
}

ids!(Topic);

/// What may be shown of a configuration, by the names of its tabs. The overview is no study.
pub const TABS: [(Option<Topic>, &str); 10] = [
    (None, "Overview"),
    (Some(Topic::Breakdown), "Time"),
    (Some(Topic::Explain), "Explain"),
    (Some(Topic::Change), "What to change"),
    (Some(Topic::Compare), "Compare"),
    (Some(Topic::Sweep), "Sweep"),
    (Some(Topic::Tradeoff), "Trade-off"),
    (Some(Topic::Evidence), "Evidence"),
    (Some(Topic::Share), "Share"),
    (Some(Topic::Export), "Export"),
];

impl Topic {
    /// What may be asked for, the default first: id and name. Empty where there is one thing to ask.
    fn choices(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Sweep => &sweep::CHOICES,
            Self::Evidence => &evidence::CHOICES,
            Self::Export => &export::CHOICES,
            Self::Breakdown | Self::Explain | Self::Change | Self::Compare | Self::Tradeoff => &[],
            Self::Share | Self::Find => &[],
        }
    }
}

/// One question, and what is known of its answer.
#[derive(Debug, Clone)]
pub struct Study {
    topic: Topic,
    /// Of the topic's choices; of a search its words, and in further lines what else they may mean.
    chosen: String,
    /// The address of the page, without query and fragment.
    page: String,
    link: Link,
    /// The configuration on the form first, where anything is predicted.
    cases: Vec<Case>,
    done: usize,
    /// How far predictions are from what was measured.
    accuracy: Option<Rc<Accuracy>>,
}

impl Study {
    /// `chosen` is one of the topic's choices; an unknown one counts as the first. `page` is the address of the
    /// page without query and fragment, for what is shared.
    pub fn new(topic: Topic, chosen: &str, link: &str, page: &str) -> Self {
        let (link, _) = link::decode(link);
        let choices = topic.choices();
        let known = choices.iter().find(|(id, _)| *id == chosen).or(choices.first());
        let chosen = match topic {
            Topic::Find => chosen,
            _ => known.map_or("", |(id, _)| id),
        };
        let chosen = chosen.to_owned();
        let base = &link.scenario;
        let others = match topic {
            Topic::Change => change::cases(base),
            Topic::Compare => compare::cases(&link),
            Topic::Sweep => sweep::cases(base, &chosen),
            Topic::Tradeoff => tradeoff::cases(base),
            Topic::Breakdown | Topic::Explain | Topic::Share | Topic::Export => Vec::new(),
            Topic::Evidence | Topic::Find => Vec::new(),
        };
        let own = match topic {
            // Nothing is to be predicted for these.
            Topic::Evidence | Topic::Find => None,
            _ => Some(Case::new("", base.clone())),
        };
        let cases = own.into_iter().chain(others).collect();
        Self { topic, chosen, page: page.into(), link, cases, done: 0, accuracy: None }
    }

    /// With what is known of the predictor's errors.
    #[must_use]
    pub fn with(self, accuracy: Option<Rc<Accuracy>>) -> Self {
        Self { accuracy, ..self }
    }

    /// Predicts the next configuration; false where none is left. `ask` has the models answer.
    ///
    /// # Errors
    /// Why the models do not answer.
    pub fn step(&mut self, ask: impl FnOnce(&Rows) -> Result<Efficiencies, String>) -> Result<bool, String> {
        let Some(case) = self.cases.get_mut(self.done) else { return Ok(false) };
        case.predict(catalog(), ask)?;
        self.done += 1;
        Ok(true)
    }

    /// Configurations predicted, and those to predict in all.
    pub fn progress(&self) -> (usize, usize) {
        (self.done, self.cases.len())
    }

    /// What is known so far.
    pub fn document(&self) -> Document {
        let blocks = match self.topic {
            Topic::Breakdown => breakdown::blocks(self),
            Topic::Explain => explain::blocks(self),
            Topic::Change => change::blocks(self),
            Topic::Compare => compare::blocks(self),
            Topic::Sweep => sweep::blocks(self),
            Topic::Tradeoff => tradeoff::blocks(self),
            Topic::Evidence => evidence::blocks(self),
            Topic::Share => share::blocks(self),
            Topic::Export => export::blocks(self),
            Topic::Find => find::blocks(self),
        };
        let choice = |&(id, name): &(&str, &str)| Choice { id: id.into(), name: name.into() };
        let choices = self.topic.choices().iter().map(choice).collect();
        let chosen = self.chosen.lines().next().unwrap_or_default().to_owned();
        Document { choices, chosen, blocks }
    }

    /// The configuration on the form.
    fn own(&self) -> &Case {
        &self.cases[0]
    }

    /// Those beside it that have been predicted.
    fn others(&self) -> &[Case] {
        self.cases.get(1..self.done).unwrap_or_default()
    }

    /// The fragment, with its `#`, that puts `scenario` on the form and keeps the rest of the link.
    fn link_to(&self, scenario: &Scenario) -> String {
        let link = Link { scenario: scenario.clone(), ..self.link.clone() };
        format!("#{}", link.encode())
    }
}

/// What stands against an answer, as paragraphs.
fn refused(issues: &[Issue]) -> Vec<Block> {
    issues.iter().filter(|issue| issue.is_error()).map(|issue| Block::text(&issue.text)).collect()
}
