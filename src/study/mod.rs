//! Studies of a configuration: where its time goes, what would improve it, and how it compares.
//!
//! A study predicts other configurations in addition to the form's, one at a time, and reports its findings as a
//! [`Document`]. The caller runs the models: the page's worker between messages, `predict` directly.

pub mod accuracy;
mod advice;
pub mod against_measured;
#[cfg(feature = "chart")]
pub mod badge;
mod basis;
mod better;
mod bottlenecks;
mod breakdown;
mod case;
mod change;
mod compare;
mod document;
mod edit;
mod evidence;
mod explain;
mod export;
mod glossary;
mod headroom;
mod layers;
mod markdown;
mod metric;
pub mod panel;
pub mod pick;
mod plans;
mod presets;
mod rank;
mod remedy;
mod row_order;
mod search;
mod sensitivity;
mod setting;
mod shape;
mod share;
mod sweep;
mod topic;
mod tradeoff;
mod ttft;
pub mod words;

use accuracy::Accuracy;
pub use case::{Case, CaseOutcome};
pub use document::{Block, Choice, Code, Content, Document, Fact, Plot, Row, Span, Table};
use plans::Plans;
pub use plans::heading;
pub use topic::Topic;
use topic::View;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::calibration::KnownRun;
use crate::config::link::{self, Link};
use crate::config::{Issue, Scenario, Setup};
use crate::efficiency::{Efficiencies, Rows};
use crate::serving::run::{Commands, OwnRuns};

/// A question about a configuration, and its answer so far.
#[derive(Debug)]
pub struct Study {
    topic: Topic,
    /// The id of the choice; for a search, the text typed.
    chosen: String,
    /// The address of the page, without query and fragment.
    page: String,
    link: Link,
    /// The configuration on the form first, if anything is predicted.
    cases: Vec<Case>,
    done: usize,
    /// Whether a trace is replayed. Studies know only the form's load.
    traced: bool,
    /// Errors against measurements, if the report was loaded.
    accuracy: Option<Rc<Accuracy>>,
    /// Cache of the visitor's measured runs.
    own_runs: Rc<RefCell<OwnRuns>>,
    /// Calibration points of the link's runs; `None` until the first prediction.
    calibrated_on: Option<Arc<[KnownRun]>>,
    /// The search for plans, if requested.
    plans: Option<Plans>,
}

impl Study {
    /// Whether it searches for plans.
    pub fn seeks(&self) -> bool {
        self.plans.is_some()
    }

    /// Whether both search for the same plans.
    pub fn seeks_as(&self, other: &Self) -> bool {
        self.seeks() && other.seeks() && self.link.encode() == other.link.encode()
    }

    /// `chosen` is one of the topic's choices; unknown ones select the first. `page` is the page's address without
    /// query and fragment, for links to share.
    pub fn new(topic: Topic, chosen: &str, link: &str, page: &str) -> Self {
        let (mut link, _) = link::decode(link);
        // Unknown names are reported where they are predicted.
        link.settle();
        let View { choices, cases, .. } = topic.view();
        let known = choices.iter().find(|(id, _)| *id == chosen).or(choices.first());
        let chosen = if topic == Topic::Search { chosen } else { known.map_or("", |(id, _)| id) };
        let cases = cases.map_or_else(Vec::new, |cases| {
            let mut all = vec![Case::new("", link.scenario.clone())];
            all.extend(cases(&link, chosen));
            all
        });
        let plans = (topic == Topic::Plans).then(|| Plans::new(&link));
        Self {
            topic,
            chosen: chosen.into(),
            page: page.into(),
            link,
            cases,
            done: 0,
            traced: false,
            accuracy: None,
            own_runs: Rc::default(),
            calibrated_on: None,
            plans,
        }
    }

    /// Adds the prediction errors against measurements.
    #[must_use]
    pub fn with(self, accuracy: Option<Rc<Accuracy>>) -> Self {
        Self { accuracy, ..self }
    }

    /// Adds a cache of observed runs.
    #[must_use]
    pub fn observing(self, own_runs: Rc<RefCell<OwnRuns>>) -> Self {
        Self { own_runs, ..self }
    }

    /// Says whether a trace is replayed.
    #[must_use]
    pub fn beside_trace(self, traced: bool) -> Self {
        Self { traced, ..self }
    }

