//! What a sentence states, and how it replaces the previous request.

use super::kept;
use super::limits::{SLOS, WITHIN};
use super::workload::Kind;
use crate::config::link::{Link, SearchSpace, exclude};
use crate::config::{Field, Issue, LatencyMetric, Load, Slos, excerpt};

/// Fields besides limits that one text may set only once.
const ONCE: [Field; 10] = [
    Field::Model,
    Field::Load,
    Field::BudgetGpus,
    Field::BudgetDollars,
    Field::Isl,
    Field::Osl,
    Field::Shape,
    Field::CachedShare,
    Field::Turns,
    Field::ThinkTime,
];

const BUDGETS: [Field; 2] = [Field::BudgetGpus, Field::BudgetDollars];

/// Choices made for one model do not carry over to another.
const OF_MODEL: [Field; 4] = [Field::Weights, Field::Kv, Field::Drafted, Field::Accepted];

/// Everything that a text states.
pub(super) struct Parsed {
    pub link: Link,
    pub slos: Slos,
    pub find: SearchSpace,
    /// GPUs of the vendors named, which count only if no GPU is.
    pub of_vendors: Vec<&'static str>,
    /// Excluded GPUs and engines.
    pub left_out: Vec<(Field, &'static str)>,
    /// The part that an `and` after them leads to: another exclusion, or something else.
    pub left_out_to: Option<usize>,
    /// What is set, with the phrases that set it.
    pub stated: Vec<(Field, String)>,
    /// Phrases that were read but would be misleading if only partly applied.
    pub refused: Vec<String>,
    pub issues: Vec<Issue>,
    /// The kind of workload that it names.
    pub kind: Option<(String, Kind)>,
    /// The time that everything may take, which only a job has.
    pub deadline: Option<String>,
    /// Whether it names another model than the previous request.
    pub is_new_model: bool,
}

impl Parsed {
    /// Takes over a phrase that begins with `word` and sets `field`. `is_least`: `at least` stands before it.
    pub fn accept(&mut self, field: Field, word: &str, phrase: String, is_least: bool) {
        if is_least && (BUDGETS.contains(&field) || field == Field::Owned) {
            let text = format!(
                "`{}` is the most to use: write for example `up to 8 GPUs` or `under $40/h`",
                excerpt(&phrase)
            );
            self.refused.push(text);
        }
        if field == Field::SloE2e && WITHIN.contains(&word) {
            self.deadline = Some(phrase.clone());
        }
        self.state(field, phrase);
    }

    /// Warns if something else was stated before.
    pub fn state(&mut self, field: Field, phrase: String) {
        let is_once = ONCE.contains(&field) || SLOS.contains(&field);
        let before = self.stated.iter().rfind(|(other, _)| *other == field && is_once);
        if let Some((_, before)) = before.filter(|(_, before)| !before.eq_ignore_ascii_case(&phrase)) {
            match field {
                // The last one might be the average load, for which too few GPUs would be bought.
                Field::Load => self.refused.push(format!(
                    "`{}` and `{}` are two loads: state only the highest to serve",
                    excerpt(before),
                    excerpt(&phrase)
                )),
                _ => self.issues.push(Issue::warning(field, exclude(&excerpt(before), &excerpt(&phrase)))),
            }
        }
        self.stated.push((field, phrase));
    }

    pub fn has(&self, fields: &[Field]) -> bool {
        self.stated.iter().any(|(field, _)| fields.contains(field))
    }

    /// # Errors
    /// If a deadline is stated for a load that never ends: it may be one of any latency.
    pub fn of_job(&self) -> Result<(), Issue> {
        let is_job = matches!(self.link.scenario.workload.load, Load::Offline(_) | Load::Burst(_));
        match self.deadline.as_ref().filter(|_| !is_job) {
            Some(phrase) => {
                let text =
                    format!("`{}`: name the latency, TTFT, TPOT or E2E, such as `E2E 2 s`", excerpt(phrase));
                Err(Issue::error(Field::Vary, text))
            }
            None => Ok(()),
        }
    }

    /// # Errors
    /// If turns are stated for a load other than sessions: they would have no effect.
    pub fn of_sessions(&self) -> Result<(), Issue> {
        let of_turns = |(field, _): &&(Field, String)| matches!(field, Field::Turns | Field::ThinkTime);
        match self.stated.iter().find(of_turns) {
            Some((_, phrase)) if !self.link.scenario.workload.load.is_sessions() => {
                let text = format!(
                    "`{}`: only sessions have turns; write for example `64 sessions`",
                    excerpt(phrase)
                );
                Err(Issue::error(Field::Vary, text))
            }
            _ => Ok(()),
        }
    }

    /// Replaces the previous request by what is stated, kind by kind: hardware, formats, limits, budgets.
    pub fn finish(mut self) -> (Link, Vec<Issue>) {
        let mut find = self.link.find.take().unwrap_or_default();
        let mut gone = Vec::new();
        if self.is_new_model {
            gone.extend(OF_MODEL);
        }
        let workload = &mut self.link.scenario.workload;
        if !workload.load.is_sessions() {
            workload.turns.think_s = 0.0;
        }
        if self.slos.limits().next().is_some() {
            self.link.scenario.workload.slos = Slos::default();
        }
        if self.has(&BUDGETS) || self.has(&[Field::Owned]) {
            gone.extend(BUDGETS);
        }
        let slos = &mut self.link.scenario.workload.slos;
        slos.percentile = self.slos.percentile.or(slos.percentile);
        slos.share = self.slos.share.or(slos.share);
        for metric in LatencyMetric::ALL {
            let limit = slos.limit_ms(metric);
            *limit = self.slos.limit_ms(metric).or(*limit);
        }
        gone.extend(self.has(&[Field::Gpu, Field::Owned]).then_some(Field::Owned));
        if self.has(&[Field::Load, Field::Most]) {
            gone.extend([Field::Most, Field::Day]);
        }
        gone.into_iter().for_each(|field| find.set(field, ""));
        let of_lengths = |field| matches!(field, Field::Isl | Field::Osl | Field::CachedShare);
        let of_shape = |field| of_lengths(field) && self.has(&[Field::Shape]);
        let is_stated = |field| self.has(&[field]) || self.find.get(field).is_some() || of_shape(field);
        self.issues.extend(kept::note(&self.link, &find, is_stated));
        find.put(self.find);
        (Link { find: Some(find), ..self.link }, self.issues)
    }
}
