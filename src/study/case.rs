//! One configuration of a study, and its prediction.

use std::sync::Arc;

use super::metric::HeadlineMetric;
use super::rank::WinProbability;
use crate::calibration::KnownRun;
use crate::config::catalog::catalog;
use crate::config::{Issue, Scenario, Setup, check};
use crate::efficiency::{Efficiencies, Rows, UNANSWERED};
use crate::graph::Phase;
use crate::serving::report::{Headline, PassReport};
use crate::serving::{Alternative, Report, elsewhere, finish, plan};
use crate::units::{Doubt, chance, doubt};

#[derive(Debug, Clone)]
pub struct Case {
    /// How the configuration differs from the others.
    pub name: String,
    pub scenario: Scenario,
    /// `None` until predicted.
    pub outcome: Option<CaseOutcome>,
}

/// The result of a configuration.
#[derive(Debug, Clone, Default)]
pub struct CaseOutcome {
    /// `None` if the configuration has errors.
    pub setup: Option<Setup>,
    /// `None` if it cannot be planned.
    pub report: Option<Report>,
    pub issues: Vec<Issue>,
    /// How likely it beats the configuration on the form; empty if not requested or not calibrated.
    pub beats: Vec<WinProbability>,
    /// Alternatives for every kernel of every pass; empty if not requested.
    pub elsewhere: Vec<Vec<Alternative>>,
}

impl Case {
    pub fn new(name: impl Into<String>, scenario: Scenario) -> Self {
        Self { name: name.into(), scenario, outcome: None }
    }

    /// `base` with one change.
    pub fn edited(name: impl Into<String>, base: &Scenario, edit: impl FnOnce(&mut Scenario)) -> Self {
        let mut scenario = base.clone();
        edit(&mut scenario);
        Self::new(name, scenario)
    }

    pub(super) fn predict(
        &mut self,
        own: &Arc<[KnownRun]>,
        ask: impl Fn(&Rows) -> Result<Efficiencies, String>,
        looks_elsewhere: bool,
    ) -> Result<(), String> {
        let (setup, mut issues) = check(&self.scenario, catalog());
        let (mut report, mut others) = (None, Vec::new());
        match setup.as_ref().map(plan) {
            Some(Ok((plan, rows))) => {
                let plan = plan.calibrated_on(own);
                let answered = finish(&plan, &ask(&rows)?).ok_or(UNANSWERED)?;
                if looks_elsewhere {
                    others = elsewhere(&plan, &answered, &catalog().engines.engines, &ask)?;
                }
                issues.extend(answered.issues.iter().cloned());
                report = Some(answered);
            }
            Some(Err(found)) => issues.extend(found),
            None => {}
        }
        self.outcome = Some(CaseOutcome { setup, report, issues, beats: Vec::new(), elsewhere: others });
        Ok(())
    }

    pub fn setup(&self) -> Option<&Setup> {
        self.outcome.as_ref()?.setup.as_ref()
    }

    pub fn report(&self) -> Option<&Report> {
        self.outcome.as_ref()?.report.as_ref()
    }

    pub fn headline(&self) -> Option<&Headline> {
        self.report()?.headline.as_ref()
    }

    pub fn pass(&self, phase: Phase) -> Option<&PassReport> {
        self.report()?.pass(phase)
    }

    pub fn issues(&self) -> &[Issue] {
        self.outcome.as_ref().map_or(&[], |outcome| &outcome.issues)
    }

    /// Alternatives for the kernels of this pass.
    pub fn elsewhere(&self, pass: usize) -> &[Alternative] {
        self.outcome.as_ref().and_then(|outcome| outcome.elsewhere.get(pass)).map_or(&[], Vec::as_slice)
    }

    /// How likely it beats the configuration on the form in a metric.
    pub fn beats(&self, metric: HeadlineMetric) -> Option<&WinProbability> {
        self.outcome.as_ref()?.beats.iter().find(|beats| beats.metric.name == metric.name)
    }

    /// The probability that measurements meet the limits; `None` without limits or calibration.
    pub fn chance_within_limits(&self) -> Option<f64> {
        let report = self.report()?;
        report.calibrated.as_ref()?.bands.keep(report.run.as_ref()?)
    }

    /// How many of the visitor's own runs its prediction rests on.
    pub fn own_runs(&self) -> u32 {
        self.report().and_then(|report| report.calibrated.as_ref()).map_or(0, |of| of.support.own)
    }

    /// Why there is no answer; empty if there is one.
    pub fn reason(&self) -> &str {
        match self.headline() {
            Some(_) => "",
            None => self.issues().iter().find(|issue| issue.is_error()).map_or("", |issue| &issue.text),
        }
    }

    /// Whether the required share of its requests meets its limits (for a static batch, the mean); `None` without
    /// limits or answer.
    pub fn meets_limits(&self) -> Option<bool> {
        if let Some(run) = self.report()?.run.as_ref() {
            return run.meets_limits();
        }
        let (headline, slos) = (self.headline()?, self.scenario.workload.slos);
        let met = |(metric, limit)| headline.latency(metric).is_none_or(|time| time.0 <= limit);
        slos.limits().map(met).reduce(|all, met| all && met)
    }

    /// Whether more arrives than it can serve.
    pub fn is_overloaded(&self) -> bool {
        self.report().and_then(|report| report.run.as_ref()).is_some_and(|run| run.saturation.is_some())
    }

    /// Whether it keeps up with the load and meets the limits, in words, with the probability of meeting them; a dash
    /// without limits or answer.
    pub fn meets(&self) -> String {
        if self.is_overloaded() {
            return "No: overloaded".into();
        }
        self.meets_limits().map_or("–".into(), |meets| {
            let sure = self.chance_within_limits();
            let words = match sure.and_then(doubt) {
                _ if !meets => "No",
                None => "Yes",
                Some(Doubt::Even) => "May",
                Some(Doubt::Unlikely) => "Unlikely",
            };
            sure.map_or_else(|| words.into(), |with| format!("{words}, {}", chance(with)))
        })
    }
}
