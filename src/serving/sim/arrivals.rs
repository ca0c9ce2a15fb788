//! When requests arrive.

use std::collections::VecDeque;

use super::SimError;
use super::limited_client::LimitedClient;
use super::queue::insert;
use crate::units::random::SplitMix64;

/// How requests arrive.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// Each client sends its next request when its previous one has finished; all start at 0 s.
    Closed { clients: u32 },
    /// Clients as in [`Arrivals::Closed`], with starts spread evenly over this many seconds.
    Ramp { clients: u32, seconds: f64 },
    /// Arrival time of each request in seconds, ascending.
    Times(Vec<f64>),
    /// Requests per second with gamma-distributed gaps, the first at 0 s; an infinite rate is `AtOnce`.
    Rate {
        per_s: f64,
        /// Shape of the gamma distribution: 1 is Poisson, below 1 more bursty, as in `vllm bench serve`.
        burstiness: f64,
        seed: u64,
    },
    /// All at 0 s: a burst, an offline queue, a static batch.
    AtOnce,
    /// As `due` says, which must not depend on answers, but with at most this many in flight: the client sends the next
    /// one that is due when an earlier one ends. Its times start when it is sent, as in `vllm bench serve`.
    AtMost { in_flight: u32, due: Box<Arrivals> },
    /// Sessions of `turns` requests each, consecutive in the list. Sessions start as `begin` says for single
    /// requests and end with their last request; each later request arrives `think_s` after the previous one has
    /// finished.
    Sessions { turns: u32, think_s: f64, begin: Box<Arrivals> },
}

impl Arrivals {
    /// Seconds from an answer to its client's next request; `None` if clients do not wait for answers.
    pub fn pause(&self) -> Option<f64> {
        match self {
            Self::Closed { .. } | Self::Ramp { .. } => Some(0.0),
            Self::Sessions { think_s, begin, .. } => begin.pause().map(|_| *think_s),
            Self::Times(_) | Self::Rate { .. } | Self::AtOnce | Self::AtMost { .. } => None,
        }
    }
}

/// What is wrong with stated arrival times.
const TIMES: &str =
    "arrival times must not decrease, must start at 0 s or later, and must number one per request";

/// Where the next arrival comes from.
pub(super) enum ArrivalSource {
    Open { times: Vec<f64>, next: usize },
    Limited(LimitedClient),
    Closed { due: VecDeque<f64>, next: usize, left: usize },
    Sessions { turns: usize, think_s: f64, begin: Box<ArrivalSource>, later: VecDeque<(f64, usize)> },
}

impl ArrivalSource {
    pub fn new(arrivals: &Arrivals, count: usize) -> Result<Self, SimError> {
        let times = match arrivals {
            Arrivals::Closed { clients } => return Self::closed(*clients, 0.0, count),
            Arrivals::Ramp { clients, seconds } => return Self::closed(*clients, *seconds, count),
            Arrivals::Times(times) => {
                let sound = times.iter().all(|&time| time.is_finite() && time >= 0.0);
                if times.len() != count || !sound || !times.is_sorted() {
                    return Err(SimError::Arrivals(TIMES));
                }
                times.clone()
            }
            Arrivals::Rate { per_s, burstiness, seed } => drawn(*per_s, *burstiness, *seed, count)?,
            Arrivals::AtOnce => vec![0.0; count],
            Arrivals::AtMost { in_flight, due } => {
                let (Self::Open { times, .. }, 1..) = (Self::new(due, count)?, *in_flight) else {
                    return Err(SimError::Arrivals("at least one request must be in flight, sent at a rate"));
                };
                return Ok(Self::Limited(LimitedClient::new(times, *in_flight)));
            }
            Arrivals::Sessions { turns, think_s, begin } => {
                let turns = *turns as usize;
                if turns == 0 || !count.is_multiple_of(turns) {
                    return Err(SimError::Arrivals(
                        "all sessions must have the same number of turns, at least one",
                    ));
                }
                if !think_s.is_finite() || *think_s < 0.0 {
                    return Err(SimError::Arrivals("the think time must be 0 s or more"));
                }
                let begin = Box::new(Self::new(begin, count / turns)?);
                return Ok(Self::Sessions { turns, think_s: *think_s, begin, later: VecDeque::new() });
            }
        };
        Ok(Self::Open { times, next: 0 })
    }

    fn closed(clients: u32, seconds: f64, count: usize) -> Result<Self, SimError> {
        if clients == 0 {
            return Err(SimError::Arrivals("a closed loop needs a client"));
        }
        if !seconds.is_finite() || seconds < 0.0 {
            return Err(SimError::Arrivals("a ramp must take 0 s or more"));
        }
        let first = count.min(clients as usize);
        let due = (0..first).map(|client| seconds * client as f64 / f64::from(clients)).collect();
        Ok(Self::Closed { due, next: 0, left: count - first })
    }

