//! How many requests a run sends to a replica.
//!
//! A server that starts empty fills up for as long as a request, or a session, stays in it, and at the end of a run
//! only the longest of them are left. A run that hardly lasts longer describes a half-empty server, so it is extended
//! unless its number of requests is given.

use super::capacity::NEARLY_FULL;
use super::{MOST_REQUESTS, ReplicaOutcome, RunOptions, Runner, clients_per_copy, constants};
use crate::calibration::Factors;
use crate::config::{Load, Setup, Workload};
use crate::serving::sim::{
    Arrivals, FinishedRequest, Outcome, SecondHalf, SimError, mostly_wait, served_within,
};

/// Arrivals continue for this many mean stays of the requests in the server: an eighth of them meet one that is filling up. With half as
/// many, near capacity P99 of TPOT is up to 20 % too low with log-normal lengths.
const STAYS: f64 = 8.0;
/// Maximum requests of one replica, if the run decides their number.
pub(super) const MOST_AT_RATE: u32 = 16_384;
/// A server still fills if the last quarter of arrivals finds this many times as many requests in flight as the quarter before.
const GROWING: f64 = 1.05;
/// Share of the requests in flight by Little's law that the second half of arrivals must meet.
const LEAST_MET: f64 = 0.95;
/// Minimum share of the time in which clients have a request, or users a session: the rest is ramp-up and drain.
const LEAST_BUSY: f64 = 0.8;
/// Fewer than at a rate, unless the run would end in the ramp: searches and studies mostly simulate clients.
const MOST_OF_CLIENTS: f64 = 2048.0;

impl Runner {
    /// A run of one replica with as many requests as are needed to fill it.
    ///
    /// # Errors
    /// Errors of the simulation.
    pub(super) fn filled(
        &self,
        setup: &Setup,
        load: Load,
        options: RunOptions<'_>,
    ) -> Result<ReplicaOutcome, SimError> {
        let served = self.filled_in(setup, load, false, options)?;
        let most = limit_at_rate(setup, load).map_or(f64::INFINITY, f64::from);
        match served.outcome.in_flight() * f64::from(setup.copies()) > most {
            true => self.filled_in(setup, load, true, options),
            false => Ok(served),
        }
    }

    /// A run of one replica, if the limit of requests in flight binds or not.
    fn filled_in(
        &self,
        setup: &Setup,
        load: Load,
        binds: bool,
        options: RunOptions<'_>,
    ) -> Result<ReplicaOutcome, SimError> {
        let is_open = self.trace.is_none() && stated(setup, load).is_none();
        if let Some(requests) = options.requests.filter(|_| is_open && load.is_rate())
            && let Ok(served) = self.served(setup, (load, requests, binds), options)
        {
            return Ok(served);
        }
        let mut served = match self.served(setup, (load, requests_in(setup, load, binds), binds), options) {
            // Long answers: half as many as it finished, but one of each client.
            Err(SimError::StepLimit { finished, .. })
                if is_open && finished > 1 && is_steady(setup, load) =>
            {
                let fewer = whole((finished / 2) as u32, turns(setup, load)).max(fewest(setup, load));
                self.served(setup, (load, fewer, binds), options)?
            }
            served => served?,
        };
        while let Some(count) =
            more(&served.outcome, setup, load, f64::from(self.slots())).filter(|_| is_open)
        {
            served = match self.served(setup, (load, count, binds), options) {
                // The run simulated so far is the result.
                Err(SimError::StepLimit { .. }) => return Ok(served),
                longer => longer?,
            };
        }
        if let Load::Burst(_) | Load::Offline(_) = load {
            let all = f64::from(requests_of(setup, load));
            let times = all / served.outcome.requests.len() as f64;
            if times > 1.0 {
                served.outcome.stand_for(times, matches!(load, Load::Burst(_)));
            }
        }
        Ok(served)
    }

    /// The outcome of `count` requests to one replica, or to both pools, as seen by its clients.
    fn served(
        &self,
        setup: &Setup,
        (load, count, binds): (Load, u32, bool),
        options: RunOptions<'_>,
    ) -> Result<ReplicaOutcome, SimError> {
        let (requests, arrivals, replicas) = self.requests(setup, (load, binds), count as usize);
        // Nobody sends a queue: its prompts wait for nothing but steps.
        let wait = if matches!(load, Load::Offline(_) | Load::Batch(_)) { 1.0 } else { options.factors.wait };
        let options = RunOptions { factors: Factors { wait, ..options.factors }, ..options };
        let (outcome, kv_tokens) = self.outcome(&requests, &arrivals, options)?;
        let replicas = self.worth(setup, load, &outcome, replicas);
        Ok(ReplicaOutcome { outcome, kv_tokens, replicas })
    }

