//! The workload of a deployment: requests, and how they arrive.

use super::catalog::numbers::requests::constants;
use super::{Field, Slos};

/// How requests arrive. Each kind's parameters have rows in the table of inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// This many clients, each sending its next request when the previous one ends (closed loop).
    Concurrency(u32),
    /// This many requests per second, arriving independently of how many are waiting (open loop).
    Rate(f64),
    /// This many requests per second, with equal gaps (open loop).
    ConstantRate(f64),
    /// This many prompts, all sent to a server at once.
    Burst(u32),
    /// This many prompts queued in the engine itself, for throughput.
    Offline(u32),
    /// This many prompts in one static batch: prefilled in one pass, decoded together to the end.
    Batch(u32),
    /// This many concurrent users, each with one multi-turn session after another.
    Sessions(u32),
    /// This many sessions per second, starting independently of how many are open.
    SessionRate(f64),
}

impl Load {
    /// One load of each kind.
    pub const KINDS: [Self; 8] = [
        Self::Concurrency(1),
        Self::Rate(1.0),
        Self::ConstantRate(1.0),
        Self::Burst(1),
        Self::Offline(1),
        Self::Batch(1),
        Self::Sessions(1),
        Self::SessionRate(1.0),
    ];

    /// The size inputs of all kinds; a scenario has one of them.
    pub fn sizes() -> [Field; 8] {
        Self::KINDS.map(Self::size)
    }

    /// A load of the same kind; of what is counted, the whole part of `amount`.
    #[must_use]
    pub fn with_amount(self, amount: f64) -> Self {
        let count = amount as u32;
        match self {
            Self::Concurrency(_) => Self::Concurrency(count),
            Self::Rate(_) => Self::Rate(amount),
            Self::ConstantRate(_) => Self::ConstantRate(amount),
            Self::Burst(_) => Self::Burst(count),
            Self::Offline(_) => Self::Offline(count),
            Self::Batch(_) => Self::Batch(count),
            Self::Sessions(_) => Self::Sessions(count),
            Self::SessionRate(_) => Self::SessionRate(amount),
        }
    }

    /// This many clients, or users if it is of sessions.
    pub fn closed(self, count: u32) -> Self {
        if self.is_sessions() { Self::Sessions(count) } else { Self::Concurrency(count) }
    }

    /// The input that holds the load's size.
    pub fn size(self) -> Field {
        match self {
            Self::Concurrency(_) => Field::Concurrency,
            Self::Rate(_) => Field::Rate,
            Self::ConstantRate(_) => Field::ConstantRate,
            Self::Burst(_) => Field::Burst,
            Self::Offline(_) => Field::Offline,
            Self::Batch(_) => Field::Batch,
            Self::Sessions(_) => Field::Sessions,
            Self::SessionRate(_) => Field::SessionRate,
        }
    }

    /// The load's amount: clients, prompts or users; requests or sessions per second.
    pub fn amount(self) -> f64 {
        match self {
            Self::Concurrency(count)
            | Self::Burst(count)
            | Self::Offline(count)
            | Self::Batch(count)
            | Self::Sessions(count) => f64::from(count),
            Self::Rate(rate) | Self::ConstantRate(rate) | Self::SessionRate(rate) => rate,
        }
    }

    /// Whether arrivals are independent of answers.
    pub fn is_rate(self) -> bool {
        matches!(self, Self::Rate(_) | Self::ConstantRate(_) | Self::SessionRate(_))
    }

    /// Whether a client may limit the requests in flight.
    pub fn may_be_limited(self) -> bool {
        matches!(self, Self::Rate(_) | Self::ConstantRate(_) | Self::Burst(_))
    }

    pub fn is_sessions(self) -> bool {
        matches!(self, Self::Sessions(_) | Self::SessionRate(_))
    }
}

