//! The workload of a deployment: requests, how they arrive, and the SLOs they have to meet.

use super::Field;

/// How requests arrive. The parameters of each kind have rows in the table of inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// This many clients, each sending its next request when the last one ends (closed loop).
    Concurrency(u32),
    /// This many requests per second, arriving independently no matter how many wait (open loop).
    Rate(f64),
    /// The same with equal gaps.
    ConstantRate(f64),
    /// This many prompts sent to a server at once, then nothing.
    Burst(u32),
    /// This many prompts queued in the engine itself, for throughput.
    Offline(u32),
    /// This many prompts in one static batch: prefilled in one pass, decoded together to the end.
    Batch(u32),
    /// This many users at once, each holding one session of several turns after the other.
    Sessions(u32),
    /// This many sessions per second, beginning independently no matter how many are under way.
    SessionRate(f64),
}

impl Load {
    /// The sizes of all kinds, of which a scenario has one.
    pub const SIZES: [Field; 8] = [
        Field::Concurrency,
        Field::Rate,
        Field::ConstantRate,
        Field::Burst,
        Field::Offline,
        Field::Batch,
        Field::Sessions,
        Field::SessionRate,
    ];

    /// The load whose size is `size`, of this amount; clients if that is the size of none.
    pub fn of(size: Field, amount: f64) -> Self {
        let count = amount as u32;
        match size {
            Field::Rate => Self::Rate(amount),
            Field::ConstantRate => Self::ConstantRate(amount),
            Field::Burst => Self::Burst(count),
            Field::Offline => Self::Offline(count),
            Field::Batch => Self::Batch(count),
            Field::Sessions => Self::Sessions(count),
            Field::SessionRate => Self::SessionRate(amount),
            _ => Self::Concurrency(count),
        }
    }

    /// The input that is its size.
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

    /// How many: clients, prompts or users; requests or sessions per second.
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

    /// Arrivals do not wait for answers.
    pub fn is_rate(self) -> bool {
        matches!(self, Self::Rate(_) | Self::ConstantRate(_) | Self::SessionRate(_))
    }

    pub fn is_sessions(self) -> bool {
        matches!(self, Self::Sessions(_) | Self::SessionRate(_))
    }
}

/// When the clients of a closed loop, or the users of sessions, begin.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Start {
    #[default]
    AtOnce,
    /// Evenly over so many seconds.
    Ramp(f64),
    /// So many seconds after one another.
    Stagger(f64),
}

/// The turns of a session. The first prompt and all answers have the workload's lengths; each later prompt is all that went
/// before, and a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turns {
    pub count: u32,
    /// Tokens of each message after the first prompt.
    pub message: u32,
    /// Seconds between an answer and the next message.
    pub think_s: f64,
    /// Share of what went before that the prefix cache may serve, 0..1: 0 where it is off.
    pub history_cached: f64,
}

/// A named shape of lengths, scaled to the workload's means.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    serde::Serialize,
    serde::Deserialize,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Shape {
    /// Log-normal prompts and outputs with the deviations of requests from ShareGPT (`static/catalog/constants.json`).
    Sharegpt,
}

super::ids::ids!(Shape);

/// Prompt lengths of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lengths {
    /// Every prompt is this long.
    Fixed(u32),
    /// One length per prompt (measured batches); the load's size is their number.
    Each(Vec<u32>),
}

/// Requests of one kind among those of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    /// Tokens.
    pub prompt: u32,
    pub output: u32,
    /// Its share of all requests is this over the sum of all weights.
    pub weight: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    pub isl: Lengths,
    pub osl: u32,
    /// Share by which prompts and outputs are longer or shorter, uniformly (`--random-range-ratio` of
    /// `vllm bench serve`).
    pub spread: f64,
    /// Standard deviation of the logarithm of lengths that are log-normal, `isl` and `osl` being their means; 0
    /// where they are not.
    pub log_spread: f64,
    /// Shape of the lengths about `isl` and `osl`, if it is a named one.
    pub shape: Option<Shape>,
    /// Lengths drawn instead of `isl` and `osl`; empty where those hold.
    pub histogram: Vec<Bin>,
    pub load: Load,
    /// Shape of the gamma distribution that the gaps of a rate follow (`--burstiness` of `vllm bench serve`): 1 is
    /// Poisson, less comes in bursts.
    pub burstiness: f64,
    pub start: Start,
    /// Requests of all clients or at a rate; `None` is as many as a run of that load takes by default.
    pub requests: Option<u32>,
    /// Requests of a burst that are sent before one of them has ended (`--max-concurrency` of `vllm bench serve`).
    pub max_in_flight: Option<u32>,
    pub turns: Turns,
    /// Share of each prompt found in the prefix cache, 0..1.
    pub cached_share: f64,
    pub drafts: Drafts,
    pub slos: Slos,
}