    /// Time of the next arrival, if already known.
    pub fn peek(&self) -> Option<f64> {
        match self {
            Self::Open { times, next } => times.get(*next).copied(),
            Self::Limited(client) => client.next(),
            Self::Closed { due, .. } => due.front().copied(),
            Self::Sessions { begin, later, .. } => {
                let later = later.front().map(|&(time, _)| time);
                begin.peek().into_iter().chain(later).reduce(f64::min)
            }
        }
    }

    /// Takes the next request, by its index in the list.
    pub fn take(&mut self) -> usize {
        let next = match self {
            Self::Open { next, .. } => next,
            Self::Limited(client) => return client.send(),
            Self::Closed { due, next, .. } => {
                due.pop_front();
                next
            }
            Self::Sessions { turns, begin, later, .. } => {
                let begins = begin.peek().unwrap_or(f64::INFINITY);
                return match later.pop_front_if(|&mut (time, _)| time <= begins) {
                    Some((_, id)) => id,
                    None => begin.take() * *turns,
                };
            }
        };
        *next += 1;
        *next - 1
    }

    /// Request `id` has finished at `time`, and its client sends the next one.
    pub fn ended(&mut self, id: usize, time: f64) {
        match self {
            Self::Closed { due, left, .. } if *left > 0 => {
                *left -= 1;
                insert(due, time, |&earlier| earlier <= time);
            }
            Self::Limited(client) => client.ended(time),
            Self::Sessions { turns, think_s, later, .. } if !(id + 1).is_multiple_of(*turns) => {
                let time = time + *think_s;
                insert(later, (time, id + 1), |&(earlier, _)| earlier <= time);
            }
            Self::Sessions { turns, begin, .. } => begin.ended(id / *turns, time),
            Self::Open { .. } | Self::Closed { .. } => {}
        }
    }

    /// When request `id`, just sent at `time`, was due, and how many were due but not sent at that moment.
    pub fn overdue(&self, id: usize, time: f64) -> (f64, u32) {
        match self {
            Self::Limited(client) => client.overdue(id),
            _ => (time, 0),
        }
    }

    /// Whether requests are due independently of answers, except within a session.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Open { .. } | Self::Limited(_) => true,
            Self::Closed { .. } => false,
            Self::Sessions { begin, .. } => begin.is_open(),
        }
    }

    /// Requests of a session; 1 without sessions.
    pub fn turns(&self) -> usize {
        match self {
            Self::Sessions { turns, .. } => *turns,
            _ => 1,
        }
    }

    /// The session of request `id`, if there are sessions.
    pub fn session(&self, id: usize) -> Option<u32> {
        match self {
            Self::Sessions { turns, .. } => Some((id / turns) as u32),
            _ => None,
        }
    }
}

fn drawn(per_s: f64, burstiness: f64, seed: u64, count: usize) -> Result<Vec<f64>, SimError> {
    if per_s.is_nan() || per_s <= 0.0 {
        return Err(SimError::Arrivals("the request rate must be above 0"));
    }
    if !burstiness.is_finite() || burstiness <= 0.0 {
        return Err(SimError::Arrivals("the burstiness must be above 0"));
    }
    if per_s.is_infinite() {
        return Ok(vec![0.0; count]);
    }
    let mut random = SplitMix64::new(seed);
    let gaps: Vec<f64> = (0..count).map(|_| random.gamma(burstiness)).collect();
    // `vllm bench serve` scales the gaps drawn, so that exactly this rate arrives, however few requests there are.
    let drawn: f64 = gaps.iter().sum();
    let scale = count as f64 / per_s / drawn;
    let mut time = 0.0;
    let times: Vec<f64> = gaps
        .iter()
        .map(|gap| {
            let this = time;
            time += gap * scale;
            this
        })
        .collect();
    match times.last() {
        Some(last) if !last.is_finite() => {
            Err(SimError::Arrivals("at this request rate the run would never end"))
        }
        _ => Ok(times),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_have_the_rate_and_the_burstiness() {
        for burstiness in [0.5, 1.0, 5.0] {
            let times = drawn(4.0, burstiness, 11, 20_000).expect("sound");
            let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            assert!((mean * 4.0 - 1.0).abs() < 0.03, "{mean}");
            assert!((mean * mean / variance / burstiness - 1.0).abs() < 0.1, "{variance}");
        }
    }

    #[test]
    fn few_requests_arrive_at_the_rate_too() {
        for (burstiness, seed) in [(0.2, 1), (1.0, 2), (8.0, 3)] {
            let times = drawn(2.0, burstiness, seed, 30).expect("sound");
            let longer = drawn(1.0, burstiness, seed, 30).expect("sound");
            assert!(times[29] < 15.0 && times[29] > 7.0, "{times:?}");
            assert!((longer[29] / times[29] - 2.0).abs() < 1e-9);
        }
    }

    #[test]
    fn invalid_rates_are_errors() {
        for rate in [0.0, -1.0, f64::NAN, 1e-320] {
            assert!(drawn(rate, 1.0, 0, 3).is_err(), "{rate}");
        }
        assert!(drawn(1.0, 0.0, 0, 3).is_err());
        assert_eq!(drawn(f64::INFINITY, 1.0, 0, 3), Ok(vec![0.0; 3]));
    }
}
