//! Checks what a report says of its run against the configuration it is compared with.

use crate::config::{Field, Issue, Lengths, Load, Scenario, Workload};
use crate::units::{count, decimal, percent};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// Requests that the client had in flight at most.
    Concurrency,
    /// Requests per second that it sent; infinite where it sent all at once.
    Rate,
    /// Requests that were answered.
    Requests,
    Failed,
    /// Tokens of all prompts, and of all outputs.
    InputTokens,
    OutputTokens,
    /// Tokens of a prompt, and of an output, on average.
    Prompt,
    Output,
}

const FACTS: usize = 8;

/// Lengths that differ by less are the same: templates of chats and tokenisers add some tokens.
const SAME_LENGTH: f64 = 0.05;

/// Rates that differ by less are the same.
const SAME_RATE: f64 = 0.01;

#[derive(Default)]
pub struct Stated([Option<f64>; FACTS]);

impl Stated {
    pub fn set(&mut self, fact: Fact, number: f64) {
        self.0[fact as usize] = Some(number);
    }

    fn get(&self, fact: Fact) -> Option<f64> {
        self.0[fact as usize]
    }

    /// A positive, finite number.
    fn positive(&self, fact: Fact) -> Option<f64> {
        self.get(fact).filter(|number| number.is_finite() && *number > 0.0)
    }

    /// Takes the load and the lengths that are stated.
    pub fn onto(&self, workload: &mut Workload) {
        let whole = |number: f64| number.round().clamp(1.0, f64::from(u32::MAX)) as u32;
        let rate = self.positive(Fact::Rate);
        match (self.positive(Fact::Concurrency), rate) {
            (Some(clients), _) => workload.load = Load::Concurrency(whole(clients)),
            (None, Some(rate)) => workload.load = Load::Rate(rate),
            (None, None) => {}
        }
        let (prompt, output) =
            (self.mean(Fact::Prompt, Fact::InputTokens), self.mean(Fact::Output, Fact::OutputTokens));
        let own = mean_lengths(workload);
        let other = |stated: Option<f64>, own: f64| stated.filter(|stated| differ(*stated, own, SAME_LENGTH));
        let (prompt, output) = (other(prompt, own.0), other(output, own.1));
        if prompt.is_some() || output.is_some() {
            workload.leave_histogram();
            workload.shape = None;
        }
        if let Some(prompt) = prompt {
            workload.isl = Lengths::Fixed(whole(prompt));
        }
        if let Some(output) = output {
            workload.osl = whole(output);
        }
    }

    /// Tokens of an output on average.
    pub fn output(&self) -> Option<f64> {
        self.mean(Fact::Output, Fact::OutputTokens)
    }

    /// Of one request: as stated, or from the tokens of all.
    fn mean(&self, each: Fact, total: Fact) -> Option<f64> {
        self.positive(each).or_else(|| Some(self.positive(total)? / self.positive(Fact::Requests)?))
    }

    /// Warnings where the run was another.
    pub fn against(&self, scenario: &Scenario) -> Vec<Issue> {
        let workload = &scenario.workload;
        let mut found: Vec<String> = Vec::new();
        found.extend(self.load(workload.load));
        let lengths = mean_lengths(workload);
        for (what, own, each, total) in [
            ("prompts", lengths.0, Fact::Prompt, Fact::InputTokens),
            ("outputs", lengths.1, Fact::Output, Fact::OutputTokens),
        ] {
            let Some(measured) = self.mean(each, total) else { continue };
            if differ(measured, own, SAME_LENGTH) {
                found.push(format!(
                    "the measured {what} average {} tokens, the configured ones {}",
                    count(measured.round()),
                    count(own.round()),
                ));
            }
        }
        if let (Some(failed), Some(requests)) = (self.positive(Fact::Failed), self.get(Fact::Requests)) {
            found.push(format!(
                "{} of the measured requests failed ({})",
                count(failed),
                percent(failed / (failed + requests))
            ));
        }
        found.into_iter().map(|text| Issue::warning(Field::Measured, text)).collect()
    }

    fn load(&self, load: Load) -> Option<String> {
        let concurrency = self.positive(Fact::Concurrency);
        let (rate, requests) = (self.get(Fact::Rate), self.positive(Fact::Requests));
        let unbounded = rate.is_none_or(f64::is_infinite);
        match load {
            Load::Concurrency(clients) | Load::Sessions(clients) => {
                let clients = f64::from(clients);
                let own = count(clients);
                match (concurrency, requests) {
                    (Some(most), _) if differ(most, clients, 0.0) => Some(format!(
                        "measured with {} concurrent requests, configured with {own} clients",
                        count(most)
                    )),
                    (Some(_), Some(sent)) if sent < clients => Some(format!(
                        "only {} requests were measured, fewer than the {own} configured clients",
                        count(sent)
                    )),
                    (Some(_), _) => None,
                    (None, _) if !unbounded => Some(format!(
                        "measured at {} requests per second, configured with {own} clients",
                        decimal(rate.unwrap_or_default())
                    )),
                    (None, Some(sent)) if rate.is_some() && sent > clients => Some(format!(
                        "all {} requests were sent at once, configured are {own} clients",
                        count(sent)
                    )),
                    (None, _) => None,
                }
            }
            // Whose sessions say nothing of the requests that were measured.
            Load::SessionRate(_) => None,
            Load::Rate(own) | Load::ConstantRate(own) => match rate.filter(|rate| rate.is_finite()) {
                Some(rate) if differ(rate, own, SAME_RATE) => Some(format!(
                    "measured at {} requests per second, configured with {}",
                    decimal(rate),
                    decimal(own)
                )),
                Some(_) => None,
                None => concurrency.map(|most| {
                    format!(
                        "measured with {} concurrent requests, configured with a request rate",
                        count(most)
                    )
                }),
            },
            Load::Burst(size) | Load::Offline(size) | Load::Batch(size) => {
                requests.filter(|sent| differ(*sent, f64::from(size), 0.0)).map(|sent| {
                    format!(
                        "{} requests were measured, the configured load has {}",
                        count(sent),
                        count(f64::from(size))
                    )
                })
            }
        }
    }
}

/// Whether `one` is further from `other` than this share of it.
fn differ(one: f64, other: f64, share: f64) -> bool {
    (one - other).abs() > share * other.abs()
}

/// Tokens of a prompt and of an output on average.
fn mean_lengths(workload: &Workload) -> (f64, f64) {
    if let Some((prompt, output)) = workload.means() {
        return (f64::from(prompt), f64::from(output));
    }
    let prompt = match &workload.isl {
        Lengths::Fixed(length) => f64::from(*length),
        Lengths::Each(all) => {
            all.iter().map(|length| f64::from(*length)).sum::<f64>() / all.len().max(1) as f64
        }
    };
    (prompt, f64::from(workload.osl))
}