    /// How many times the simulated replica's rate all `replicas` serve. Few requests or sessions may not divide by them, and
    /// the first of most replicas arrive later than that of the simulated one.
    pub(super) fn worth(&self, setup: &Setup, load: Load, outcome: &Outcome, replicas: f64) -> f64 {
        let of_trace = self.trace.as_ref().map(|trace| trace.requests.len() as f64);
        let turns = if self.trace.is_some() { 1 } else { turns(setup, load) };
        let all = of_trace.or(stated(setup, load).map(|all| f64::from(all.div_ceil(turns))));
        let Some(all) = all else { return replicas };
        let simulated = outcome.requests.len() as f64 / f64::from(turns);
        match load {
            Load::Concurrency(_) | Load::Sessions(_) => replicas.min(all / simulated),
            Load::Rate(rate) | Load::ConstantRate(rate) | Load::SessionRate(rate) => {
                let later = (all - 1.0 - (simulated - 1.0) * replicas).max(0.0) / rate;
                all / simulated * outcome.duration() / (outcome.duration() + later)
            }
            _ => replicas,
        }
    }
}

/// Requests per second of a replica whose clients start one after another, from when the last has started until the last request is
/// sent: those served or, if fewer (the longest are left for the end), those in flight over the mean stay of those sent. `None` if they
/// start together, if that takes no longer than a request, and of sessions, whose prompts grow.
pub(super) fn while_all_are_there(setup: &Setup, load: Load, outcome: &Outcome) -> Option<f64> {
    let (start, end) = (ramp(setup, load)?, last_begins(outcome, setup, load));
    let sent = outcome.requests.iter().filter(|served| served.arrival >= start).map(FinishedRequest::e2e);
    let stay = sent.clone().sum::<f64>() / sent.count() as f64;
    let served = || served_within(&outcome.requests, start, end) / (end - start);
    (end - start > stay).then(|| (in_flight(outcome, start, end) / stay).min(served()))
}

/// Seconds until the last client starts; `None` if they start together, if a replica has one, and without clients.
pub(super) fn ramp(setup: &Setup, load: Load) -> Option<f64> {
    let Load::Concurrency(clients) = load else { return None };
    setup.workload.start.seconds(clients).filter(|_| clients_of_one(setup, clients).0 > 1)
}

/// Energy beyond idle power for each request while the load lasts; `None` if the run does not show that for longer than a request
/// takes.
pub(super) fn lasting_joules(outcome: &Outcome) -> Option<f64> {
    let SecondHalf { from, until, joules } = outcome.second_half;
    (until - from > mean_stay(outcome)).then(|| joules / served_within(&outcome.requests, from, until))
}

/// Seconds from arrival to last token.
fn mean_stay(outcome: &Outcome) -> f64 {
    outcome.requests.iter().map(FinishedRequest::e2e).sum::<f64>() / outcome.requests.len() as f64
}

/// Whether fewer requests tell how all of them are served. A server that takes in a whole burst is busier than one with less of it.
fn is_steady(setup: &Setup, load: Load) -> bool {
    match load {
        Load::Burst(_) => setup.workload.max_in_flight.is_some(),
        Load::Batch(_) => false,
        _ => true,
    }
}

/// Requests with which each client has had one, each user one session.
fn fewest(setup: &Setup, load: Load) -> u32 {
    match load {
        Load::Concurrency(clients) => clients_of_one(setup, clients).0,
        Load::Sessions(users) => round_of(setup, users),
        _ => 1,
    }
}

/// The setup's number of requests, which is for its own load only. Loads that end by themselves have none.
pub(super) fn stated(setup: &Setup, load: Load) -> Option<u32> {
    let ends = matches!(load, Load::Burst(_) | Load::Offline(_) | Load::Batch(_));
    setup.workload.requests.filter(|_| load == setup.workload.load && !ends)
}

