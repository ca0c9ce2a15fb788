//! Compares a report's run with the configuration it is pasted into.

use strum::EnumString;

use crate::config::{Field, Issue, Lengths, Load, Scenario, Workload};
use crate::units::{count, decimal, percent};

#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Fact {
    /// Maximum requests in flight.
    Concurrency,
    /// Requests sent per second; infinite if all were sent at once.
    Rate,
    /// What trtllm-bench calls the rate of issue: the mean gap between two requests in 1e-18 s.
    Issued,
    /// Requests served per second.
    Served,
    /// Completed requests.
    Requests,
    Failed,
    /// Total prompt tokens, and total output tokens.
    InputTokens,
    OutputTokens,
    /// Mean tokens per prompt, and per output.
    Prompt,
    Output,
    /// Longest prompt and output of random lengths, and the shortest as a share of the longest.
    LongestPrompt,
    LongestOutput,
    RandomShare,
    /// Shape of the gaps at a rate; infinite if they are equal.
    Burstiness,
    /// GPUs that each layer is split over, of attention DP too.
    Tp,
}

const FACTS: usize = 15;

/// Lengths within this are the same: chat templates and tokenisers add a few tokens.
const SAME_LENGTH: f64 = 0.05;

/// Rates within this are the same.
const SAME_RATE: f64 = 0.01;

/// Requests sent within this share of a run were sent at once.
const AT_ONCE: f64 = 0.1;

/// Above this burstiness, gaps are as good as equal.
const REGULAR: f64 = 100.0;

#[derive(Clone, Copy, Default)]
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

    /// Applies the report's load and lengths.
    pub fn onto(&self, workload: &mut Workload) {
        let whole = |number: f64| number.round().clamp(1.0, f64::from(u32::MAX)) as u32;
        match (self.rate(), self.positive(Fact::Concurrency), self.sent_at_once()) {
            (Some(rate), most, _) => {
                workload.max_in_flight = most.map(whole);
                workload.arrive(rate, self.get(Fact::Burstiness).filter(|shape| *shape > 0.0))
            }
            (None, Some(clients), _) => workload.load = Load::Concurrency(whole(clients)),
            (None, None, Some(sent)) => {
                // Nothing held them back, whatever the form says of a burst.
                workload.max_in_flight = None;
                workload.load = match workload.load {
                    Load::Offline(_) => Load::Offline(whole(sent)),
                    _ => Load::Burst(whole(sent)),
                };
            }
            (None, None, None) => {}
        }
        if let Some(requests) = self.positive(Fact::Requests) {
            workload.run_of(whole(requests));
        }
        let (prompt, output) = (self.mean(Self::PROMPTS), self.output());
        let other = |stated: Option<f64>, own: f64| stated.filter(|stated| differ(*stated, own, SAME_LENGTH));
        let prompt = other(prompt, workload.mean_prompt().unwrap_or_default());
        let output = other(output, f64::from(workload.mean_output()));
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

    /// The rate, unless it sends all requests within a second to a limited number of clients: inference-perf states
    /// such a rate for them.
    fn rate(&self) -> Option<f64> {
        let requests = self.positive(Fact::Concurrency).and(self.positive(Fact::Requests));
        self.positive(Fact::Rate).filter(|rate| requests.is_none_or(|requests| *rate < requests))
    }

    /// Requests of a run at an infinite rate.
    fn sent_at_once(&self) -> Option<f64> {
        self.positive(Fact::Requests).filter(|_| self.is_at_once())
    }

    fn is_at_once(&self) -> bool {
        let sent_within = self.get(Fact::Issued).zip(self.get(Fact::Served));
        self.get(Fact::Rate).is_some_and(f64::is_infinite)
            || sent_within.is_some_and(|(gap, served)| gap * 1e-18 * served < AT_ONCE)
    }

    /// Mean tokens per output.
    pub fn output(&self) -> Option<f64> {
        self.mean(Self::OUTPUTS)
    }

    const PROMPTS: [Fact; 3] = [Fact::Prompt, Fact::InputTokens, Fact::LongestPrompt];
    const OUTPUTS: [Fact; 3] = [Fact::Output, Fact::OutputTokens, Fact::LongestOutput];

    /// Per request: as stated, from the total, or midway between the longest and the shortest.
    fn mean(&self, [each, total, longest]: [Fact; 3]) -> Option<f64> {
        let of_total = || Some(self.positive(total)? / self.positive(Fact::Requests)?);
        let share = self.get(Fact::RandomShare).unwrap_or(1.0).clamp(0.0, 1.0);
        let midway = || Some(self.positive(longest)? * (1.0 + share) / 2.0);
        self.positive(each).or_else(of_total).or_else(midway)
    }

    /// Warnings where the run differs.
    pub fn against(&self, scenario: &Scenario) -> Vec<Issue> {
        let workload = &scenario.workload;
        let mut found: Vec<String> = Vec::new();
        found.extend(self.load(workload.load));
        let own = workload.max_in_flight.map(f64::from);
        if let (Some(most), Some(_)) = (self.positive(Fact::Concurrency), self.rate())
            && workload.load.may_be_limited()
            && own != Some(most)
        {
            let own = own.map_or("no limit".into(), count);
            found.push(format!("measured with at most {} in flight, configured with {own}", count(most)));
        }
        let split = scenario.parallel.tp.saturating_mul(scenario.parallel.dp);
        if let Some(tp) = self.positive(Fact::Tp).filter(|tp| differ(*tp, f64::from(split), 0.0)) {
            found.push(format!("measured with TP {}, configured with {split}", count(tp)));
        }
        let (prompt, output) =
            (workload.mean_prompt().unwrap_or_default(), f64::from(workload.mean_output()));
        for (what, own, facts) in [("prompts", prompt, Self::PROMPTS), ("outputs", output, Self::OUTPUTS)] {
            let Some(measured) = self.mean(facts) else { continue };
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
        let requests = self.positive(Fact::Requests);
        let rate = self.rate().or(self.is_at_once().then_some(f64::INFINITY));
        let unbounded = rate.is_none_or(f64::is_infinite);
        match load {
            Load::Concurrency(clients) | Load::Sessions(clients) => {
                let clients = f64::from(clients);
                let own = count(clients);
                match (concurrency.filter(|_| unbounded), requests) {
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
                        "all {} requests were sent at once, but {own} clients are configured",
                        count(sent)
                    )),
                    (None, _) => None,
                }
            }
            // A session's requests are not comparable with the measured ones.
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

impl Workload {
    /// Requests at a rate: at equal gaps if they are that regular.
    pub fn arrive(&mut self, rate: f64, burstiness: Option<f64>) {
        self.load = match burstiness {
            Some(shape) if shape > REGULAR => Load::ConstantRate(rate),
            shape => {
                self.burstiness = shape.unwrap_or(self.burstiness);
                Load::Rate(rate)
            }
        };
    }

    /// A run of this many requests: at a rate any number, since measured rates are then of the whole run; of clients if they are
    /// fewer than would be simulated, since more of them change little.
    pub fn run_of(&mut self, requests: u32) {
        let most = match self.load {
            Load::Concurrency(clients) => Self::requests_of_clients(clients),
            load if load.is_rate() => u32::MAX,
            _ => 0,
        };
        self.requests = Some(requests).filter(|requests| *requests < most);
    }
}

/// Whether `one` differs from `other` by more than this fraction of it.
fn differ(one: f64, other: f64, share: f64) -> bool {
    (one - other).abs() > share * other.abs()
}