/// When the clients of a closed loop, or the users of sessions, start.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Start {
    #[default]
    AtOnce,
    /// Evenly over this many seconds.
    Ramp(f64),
    /// This many seconds apart.
    Stagger(f64),
}

impl Start {
    /// Seconds until the last of `clients` has started; `None` if they start together.
    pub fn seconds(self, clients: u32) -> Option<f64> {
        match self {
            Self::AtOnce => None,
            Self::Ramp(seconds) => Some(seconds),
            Self::Stagger(seconds) => Some(seconds * f64::from(clients)),
        }
    }
}

/// The turns of a session. The first prompt and all answers have the workload's lengths; each later prompt is the
/// conversation so far plus a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turns {
    pub count: u32,
    /// Tokens per message after the first prompt.
    pub message: u32,
    /// Seconds between an answer and the next message.
    pub think_s: f64,
    /// Fraction of the history that the prefix cache may serve, 0..1: 0 if it is off.
    pub history_cached: f64,
    /// GiB of host memory for each GPU that keep the histories too, longer than its own memory does.
    pub host_gib: f64,
}

/// A named length distribution, scaled to the workload's means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[derive(serde::Serialize, serde::Deserialize, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Shape {
    /// As spread as the requests of ShareGPT that `vllm bench serve` chooses (`static/catalog/lengths.json`).
    Sharegpt,
}

super::ids::ids!(Shape);

/// Prompt lengths of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lengths {
    /// One length for all prompts.
    Fixed(u32),
    /// One length per prompt (measured batches); their number is the load's size.
    Each(Vec<u32>),
}

impl Lengths {
    /// Every length; the one of all prompts once.
    pub fn each(&self) -> &[u32] {
        match self {
            Self::Fixed(length) => std::slice::from_ref(length),
            Self::Each(lengths) => lengths,
        }
    }

    /// The length of all prompts, or of the first of a list, which `check` refuses to be empty.
    pub fn first(&self) -> u32 {
        self.each().first().copied().unwrap_or(1)
    }
}

/// One bin of a histogram of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    /// Tokens.
    pub prompt: u32,
    pub output: u32,
    /// The bin's share of requests is this over the sum of all weights.
    pub weight: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    pub isl: Lengths,
    pub osl: u32,
    /// Fraction by which prompt and output lengths vary uniformly (`--random-range-ratio` of `vllm bench serve`).
    pub spread: f64,
    /// Standard deviation of the logarithm of log-normal prompts and outputs with means `isl` and `osl`; 0 if not
    /// log-normal. A scenario gives both the same.
    pub log_spread: [f64; 2],
    /// Named distribution of lengths around `isl` and `osl`, if any.
    pub shape: Option<Shape>,
    /// Lengths drawn instead of `isl` and `osl`; empty to use those.
    pub histogram: Vec<Bin>,
    pub load: Load,
    /// Shape of the gamma distribution of arrival gaps (`--burstiness` of `vllm bench serve`): 1 is Poisson, lower
    /// is burstier.
    pub burstiness: f64,
    pub start: Start,
    /// Requests of all clients or at a rate; `None` for the load's default.
    pub requests: Option<u32>,
    /// Maximum in-flight requests of a rate or a burst (`--max-concurrency` of `vllm bench serve`).
    pub max_in_flight: Option<u32>,
    pub turns: Turns,
    /// Fraction of each prompt found in the prefix cache, 0..1.
    pub cached_share: f64,
    pub drafts: Drafts,
    /// Images in each prompt.
    pub images: u32,
    /// Tokens of an image in the prompt; `None` for the model's number, or else a typical one.
    pub image_tokens: Option<u32>,
    pub slos: Slos,
}

impl Workload {
    /// Requests of a run of this many clients that states no number; enough for meaningful percentiles.
    pub fn requests_of_clients(clients: u32) -> u32 {
        const LEAST: u32 = 100;
        clients.saturating_mul(constants().per_client as u32).max(LEAST)
    }