impl Workload {
    /// Mean tokens of a prompt and of an output of the histogram; none if there is none, or it weighs nothing.
    pub fn means(&self) -> Option<(u32, u32)> {
        let total: f64 = self.histogram.iter().map(|bin| f64::from(bin.weight)).sum();
        let mean = |of: fn(&Bin) -> u32| {
            let tokens = self.histogram.iter().map(|bin| f64::from(of(bin)) * f64::from(bin.weight));
            (tokens.sum::<f64>() / total).round().max(1.0) as u32
        };
        (total > 0.0).then(|| (mean(|bin| bin.prompt), mean(|bin| bin.output)))
    }

    /// Tokens of a prompt on average; none of an empty list.
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

    /// Tokens of an output on average.
    pub fn mean_output(&self) -> u32 {
        self.means().map_or(self.osl, |(_, output)| output)
    }

    /// Every prompt is this long.
    pub fn set_mean_prompt(&mut self, tokens: Option<f64>) {
        if let Some(tokens) = tokens {
            self.leave_histogram();
            self.isl = Lengths::Fixed(tokens as u32);
        }
    }

    /// Every output is this long.
    pub fn set_mean_output(&mut self, tokens: Option<f64>) {
        if let Some(tokens) = tokens {
            self.leave_histogram();
            self.osl = tokens as u32;
        }
    }

    /// Goes from a histogram to its means, before one of them is set.
    pub fn leave_histogram(&mut self) {
        if let Some((prompt, output)) = self.means() {
            (self.isl, self.osl) = (Lengths::Fixed(prompt), output);
        }
        self.histogram.clear();
    }
}

/// Speculative decoding; none if nothing is drafted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Drafts {
    /// Tokens drafted for each step and sequence.
    pub drafted: u32,
    /// Of which are accepted on average, 0 to `drafted`.
    pub accepted: f64,
}

/// Limits that requests must meet, and how many of them; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Slos {
    /// Milliseconds to the first token.
    pub ttft_ms: Option<f64>,
    /// Milliseconds per output token after the first.
    pub tpot_ms: Option<f64>,
    /// Milliseconds to the last token.
    pub e2e_ms: Option<f64>,
    /// Percentile at which each limit holds by itself; none if it need not.
    pub percentile: Option<f64>,
    /// Share of requests that keep to all limits at once, 0..1.
    pub share: Option<f64>,
}

impl Slos {
    /// Share of requests that keep to all limits where neither a share nor a percentile is asked for.
    pub const SHARE: f64 = 0.99;

    /// Each limit there is, by its input, in seconds.
    pub fn limits(&self) -> impl Iterator<Item = (Field, f64)> {
        let all =
            [(Field::SloTtft, self.ttft_ms), (Field::SloTpot, self.tpot_ms), (Field::SloE2e, self.e2e_ms)];
        all.into_iter().filter_map(|(field, limit)| Some((field, limit? * 1e-3)))
    }

    /// Share of requests that must keep to all limits at once: none of its own where a percentile is asked for alone.
    pub fn share(&self) -> f64 {
        self.share.unwrap_or(if self.percentile.is_some() { 0.0 } else { Self::SHARE })
    }

    /// Share of requests that must keep to each limit, whatever they do with the others.
    pub fn share_of_each(&self) -> f64 {
        self.percentile.map_or(0.0, |percentile| percentile * 1e-2).max(self.share())
    }
}

impl Default for Workload {
    /// Those of link schema version 1, frozen.
    fn default() -> Self {
        Self {
            isl: Lengths::Fixed(1024),
            osl: 512,
            spread: 0.0,
            log_spread: 0.0,
            shape: None,
            histogram: Vec::new(),
            load: Load::Concurrency(16),
            burstiness: 1.0,
            start: Start::AtOnce,
            requests: None,
            max_in_flight: None,
            // About those of the example of vLLM's benchmark of conversations: 12 to 18 messages of either side, those of
            // the user 120 to 160 tokens, no pauses.
            turns: Turns { count: 8, message: 140, think_s: 0.0, history_cached: 1.0 },
            cached_share: 0.0,
            drafts: Drafts::default(),
            slos: Slos::default(),
        }
    }
}
