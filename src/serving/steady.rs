//! The steady state of a closed loop of C clients, or of requests that arrive at a rate, in closed form.
//!
//! C clients each keep one request in the system. `D` of them decode, the others wait or prefill. A
//! decode step of D sequences takes `t_d(D)`; prompts that finish replace themselves at
//! `lambda = D / (OSL - 1)` per step and stall decode by `A(j)` for `j` prompts taken together. Then
//!
//! ```text
//! TPOT = t_d(D) + stall(lambda)        X = D / ((OSL - 1) TPOT)        C = D + X TTFT
//! ```
//!
//! and the last (Little's law) fixes D. Arrivals are spread evenly over steps (lengths fixed, phases
//! random), so the number of prompts that meet in one step is Poisson. At a rate X it is X that fixes D; who
//! decodes beside a request are then D others, its own sequence not among them.
//!
//! Under attention data parallelism each rank decodes its own share of the sequences, and all ranks step together:
//! prompts of several ranks at once stall them once, and where prompts go first, the ranks without one decode
//! meanwhile. TPOT then comes out up to a fifteenth too long at many clients, against the simulation.
//!
//! With speculative decoding a step yields several tokens: then `OSL - 1` stands for the decode steps of a request, and
//! TPOT for the time between them.
//!
//! Prompts that come at random cluster, and here they do not: where they take half of all time and outputs are
//! short, TPOT comes out up to a tenth too short.

use crate::units::Seconds;

/// What the engine's steps cost, as functions the plan has tabulated.
pub struct Costs<'a> {
    /// Decode step of this many sequences of each rank on one pipeline micro-batch.
    pub decode: &'a dyn Fn(f64) -> Seconds,
    /// Decode time lost to this many prompts that all ranks prefill together (up to `prompts_per_step` each), with so
    /// many sequences of each rank decoding in the same step.
    pub stall: &'a dyn Fn(f64, f64) -> Seconds,
    /// Prompts that fit into one step of a rank; below 1 a prompt takes `1 / prompts_per_step` steps, rounded up.
    pub prompts_per_step: f64,
    /// A step with prompts also decodes.
    pub mixed: bool,
    pub pp: f64,
    /// Ranks of attention data parallelism.
    pub ranks: f64,
    /// Steps are decided while the one before them runs (see `Policy::ahead`).
    pub ahead: bool,
    /// From a request's arrival to the scheduler.
    pub admission: Seconds,
}

impl Costs<'_> {
    /// Steps decided beyond the one under way.
    fn decided(&self) -> f64 {
        if self.ahead { 1.0 } else { 0.0 }
    }
}

/// The fixed point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steady {
    /// Sequences that decode.
    pub decoding: f64,
    /// Time between a sequence's tokens.
    pub tpot: Seconds,
    /// From the moment the engine may take the request (its queue for a free slot excluded).
    pub ttft: Seconds,
    /// Requests per second.
    pub rate: f64,
}

/// Nearest that the share of steps with prompts comes to one; the queue then holds almost all clients.
const FULL: f64 = 0.999;

/// Solves for `clients` requests inside the engine and `steps = OSL - 1` decode steps each.
pub fn solve(costs: &Costs, clients: f64, steps: f64) -> Steady {
    if steps < 1.0 {
        return prefill_only(costs, clients);
    }
    let state = |decoding: f64| at(costs, Meets::in_loop(costs, decoding, clients), steps);
    let in_flight = |state: Steady| state.decoding + state.rate * state.ttft.0;
    state(crossing(clients, |decoding| in_flight(state(decoding)) - clients))
}

/// Solves for `rate` requests per second, of which the engine works on `most` at once; the most that it can serve
/// per second where that is not enough.
///
/// # Errors
/// Requests per second that it serves, where that is fewer.
pub fn solve_rate(costs: &Costs, rate: f64, most: f64, steps: f64) -> Result<Steady, f64> {
    if steps < 1.0 {
        let (together, time) = full_prefill(costs, most);
        let capacity = together / time.0 * costs.pp;
        let share = rate / capacity;
        let alone = (costs.stall)(1.0, 0.0);
        // Prompts of one length behind each other (M/D/1).
        let ttft = costs.admission + alone * (1.0 + share / (2.0 * (1.0 - share)));
        let state = Steady { decoding: 0.0, tpot: Seconds::ZERO, ttft, rate };
        return if share < FULL { Ok(state) } else { Err(capacity) };
    }
    let state = |decoding: f64| at(costs, Meets::at_rate(costs, decoding), steps);
    let busiest = state(most);
    if busiest.rate <= rate {
        return Err(busiest.rate);
    }
    Ok(Steady { rate, ..state(crossing(most, |decoding| state(decoding).rate - rate)) })
}