    /// Whether clients or users of `load` start at once only because nothing else is said: a stated number of requests
    /// makes the start part of a test.
    pub fn starts_together(&self, load: Load) -> bool {
        let of_users = matches!(load, Load::Concurrency(_) | Load::Sessions(_));
        of_users && self.start == Start::AtOnce && self.requests.is_none()
    }

    /// Mean prompt and output tokens of the histogram; `None` if it is empty or has no weight.
    pub fn means(&self) -> Option<(u32, u32)> {
        let total: f64 = self.histogram.iter().map(|bin| f64::from(bin.weight)).sum();
        let mean = |of: fn(&Bin) -> u32| {
            let tokens = self.histogram.iter().map(|bin| f64::from(of(bin)) * f64::from(bin.weight));
            (tokens.sum::<f64>() / total).round().max(1.0) as u32
        };
        (total > 0.0).then(|| (mean(|bin| bin.prompt), mean(|bin| bin.output)))
    }

    /// Mean prompt tokens; `None` for an empty list.
    pub fn mean_prompt(&self) -> Option<f64> {
        match (self.means(), &self.isl) {
            (Some((prompt, _)), _) => Some(f64::from(prompt)),
            (None, Lengths::Fixed(length)) => Some(f64::from(*length)),
            (None, Lengths::Each(lengths)) => {
                let total: f64 = lengths.iter().copied().map(f64::from).sum();
                (!lengths.is_empty()).then(|| (total / lengths.len() as f64).round())
            }
        }
    }

    /// Mean output tokens.
    pub fn mean_output(&self) -> u32 {
        self.means().map_or(self.osl, |(_, output)| output)
    }

    /// Gives every prompt this length.
    pub fn set_mean_prompt(&mut self, tokens: Option<f64>) {
        if let Some(tokens) = tokens {
            self.leave_histogram();
            self.isl = Lengths::Fixed(tokens as u32);
        }
    }

    /// Gives every prompt its own length.
    pub fn set_prompts(&mut self, lengths: Lengths) {
        self.leave_histogram();
        self.isl = lengths;
    }

    /// Gives every output this length.
    pub fn set_mean_output(&mut self, tokens: Option<f64>) {
        if let Some(tokens) = tokens {
            self.leave_histogram();
            self.osl = tokens as u32;
        }
    }

    /// Replaces the lengths by a histogram.
    pub fn draw_from(&mut self, histogram: Vec<Bin>) {
        let Self { isl, osl, .. } = Self::default();
        *self = Self { isl, osl, histogram, ..std::mem::take(self) };
    }

    /// Replaces a histogram by its means, before one of them is set.
    pub fn leave_histogram(&mut self) {
        if let Some((prompt, output)) = self.means() {
            (self.isl, self.osl) = (Lengths::Fixed(prompt), output);
        }
        self.histogram.clear();
    }
}

/// Speculative decoding; `drafted` is 0 without.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Drafts {
    /// Tokens drafted per step and sequence.
    pub drafted: u32,
    /// Tokens accepted on average, 0 to `drafted`.
    pub accepted: f64,
}

impl Default for Workload {
    /// The defaults of link schema version 1, frozen.
    fn default() -> Self {
        Self {
            isl: Lengths::Fixed(1024),
            osl: 512,
            spread: 0.0,
            log_spread: [0.0; 2],
            shape: None,
            histogram: Vec::new(),
            load: Load::Concurrency(16),
            burstiness: 1.0,
            start: Start::AtOnce,
            requests: None,
            max_in_flight: None,
            // Close to the example of vLLM's multi-turn benchmark: 12 to 18 messages per side, 120 to 160 tokens
            // per user message, no pauses.
            turns: Turns { count: 8, message: 140, think_s: 0.0, history_cached: 1.0, host_gib: 0.0 },
            cached_share: 0.0,
            drafts: Drafts::default(),
            images: 0,
            image_tokens: None,
            slos: Slos::default(),
        }
    }
}
