//! How a load begins, comes and ends.

use super::columns::{BLANK, COUNT, SHARES};
use crate::config::inputs::number::Slot;
use crate::config::inputs::place::Group::Requests;
use crate::config::inputs::{Input, Number, Place, Stops};
use crate::config::{Field, Load, Scenario, Start};

fn of_sessions(scenario: &Scenario) -> bool {
    scenario.workload.load.is_sessions()
}

pub const BURSTINESS: Input = Input {
    field: Field::Burstiness,
    key: "bu",
    label: "Burstiness",
    place: Some(Place(Requests, 14)),
    later: true,
    applies: |scenario| matches!(scenario.workload.load, Load::Rate(_) | Load::SessionRate(_)),
    help: "Shape of the gamma distribution of arrival gaps: 1 is Poisson, less is burstier, more is more even.",
    number: number!(workload.burstiness, Number::real(0.05, 100.0, Stops::Decades { low: -1, high: 2 }), unit: "shape"),
    ..BLANK
};

pub const MAX_IN_FLIGHT: Input = Input {
    field: Field::MaxInFlight,
    key: "mc",
    label: "In flight",
    place: Some(Place(Requests, 15)),
    later: true,
    applies: |scenario| matches!(scenario.workload.load, Load::Burst(_)),
    help: "Prompts of the burst that are sent before one has ended (`--max-concurrency` of `vllm bench serve`); empty for all.",
    number: number!(workload.max_in_flight, COUNT, unit: "at most", catalog: Some(|_, _| None)),
    ..BLANK
};

pub const TURNS: Input = Input {
    field: Field::Turns,
    key: "tn",
    label: "Turns",
    place: Some(Place(Requests, 16)),
    later: true,
    applies: of_sessions,
    help: "Turns of a session. The first has the input length; the prompt of each later one is all that went before, \
           answers included, and a message.",
    number: number!(workload.turns.count, Number::whole(1.0, 1_000.0, Stops::Even { low: 1.0, high: 32.0, step: 1.0 }), unit: "of a session"),
    ..BLANK
};

pub const MESSAGE: Input = Input {
    field: Field::Message,
    key: "um",
    label: "Message",
    place: Some(Place(Requests, 17)),
    later: true,
    applies: of_sessions,
    help: "Tokens that the user adds in each turn after the first.",
    number: number!(workload.turns.message, Number::whole(1.0, 10_000_000.0, Stops::Quarters { low: 16, high: 16_384 }), unit: "tokens"),
    ..BLANK
};

pub const THINK_TIME: Input = Input {
    field: Field::ThinkTime,
    key: "tt",
    label: "Think time",
    place: Some(Place(Requests, 18)),
    later: true,
    applies: of_sessions,
    help: "Seconds between an answer and the user's next message.",
    number: number!(workload.turns.think_s, Number::real(0.0, 3_600.0, Stops::Even { low: 0.0, high: 60.0, step: 1.0 }), unit: "s"),
    ..BLANK
};

pub const HISTORY_CACHED: Input = Input {
    field: Field::HistoryCached,
    key: "hc",
    label: "History cached",
    place: Some(Place(Requests, 19)),
    later: true,
    applies: of_sessions,
    help: "Fraction of a session's earlier turns that the prefix cache may serve while it holds them: 0 where it is off.",
    number: number!(workload.turns.history_cached, Number::real(0.0, 1.0, SHARES), unit: "of history"),
    ..BLANK
};

pub const RAMP: Input = Input {
    field: Field::Ramp,
    key: "ru",
    label: "Ramp",
    place: Some(Place(Requests, 20)),
    later: true,
    applies: |scenario| matches!(scenario.workload.load, Load::Concurrency(_) | Load::Sessions(_)),
    help: "Seconds over which clients begin, evenly; empty for all at once.",
    number: start!(Ramp, 86_400.0, unit: "s"),
    ..BLANK
};

pub const STAGGER: Input = Input {
    field: Field::Stagger,
    key: "sg",
    label: "Stagger",
    place: Some(Place(Requests, 21)),
    later: true,
    applies: |scenario| matches!(scenario.workload.load, Load::Concurrency(_) | Load::Sessions(_)),
    help: "Seconds from the start of one client to that of the next, instead of a ramp; empty for all at once.",
    number: start!(Stagger, 3_600.0, unit: "s"),
    ..BLANK
};

pub const REQUESTS: Input = Input {
    field: Field::Requests,
    key: "np",
    label: "Requests",
    place: Some(Place(Requests, 22)),
    later: true,
    applies: |scenario| !matches!(scenario.workload.load, Load::Burst(_) | Load::Offline(_) | Load::Batch(_)),
    help: "Requests of the simulated run (`--num-prompts`), in whole sessions; empty for ten of each client, a hundred at \
           least, and 1,000 at a rate.",
    number: number!(
        workload.requests, Number::whole(1.0, 100_000.0, Stops::Quarters { low: 16, high: 16_384 }), unit: "in all",
        catalog: Some(|_, _| None)
    ),
    ..BLANK
};