    /// Predicts the next configuration, or runs the next search task; false if nothing is left. `ask` runs the
    /// models.
    pub fn step(&mut self, ask: impl Fn(&Rows) -> Result<Efficiencies, String>) -> Result<bool, String> {
        if let Some(plans) = &mut self.plans {
            return plans.step(&ask);
        }
        let Some(case) = self.cases.get_mut(self.done) else { return Ok(false) };
        let own = match self.calibrated_on.take() {
            Some(own) => own,
            // Their issues are shown next to the answer.
            None => self.own_runs.borrow_mut().of(&self.link.runs, &ask)?.0,
        };
        case.predict(&own, ask, self.topic == Topic::Headroom)?;
        if self.done == 0 && matches!(self.topic, Topic::Change | Topic::Better) {
            for remedy in remedy::of(case) {
                if self.cases.iter().all(|known| known.scenario != remedy.scenario) {
                    self.cases.push(remedy);
                }
            }
        }
        // For loads of compared configurations, only curves are drawn.
        let is_ranked = match self.topic {
            Topic::Change | Topic::Better | Topic::Sweep => true,
            Topic::Compare => self.done <= compare::shown(&self.link).len(),
            _ => false,
        };
        if is_ranked
            && let Some((form, others)) = self.cases[..=self.done].split_first_mut()
            && let Some(case) = others.last_mut()
        {
            rank::compare(form, case, &own);
        }
        self.calibrated_on = Some(own);
        self.done += 1;
        Ok(true)
    }

    /// Configurations predicted so far and in total; layouts for a search.
    pub fn progress(&self) -> (usize, usize) {
        self.plans.as_ref().map_or((self.done, self.cases.len()), Plans::progress)
    }

    /// Issues of a search with the request or its results.
    pub fn issues(&self) -> Vec<Issue> {
        self.plans.as_ref().map_or_else(Vec::new, Plans::issues)
    }

    /// The current document.
    pub fn document(&self) -> Document {
        if let Some(plans) = &self.plans {
            return plans.document(&self.page);
        }
        let View { choices, blocks, .. } = self.topic.view();
        let choices =
            choices.iter().map(|(id, name)| Choice { id: (*id).into(), name: (*name).into() }).collect();
        Document { choices, chosen: self.chosen.clone(), blocks: blocks(self) }
    }

    /// The current document as the page shows it: plans with what the header shares and saves of them, and predictions
    /// with a note that they are not of the replayed trace.
    pub fn page_document(&self) -> Document {
        let mut document = match &self.plans {
            Some(plans) => plans.page_document(&self.page),
            None => self.document(),
        };
        let not = match self.topic {
            _ if !self.traced => "",
            Topic::Plans => "Planned for the form's rate and lengths, not for the replayed trace.",
            Topic::Share => {
                "The link does not hold the replayed trace: it predicts the form's rate and lengths."
            }
            Topic::Evidence | Topic::Search => "",
            _ => "Predicted for the form's rate and lengths, not for the replayed trace.",
        };
        if !not.is_empty() {
            document.blocks.insert(0, Block::text(not));
        }
        document
    }

    /// Whether it is of a configuration that has no answer, or a search that found no plan.
    pub fn is_unanswered(&self) -> bool {
        if let Some(plans) = &self.plans {
            return plans.is_empty();
        }
        self.cases.first().is_some_and(|own| own.outcome.is_some() && own.headline().is_none())
    }

    /// The configuration on the form.
    fn own(&self) -> &Case {
        &self.cases[0]
    }

    /// The other configurations predicted so far.
    fn others(&self) -> &[Case] {
        self.cases.get(1..self.done).unwrap_or_default()
    }

    /// The fragment, with its `#`, that puts `scenario` on the form and keeps the rest of the link.
    fn link_to(&self, scenario: &Scenario) -> String {
        format!("#{}", Link { scenario: scenario.clone(), ..self.link.clone() }.encode())
    }

    /// A link with this name that puts `case` on the form.
    fn open(&self, name: impl Into<String>, case: &Case) -> Span {
        Span::link(name, self.link_to(&case.scenario))
    }

    /// The link, without `#`, of everything its prediction depends on: the configuration, and the visitor's runs.
    fn predicted(&self) -> String {
        Link { runs: self.link.runs.clone(), ..Link::new(self.own().scenario.clone()) }.encode()
    }

    /// The address of this configuration, for sharing.
    fn address(&self) -> String {
        format!("{}{}", self.page, self.link_to(&self.own().scenario))
    }
}

/// The commands that start `setup` and measure it, in a fold called `name`.
pub fn to_measure(id: impl Into<String>, name: impl Into<String>, setup: &Setup) -> Block {
    let commands = Commands::of(setup);
    let code = [("Start the server", commands.launch), ("Measure it", commands.bench)];
    Block::fold(id, name, code.map(|(name, text)| Block::code(name, "", text)).into())
}

/// The errors that prevent an answer, as paragraphs.
fn refused(issues: &[Issue]) -> Vec<Block> {
    issues.iter().filter(|issue| issue.is_error()).map(|issue| Block::text(issue.sentence())).collect()
}