/// Requests of a session; 1 without sessions.
fn turns(setup: &Setup, load: Load) -> u32 {
    if load.is_sessions() { setup.workload.turns.count.max(1) } else { 1 }
}

/// The number of requests of a longer run, increased by powers of two so that slightly longer steps do not change it.
/// `None` if this run is long enough, or shows the queue of an overload.
fn more(outcome: &Outcome, setup: &Setup, load: Load, slots: f64) -> Option<u32> {
    let (times, most) = missing(outcome, setup, load)?;
    let fills = || still_fills(outcome, setup, load, slots) || is_half_empty(outcome, setup, load);
    let times = if load.is_rate() && fills() { times.max(2.0) } else { times };
    let count = outcome.requests.len() as f64;
    let more = (count * times.log2().ceil().exp2()).min(most);
    let more = match load {
        Load::Sessions(users) => whole(more as u32, round_of(setup, users)),
        _ => whole(more as u32, turns(setup, load)),
    };
    let is_queue = outcome.saturation.is_some() && mostly_wait(&outcome.requests);
    (times > 1.0 && f64::from(more) > count && !is_queue).then_some(more)
}

/// How many times as long a run must be for ramp-up and drain to be a small part of it, and the most requests a run may
/// have; `None` for loads that end by themselves.
fn missing(outcome: &Outcome, setup: &Setup, load: Load) -> Option<(f64, f64)> {
    let sessions: Vec<&[FinishedRequest]> = outcome.requests.chunks(turns(setup, load) as usize).collect();
    let began = sessions.iter().filter_map(|session| session.first()).map(|first| first.arrival);
    let ended = sessions.iter().filter_map(|session| session.last()).map(|last| last.last);
    let each = || ended.clone().zip(began.clone()).map(|(ended, began)| ended - began);
    let stays: f64 = each().sum();
    match load {
        Load::Rate(_) | Load::ConstantRate(_) | Load::SessionRate(_) => {
            // The stay of those found in the server, where long ones are found more often.
            let found = each().map(|stay| stay * stay).sum::<f64>() / stays;
            Some((STAYS * found / began.clone().fold(0.0, f64::max), f64::from(MOST_AT_RATE)))
        }
        Load::Concurrency(clients) | Load::Sessions(clients) => {
            let all = clients_per_copy(setup, clients).0.ceil() * ended.fold(0.0, f64::max);
            let ends_in_ramp =
                ramp(setup, load).is_some() && while_all_are_there(setup, load, outcome).is_none();
            let most = if ends_in_ramp { f64::from(MOST_AT_RATE) } else { MOST_OF_CLIENTS };
            // Ramp-up and drain take no longer in a longer run.
            Some((LEAST_BUSY / (1.0 - LEAST_BUSY) * (all / stays - 1.0), most))
        }
        Load::Burst(_) | Load::Offline(_) | Load::Batch(_) => None,
    }
}

/// Whether the number of requests in flight still grows when arrivals end, in a server that may become full: close to
/// capacity, filling takes many stays. Elsewhere the number soon settles and only fluctuates.
pub(super) fn still_fills(outcome: &Outcome, setup: &Setup, load: Load, slots: f64) -> bool {
    let span = last_begins(outcome, setup, load);
    let (before, now) = (in_flight(outcome, 0.5 * span, 0.75 * span), in_flight(outcome, 0.75 * span, span));
    now >= NEARLY_FULL * slots && now > GROWING * before
}

/// Whether the second half of arrivals meets fewer requests in flight than their rate and mean stay give: the longest answers, which
/// the run generates at its end, are then missing from it.
fn is_half_empty(outcome: &Outcome, setup: &Setup, load: Load) -> bool {
    let span = last_begins(outcome, setup, load);
    let all = mean_stay(outcome) * outcome.requests.len() as f64 / span;
    in_flight(outcome, 0.5 * span, span) < LEAST_MET * all
}

/// When the last request arrives; of sessions, the last first turn.
fn last_begins(outcome: &Outcome, setup: &Setup, load: Load) -> f64 {
    let first = outcome.requests.chunks(turns(setup, load) as usize).filter_map(|session| session.first());
    first.map(|first| first.arrival).fold(0.0, f64::max)
}

/// Mean requests in flight from `start` to `end`.
fn in_flight(outcome: &Outcome, start: f64, end: f64) -> f64 {
    let within = |served: &FinishedRequest| (served.last.min(end) - served.arrival.max(start)).max(0.0);
    outcome.requests.iter().map(within).sum::<f64>() / (end - start)
}