/// Where `excess`, which rises, crosses zero between 0 and `most`.
fn crossing(most: f64, excess: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

/// What a request meets in the engine.
#[derive(Debug, Clone, Copy)]
struct Meets {
    /// Sequences that decode, on average.
    decoding: f64,
    /// Sequences of the decode steps it takes part in.
    batch: f64,
    /// The share of all prompts that stall it.
    others: f64,
    /// Steps under way when it comes, and decided, that it waits for.
    waits: f64,
}

impl Meets {
    /// A request is never stalled by its own prefill, only by the others'. It comes when another has ended, and so
    /// has a step: the next is just beginning.
    fn in_loop(costs: &Costs, decoding: f64, clients: f64) -> Self {
        let others = (clients - 1.0) / clients.max(1.0);
        Self { decoding, batch: decoding, others, waits: others * (1.0 + costs.decided()) }
    }

    /// Who comes at random meets the average of the others, beside itself; of a Poisson number, that is. If a step
    /// is under way, half of it is left.
    fn at_rate(costs: &Costs, decoding: f64) -> Self {
        let busy = -(-decoding).exp_m1();
        Self { decoding, batch: decoding + 1.0, others: 1.0, waits: busy * (0.5 + costs.decided()) }
    }
}

/// OSL 1: prompts and nothing else.
fn prefill_only(costs: &Costs, clients: f64) -> Steady {
    let (together, time) = full_prefill(costs, clients);
    let most = together / time.0 * costs.pp;
    // As fast as prompts are processed, or as the clients ask.
    let ttft = Seconds(clients / most).max(costs.admission + time);
    Steady { decoding: 0.0, tpot: Seconds::ZERO, ttft, rate: clients / ttft.0 }
}

/// The most prompts of one step, of so many there are, and its time.
fn full_prefill(costs: &Costs, prompts: f64) -> (f64, Seconds) {
    let together = (costs.prompts_per_step.max(1.0) * costs.ranks).min(prompts);
    (together, (costs.stall)(together.max(1.0), 0.0))
}

fn at(costs: &Costs, meets: Meets, steps: f64) -> Steady {
    let Meets { decoding, batch, others, waits } = meets;
    let own = batch / costs.pp / costs.ranks;
    let decode = (costs.decode)(own.max(1.0));
    let lambda = decoding / steps * others;
    let chunks = (1.0 / costs.prompts_per_step).ceil().max(1.0);
    let most = costs.prompts_per_step.max(1.0).floor() * costs.ranks;
    // Mean of a Poisson number that is not zero.
    let met = if lambda > 0.0 { lambda / -(-lambda).exp_m1() } else { 1.0 };
    let together = met.min(most).max(1.0);
    let events = lambda / together;
    let stall = (costs.stall)(together, own);
    // Prompts go first on the ranks that have some; the others decode meanwhile.
    let alone = if costs.mixed { 0.0 } else { (1.0 - 1.0 / costs.ranks).powf(together) };
    let lost = (stall - decode * (alone * chunks)).max(Seconds::ZERO);
    let tpot = decode + lost * (events / costs.pp);
    let service = if costs.mixed { stall + decode * chunks } else { stall };
    let queue = if costs.mixed {
        // Steps with prompts as a share of all steps: at one, mixed steps no longer keep up.
        let share = (events * chunks).min(FULL);
        service * (share / (2.0 * (1.0 - share)))
    } else {
        let share = (stall * events / tpot).min(FULL);
        service * (share / 2.0)
    };
    let residual = tpot * waits;
    Steady {
        decoding,
        tpot,
        ttft: costs.admission + residual + queue + service,
        rate: decoding / (steps * tpot.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs {
        decode: &|sequences| Seconds(0.010 + 0.0001 * sequences),
        stall: &|prompts, _| Seconds(0.040 * prompts),
        prompts_per_step: 8.0,
        mixed: false,
        pp: 1.0,
        ranks: 1.0,
        ahead: false,
        admission: Seconds::ZERO,
    };

    #[test]
    fn one_client_sees_the_bare_times() {
        let steps = 99.0;
        let state = solve(&COSTS, 1.0, steps);
        // Alone: no queue, no step under way, no stall.
        assert!((state.ttft.0 - 0.040).abs() < 1e-6);
        assert!((state.tpot.0 - 0.0101).abs() < 1e-6);
        let e2e = state.ttft.0 + steps * state.tpot.0;
        assert!((state.rate * e2e - 1.0).abs() < 1e-6, "Little's law");
    }

    #[test]
    fn littles_law_holds_under_load() {
        for clients in [2.0, 16.0, 200.0, 3000.0] {
            let state = solve(&COSTS, clients, 199.0);
            let e2e = state.ttft.0 + 199.0 * state.tpot.0;
            assert!((state.rate * e2e / clients - 1.0).abs() < 1e-6, "{clients}: {state:?}");
        }
    }

    #[test]
    fn a_rate_is_served_or_said_to_be_too_high() {
        let steps = 199.0;
        let mut last = solve_rate(&COSTS, 0.001, 256.0, steps).expect("almost idle");
        assert!((last.ttft.0 - 0.040).abs() < 1e-3 && (last.tpot.0 - 0.0101).abs() < 1e-4, "{last:?}");
        for rate in [0.5, 2.0, 8.0, 14.0] {
            let state = solve_rate(&COSTS, rate, 256.0, steps).expect("below capacity");
            assert!((state.rate * steps * state.tpot.0 / state.decoding - 1.0).abs() < 1e-6, "{state:?}");
            assert!(state.tpot >= last.tpot && state.ttft >= last.ttft, "{rate}: {state:?}");
            last = state;
        }
        let capacity = solve_rate(&COSTS, 1e6, 256.0, steps).expect_err("far too many");
        assert!(solve_rate(&COSTS, capacity * 0.99, 256.0, steps).is_ok());
        assert_eq!(solve_rate(&COSTS, capacity * 1.01, 256.0, steps), Err(capacity));
    }

    #[test]
    fn prompts_alone_have_a_capacity_too() {
        // 8 prompts of 40 ms each in one step: 25 a second.
        assert!(solve_rate(&COSTS, 24.0, 8.0, 0.0).is_ok_and(|state| state.ttft.0 > 0.1));
        assert_eq!(solve_rate(&COSTS, 26.0, 8.0, 0.0), Err(25.0));
    }

    #[test]
    fn more_clients_never_lower_the_rate_or_the_times() {
        let mut last = solve(&COSTS, 1.0, 99.0);
        for clients in [2.0, 4.0, 8.0, 64.0, 512.0] {
            let state = solve(&COSTS, clients, 99.0);
            assert!(state.rate >= last.rate && state.tpot.0 >= last.tpot.0, "{clients}: {state:?}");
            last = state;
        }
    }
}