/// Share of the sessions' history that was still in the prefix cache when a turn needed it; `None` without sessions,
/// and with pools.
pub(super) fn history_found(setup: &Setup, outcome: &Outcome) -> Option<f64> {
    let turns = setup.workload.session().filter(|_| setup.prefill.is_none())?;
    let (mut first, mut history) = (0.0, 0.0);
    for (id, served) in outcome.requests.iter().enumerate() {
        if (id as u32).is_multiple_of(turns.count.max(1)) {
            first += f64::from(setup.cached(served.prompt));
        } else {
            history += f64::from(served.prompt.saturating_sub(turns.message));
        }
    }
    (history > 0.0).then(|| ((outcome.counts.found as f64 - first) / history).clamp(0.0, 1.0))
}

/// Rounded up to complete sessions.
fn whole(requests: u32, turns: u32) -> u32 {
    requests.div_ceil(turns.max(1)).saturating_mul(turns.max(1))
}

/// Requests of one session of each user of a replica: with some sessions fewer, a few users end alone.
fn round_of(setup: &Setup, users: u32) -> u32 {
    clients_of_one(setup, users).0.saturating_mul(setup.workload.turns.count.max(1))
}

/// Clients of the replica with most of them, and how many such replicas all clients make: the others have one less.
pub(super) fn clients_of_one(setup: &Setup, clients: u32) -> (u32, f64) {
    let of_replica = clients_per_copy(setup, clients).0.ceil() as u32;
    (of_replica, f64::from(clients.max(1)) / f64::from(of_replica))
}

/// Requests that may be in flight at a rate; `None` if any number may.
fn limit_at_rate(setup: &Setup, load: Load) -> Option<u32> {
    setup.workload.max_in_flight.filter(|_| matches!(load, Load::Rate(_) | Load::ConstantRate(_)))
}

/// Copies that requests are sent to. If the limit in flight at a rate `binds`, as many as it gives a full share: one of each would
/// together exceed it.
pub(super) fn busy_copies(setup: &Setup, load: Load, binds: bool) -> f64 {
    let copies = f64::from(setup.copies());
    match limit_at_rate(setup, load) {
        None => copies,
        Some(most) if binds => clients_of_one(setup, most).1.min(copies),
        Some(most) => copies.min(f64::from(most)).max(1.0),
    }
}

/// Arrivals at one copy, at most its share of all requests in flight.
pub(super) fn limited(setup: &Setup, due: Arrivals) -> Arrivals {
    let Some(most) = setup.workload.max_in_flight else { return due };
    Arrivals::AtMost { in_flight: clients_of_one(setup, most).0, due: Box::new(due) }
}

/// Requests that a run of `load` sends to one replica at first.
pub(super) fn requests_of(setup: &Setup, load: Load) -> u32 {
    requests_in(setup, load, false)
}

fn requests_in(setup: &Setup, load: Load, binds: bool) -> u32 {
    let copies = busy_copies(setup, load, binds).ceil() as u32;
    let stated = stated(setup, load);
    let of_clients = |clients: u32| {
        let (clients, busy) = clients_per_copy(setup, clients);
        let clients = clients.ceil() as u32;
        let requests = Workload::requests_of_clients(clients);
        let stated = stated.map(|requests| requests.div_ceil(busy as u32));
        stated.unwrap_or_else(|| requests.min(MOST_REQUESTS.max(clients)))
    };
    let turns = setup.workload.turns.count;
    let at_rate = || stated.map_or(constants().at_rate as u32, |requests| requests.div_ceil(copies));
    match load {
        Load::Concurrency(clients) => of_clients(clients),
        Load::Rate(_) | Load::ConstantRate(_) => at_rate(),
        Load::Burst(size) => {
            let most = setup.workload.max_in_flight;
            size.div_ceil(most.map_or(copies, |most| clients_per_copy(setup, most).1 as u32))
        }
        Load::Offline(size) | Load::Batch(size) => size.div_ceil(copies),
        Load::Sessions(users) => {
            whole(of_clients(users), if stated.is_some() { turns } else { round_of(setup, users) })
        }
        Load::SessionRate(_) => whole(at_rate(), turns),
    }
}
