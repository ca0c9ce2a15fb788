//! The rows, in the order in which a link writes them.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::number::Slot;
use super::place::Group::{Limits, Model, System, Workload};
use super::{Input, Kind, Number, Place, Stops, Text};
use crate::config::ids::ids;
use crate::config::link::{self, VERSION, compared, custom, values};
use crate::config::{Load, ModelChoice, Scenario, Start};

/// `Field { columns }`: a variant of [`Field`] and its row. Columns that are left out are those of [`BLANK`]. The row after
/// `also` is a second one of its field.
macro_rules! inputs {
    (
        $($(#[$attribute:meta])* $field:ident { $($column:ident: $value:expr),* $(,)? })+
        ; also $other:ident { $($also:ident: $more:expr),* $(,)? }
    ) => {
        /// An input of the page, a key of a link, a field of the JSON form: one name for all three.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, EnumString,
            IntoStaticStr, VariantArray,
        )]
        #[cfg_attr(test, derive(ts_rs::TS))]
        #[serde(rename_all = "snake_case")]
        #[strum(serialize_all = "snake_case")]
        pub enum Field {
            $($(#[$attribute])* $field,)+
        }

        pub static INPUTS: &[Input] = &[
            $(Input { field: Field::$field, $($column: $value,)* ..BLANK },)+
            Input { field: Field::$other, $($also: $more,)* ..BLANK },
        ];
    };
}

// Also the name in the JSON form, in reports and in the ids of the page's elements.
ids!(Field);

const BLANK: Input = Input {
    field: Field::Link,
    key: "",
    label: "",
    help: "",
    place: None,
    applies: |_| true,
    number: None,
    text: None,
    later: false,
    aside: false,
};

/// The number in a field of the scenario.
macro_rules! number {
    ($at:ident$(.$of:ident)*, $number:expr $(, $column:ident: $value:expr)* $(,)?) => {
        Some(Number {
            $($column: $value,)*
            read: |scenario| scenario.$at$(.$of)*.get(),
            write: |scenario, value| scenario.$at$(.$of)*.put(value),
            ..$number
        })
    };
}

/// The size of a kind of load, which writing it chooses.
macro_rules! load {
    ($kind:ident, $number:expr, unit: $unit:literal) => {
        Some(Number {
            unit: $unit,
            read: |scenario| match scenario.workload.load {
                Load::$kind(size) => size.get(),
                _ => None,
            },
            write: |scenario, value| {
                let mut size = Default::default();
                Slot::put(&mut size, value);
                scenario.workload.load = Load::$kind(size);
            },
            ..$number
        })
    };
}

/// The seconds of a way to begin, which writing them chooses.
macro_rules! start {
    ($kind:ident, $high:literal, unit: $unit:literal) => {
        Some(Number {
            unit: $unit,
            catalog: Some(|_, _| None),
            read: |scenario| match scenario.workload.start {
                Start::$kind(seconds) => Some(seconds),
                _ => None,
            },
            write: |scenario, value| match (value, scenario.workload.start) {
                (Some(seconds), _) => scenario.workload.start = Start::$kind(seconds),
                (None, Start::$kind(_)) => scenario.workload.start = Start::AtOnce,
                _ => {}
            },
            ..Number::real(0.0, $high, Stops::Decades { low: -1, high: 2 })
        })
    };
}

/// An id or a format in a link.
macro_rules! text {
    ($kind:ident, $get:expr, $set:expr) => {
        Some(Text { kind: Kind::$kind, get: $get, set: $set })
    };
}

const DEGREES: Stops = Stops::Doubling { low: 1, high: 16 };
const SIZES: Stops = Stops::Quarters { low: 1, high: 4096 };
const SHARES: Stops = Stops::Even { low: 0.0, high: 1.0, step: 0.05 };
const RATE: Number = Number::real(0.001, 1_000_000.0, Stops::Decades { low: -2, high: 3 });
const COUNT: Number = Number::whole(1.0, 100_000.0, SIZES);

fn of_sessions(scenario: &Scenario) -> bool {
    scenario.workload.load.is_sessions()
}

// Upper bounds lie beyond any deployment and keep every count of work exact in 64 bits.
inputs! {
    /// The link or the JSON text as a whole.
    #[default]
    Link { label: "Link" }
    Version {
        key: "v", label: "Link version", aside: true,
        help: "Schema version of the link; 1 if left out.",
        text: text!(Whole, |_| Some(VERSION.to_string()), link::set_version),
    }
    Model {
        key: "m", label: "Model", place: Some(Place(Model, 0)),
        help: "Model, by its id in the catalog.",
        text: text!(
            Id,
            |link| match &link.scenario.model {
                ModelChoice::Catalog(id) => Some(id.clone()),
                ModelChoice::Custom(_) => None,
            },
            |draft, text| values::id(text).map(|id| draft.link.scenario.model = ModelChoice::Catalog(id))
        ),
    }
    Gpu {
        key: "g", label: "GPU", place: Some(Place(System, 1)),
        help: "GPU, by its id in the catalog.",
        text: text!(
            Id,
            |link| Some(link.scenario.gpu.clone()),
            |draft, text| values::id(text).map(|id| draft.link.scenario.gpu = id)
        ),
    }
    Gpus {
        key: "n", label: "Replicas", place: Some(Place(System, 6)),
        help: "Copies of the whole deployment, which share the load. Links and JSON hold the GPUs of all of them, a multiple \
               of TP x DP x PP.",
        number: number!(replicas, Number::whole(1.0, 10_000.0, Stops::Doubling { low: 1, high: 64 }), unit: "copies"),
        text: text!(Whole, link::all_gpus, |draft, text| values::whole(text).map(|gpus| draft.gpus = Some(gpus))),
    }
    Tp {
        key: "tp", label: "Tensor parallel", place: Some(Place(System, 2)),
        help: "GPUs that share each layer (TP).",
        number: number!(tp, Number::whole(1.0, 128.0, DEGREES), unit: "GPUs", power_of_two: true),
    }
    Pp {
        key: "pp", label: "Pipeline parallel", place: Some(Place(System, 3)),
        help: "Stages that each hold some of the layers (PP).",
        number: number!(pp, Number::whole(1.0, 128.0, DEGREES), unit: "stages"),
    }
    Dp {
        key: "dp", label: "Attention data parallel", place: Some(Place(System, 4)), applies: Scenario::has_experts,
        help: "Groups of TP GPUs that run attention for requests of their own and share the experts (DP).",
        number: number!(dp, Number::whole(1.0, 128.0, DEGREES), unit: "groups", power_of_two: true),
    }
    Ep {
        key: "ep", label: "Expert parallel", place: Some(Place(System, 5)), applies: Scenario::has_experts,
        help: "GPUs of a stage (TP x DP) that the experts are distributed over (EP); the remaining factor shards each expert.",
        number: number!(ep, Number::whole(1.0, 128.0, Stops::Doubling { low: 1, high: 64 }), unit: "GPUs", power_of_two: true),
    }
    Engine {
        key: "e", label: "Engine", place: Some(Place(System, 0)),
        help: "Serving engine, by its id in the catalog.",
        text: text!(
            Id,
            |link| Some(link.scenario.engine.clone()),
            |draft, text| values::id(text).map(|id| draft.link.scenario.engine = id)
        ),
    }
    Weights {
        key: "w", label: "Weights", place: Some(Place(Model, 1)),
        help: "Format of the linear layers' weights; the published one if left out.",
        text: text!(
            Format,
            |link| link.scenario.weights.map(|dtype| dtype.id().to_owned()),
            |draft, text| values::dtype(text).map(|dtype| draft.link.scenario.weights = Some(dtype))
        ),
    }
    Kv {
        key: "kv", label: "KV cache", place: Some(Place(Model, 2)),
        help: "Format of the KV cache.",
        text: text!(
            Format,
            |link| Some(link.scenario.kv.id().to_owned()),
            |draft, text| values::dtype(text).map(|dtype| draft.link.scenario.kv = dtype)
        ),
    }
    Isl {
        key: "isl", label: "Input length", place: Some(Place(Workload, 0)),
        help: "Tokens of each prompt (ISL); of a static batch also a list, one length per prompt.",
        number: Some(Number {
            unit: "tokens",
            read: |scenario| scenario.workload.mean_prompt(),
            write: |scenario, value| scenario.workload.set_mean_prompt(value),
            ..Number::whole(1.0, 100_000_000.0, Stops::Quarters { low: 16, high: 131_072 })
        }),
        text: text!(
            Lengths,
            |link| Some(values::show_lengths(&link.scenario.workload.isl)),
            |draft, text| values::lengths(text).map(|isl| draft.link.scenario.workload.isl = isl)
        ),
    }
    Osl {
        key: "osl", label: "Output length", place: Some(Place(Workload, 1)),
        help: "Tokens generated for each prompt (OSL).",
        number: Some(Number {
            unit: "tokens",
            read: |scenario| Some(f64::from(scenario.workload.mean_output())),
            write: |scenario, value| scenario.workload.set_mean_output(value),
            ..Number::whole(1.0, 100_000_000.0, Stops::Quarters { low: 1, high: 16_384 })
        }),
        text: text!(
            Whole,
            |link| Some(link.scenario.workload.osl.to_string()),
            |draft, text| values::whole(text).map(|osl| draft.link.scenario.workload.osl = osl)
        ),
    }
    Spread {
        key: "rr", label: "Spread", place: Some(Place(Workload, 2)),
        help: "Fraction by which prompt and output lengths vary, uniformly, up and down.",
        number: number!(workload.spread, Number::real(0.0, 0.95, Stops::Even { low: 0.0, high: 0.9, step: 0.05 }), unit: "± share"),
    }
    LogSpread {
        key: "ls", label: "Log-normal spread", place: Some(Place(Workload, 3)), later: true,
        help: "Standard deviation of the logarithm of lengths that are log-normal instead, with the same means.",
        // Beyond, a few requests would hold most tokens.
        number: number!(workload.log_spread, Number::real(0.0, 1.5, Stops::Even { low: 0.0, high: 1.5, step: 0.05 }), unit: "sigma"),
    }
    Shape {
        key: "sh", label: "Shape of lengths", place: Some(Place(Workload, 4)), later: true,
        help: "A named distribution about these means. sharegpt: log-normal prompts and outputs that vary as those \
               that `vllm bench serve` takes from ShareGPT.",
        text: text!(
            Id,
            |link| link.scenario.workload.shape.map(|shape| shape.id().to_owned()),
            |draft, text| values::shape(text).map(|shape| draft.link.scenario.workload.shape = Some(shape))
        ),
    }
    Histogram {
        key: "hl", label: "Length histogram", later: true,
        help: "Pairs of prompt and output length to draw from, each with its weight, instead of one length each.",
        text: text!(
            Histogram,
            |link| {
                let bins = &link.scenario.workload.histogram;
                (!bins.is_empty()).then(|| values::show_histogram(bins))
            },
            |draft, text| values::histogram(text).map(|bins| draft.link.scenario.workload.histogram = bins)
        ),
    }
    CachedShare {
        key: "pc", label: "Prefix cache", place: Some(Place(Workload, 30)), later: true,
        help: "Fraction of each prompt found in the prefix cache.",
        number: number!(workload.cached_share, Number::real(0.0, 1.0, SHARES), unit: "of prompts"),
    }
    Drafted {
        key: "sd", label: "Drafted", place: Some(Place(Workload, 31)), later: true,
        help: "Speculative decoding: draft tokens per step and sequence.",
        number: number!(workload.drafts.drafted, Number::whole(0.0, 64.0, Stops::Even { low: 0.0, high: 16.0, step: 1.0 }), unit: "tokens"),
    }
    Accepted {
        key: "sa", label: "Accepted", place: Some(Place(Workload, 32)), later: true,
        help: "Speculative decoding: draft tokens accepted per step, on average.",
        number: number!(workload.drafts.accepted, Number::real(0.0, 64.0, Stops::Even { low: 0.0, high: 16.0, step: 0.1 }), unit: "tokens"),
    }
    /// The kind of load.
    Load {
        label: "Load", place: Some(Place(Workload, 5)),
        help: "How requests arrive: from clients that wait for each answer, at a rate, all at once to a server, in a queue of \
               the engine's own, as one static batch, or in sessions of several turns.",
    }
    Concurrency {
        key: "c", label: "Clients", place: Some(Place(Workload, 6)),
        applies: |scenario| matches!(scenario.workload.load, Load::Concurrency(_)),
        help: "Clients that each send their next request when the last one ends.",
        number: load!(Concurrency, COUNT, unit: "at once"),
    }
    Rate {
        key: "r", label: "Rate", place: Some(Place(Workload, 7)),
        applies: |scenario| matches!(scenario.workload.load, Load::Rate(_)),
        help: "Requests per second, arriving independently (Poisson) no matter how many wait.",
        number: load!(Rate, RATE, unit: "requests/s"),
    }
    ConstantRate {
        key: "rc", label: "Constant rate", place: Some(Place(Workload, 8)),
        applies: |scenario| matches!(scenario.workload.load, Load::ConstantRate(_)),
        help: "Requests per second with equal gaps, no matter how many wait.",
        number: load!(ConstantRate, RATE, unit: "requests/s"),
    }
    Burstiness {
        key: "bu", label: "Burstiness", place: Some(Place(Workload, 14)), later: true,
        applies: |scenario| matches!(scenario.workload.load, Load::Rate(_) | Load::SessionRate(_)),
        help: "Shape of the gamma distribution of arrival gaps: 1 is Poisson, less is burstier, more is more even.",
        number: number!(workload.burstiness, Number::real(0.05, 100.0, Stops::Decades { low: -1, high: 2 }), unit: "shape"),
    }
    Burst {
        key: "bn", label: "Burst", place: Some(Place(Workload, 9)),
        applies: |scenario| matches!(scenario.workload.load, Load::Burst(_)),
        help: "Prompts sent to a server at once, and no others (`vllm bench serve` without a rate).",
        number: load!(Burst, COUNT, unit: "prompts"),
    }
    Offline {
        key: "on", label: "Offline queue", place: Some(Place(Workload, 10)),
        applies: |scenario| matches!(scenario.workload.load, Load::Offline(_)),
        help: "Prompts queued in the engine, without a server, for the most throughput (`vllm bench throughput`).",
        number: load!(Offline, COUNT, unit: "prompts"),
    }
    Batch {
        key: "b", label: "Prompts", place: Some(Place(Workload, 11)),
        applies: |scenario| matches!(scenario.workload.load, Load::Batch(_)),
        help: "Prompts of one static batch: prefilled together, decoded together to the end.",
        number: load!(Batch, COUNT, unit: "at once"),
    }
    Sessions {
        key: "sn", label: "Sessions", place: Some(Place(Workload, 12)),
        applies: |scenario| matches!(scenario.workload.load, Load::Sessions(_)),
        help: "Users at once, each of whom begins a new session when the last one ends.",
        number: load!(Sessions, COUNT, unit: "at once"),
    }
    SessionRate {
        key: "sr", label: "Session rate", place: Some(Place(Workload, 13)),
        applies: |scenario| matches!(scenario.workload.load, Load::SessionRate(_)),
        help: "Sessions per second, beginning independently (Poisson) no matter how many are under way.",
        number: load!(SessionRate, RATE, unit: "sessions/s"),
    }
    MaxInFlight {
        key: "mc", label: "In flight", place: Some(Place(Workload, 15)), later: true,
        applies: |scenario| matches!(scenario.workload.load, Load::Burst(_)),
        help: "Prompts of the burst that are sent before one has ended (`--max-concurrency` of `vllm bench serve`); empty for all.",
        number: number!(workload.max_in_flight, COUNT, unit: "at most", catalog: Some(|_, _| None)),
    }
    Turns {
        key: "tn", label: "Turns", place: Some(Place(Workload, 16)), later: true, applies: of_sessions,
        help: "Turns of a session. The first has the input length; the prompt of each later one is all that went before, \
               answers included, and a message.",
        number: number!(workload.turns.count, Number::whole(1.0, 1_000.0, Stops::Even { low: 1.0, high: 32.0, step: 1.0 }), unit: "of a session"),
    }
    Message {
        key: "um", label: "Message", place: Some(Place(Workload, 17)), later: true, applies: of_sessions,
        help: "Tokens that the user adds in each turn after the first.",
        number: number!(workload.turns.message, Number::whole(1.0, 10_000_000.0, Stops::Quarters { low: 16, high: 16_384 }), unit: "tokens"),
    }
    ThinkTime {
        key: "tt", label: "Think time", place: Some(Place(Workload, 18)), later: true, applies: of_sessions,
        help: "Seconds between an answer and the user's next message.",
        number: number!(workload.turns.think_s, Number::real(0.0, 3_600.0, Stops::Even { low: 0.0, high: 60.0, step: 1.0 }), unit: "s"),
    }
    HistoryCached {
        key: "hc", label: "History cached", place: Some(Place(Workload, 19)), later: true, applies: of_sessions,
        help: "Fraction of a session's earlier turns that the prefix cache may serve while it holds them: 0 where it is off.",
        number: number!(workload.turns.history_cached, Number::real(0.0, 1.0, SHARES), unit: "of history"),
    }
    Ramp {
        key: "ru", label: "Ramp", place: Some(Place(Workload, 20)), later: true,
        applies: |scenario| matches!(scenario.workload.load, Load::Concurrency(_) | Load::Sessions(_)),
        help: "Seconds over which clients begin, evenly; empty for all at once.",
        number: start!(Ramp, 86_400.0, unit: "s"),
    }
    Stagger {
        key: "sg", label: "Stagger", place: Some(Place(Workload, 21)), later: true,
        applies: |scenario| matches!(scenario.workload.load, Load::Concurrency(_) | Load::Sessions(_)),
        help: "Seconds from the start of one client to that of the next, instead of a ramp; empty for all at once.",
        number: start!(Stagger, 3_600.0, unit: "s"),
    }
    Requests {
        key: "np", label: "Requests", place: Some(Place(Workload, 22)), later: true,
        applies: |scenario| !matches!(scenario.workload.load, Load::Burst(_) | Load::Offline(_) | Load::Batch(_)),
        help: "Requests of the simulated run (`--num-prompts`), in whole sessions; empty for ten of each client, a hundred at \
               least, and 1,000 at a rate.",
        number: number!(
            workload.requests, Number::whole(1.0, 100_000.0, Stops::Quarters { low: 16, high: 16_384 }), unit: "in all",
            catalog: Some(|_, _| None)
        ),
    }
    SloTtft {
        key: "st", label: "TTFT limit", place: Some(Place(Workload, 33)),
        help: "SLO: TTFT that every request must meet, in milliseconds; empty for none.",
        number: number!(
            workload.slos.ttft_ms, Number::real(1.0, 10_000_000.0, Stops::Decades { low: 1, high: 4 }),
            unit: "ms", catalog: Some(|_, _| None)
        ),
    }
    SloTpot {
        key: "sp", label: "TPOT limit", place: Some(Place(Workload, 34)),
        help: "SLO: TPOT that every request must meet, in milliseconds; empty for none.",
        number: number!(
            workload.slos.tpot_ms, Number::real(0.1, 1_000_000.0, Stops::Decades { low: 0, high: 3 }),
            unit: "ms", catalog: Some(|_, _| None)
        ),
    }
    TokenBudget {
        key: "tb", label: "Token budget", place: Some(Place(Limits, 0)),
        help: "Tokens that one step of the engine may process.",
        number: number!(
            overrides.token_budget, Number::whole(1.0, 1_048_576.0, Stops::Quarters { low: 256, high: 65_536 }),
            unit: "per step", catalog: Some(|engine, gpu| engine.scheduler.limits_on(gpu).0.0)
        ),
    }
    MaxSeqs {
        key: "ms", label: "Sequences", place: Some(Place(Limits, 1)),
        help: "Sequences that the engine runs at once.",
        number: number!(
            overrides.max_seqs, Number::whole(1.0, 65_536.0, SIZES),
            unit: "at most", catalog: Some(|engine, gpu| engine.scheduler.limits_on(gpu).1.0)
        ),
    }
    MemoryShare {
        key: "mem", label: "Memory share", place: Some(Place(Limits, 2)),
        help: "Fraction of the GPU's memory that the engine may use.",
        number: number!(
            overrides.memory_share, Number::real(0.1, 0.98, Stops::Even { low: 0.3, high: 0.98, step: 0.01 }),
            unit: "of the GPU", catalog: Some(|engine, _| engine.scheduler.memory_share.0)
        ),
    }
    Sustained {
        key: "clk", label: "Sustained clock", place: Some(Place(Limits, 3)),
        help: "Fraction of the boost clock that the GPU holds under load.",
        number: number!(
            overrides.sustained, Number::real(0.3, 1.0, Stops::Even { low: 0.5, high: 1.0, step: 0.01 }),
            unit: "of boost", catalog: Some(|_, gpu| gpu.sustained_clock.0)
        ),
    }
    Price {
        key: "usd", label: "Price", place: Some(Place(Limits, 4)),
        help: "US dollars per GPU and hour.",
        number: number!(
            overrides.price, Number::real(0.0, 10_000.0, Stops::Even { low: 0.1, high: 20.0, step: 0.1 }),
            unit: "$ / GPU h", catalog: Some(|_, gpu| gpu.dollars_per_hour.0)
        ),
    }
    Data {
        key: "d", label: "Release", aside: true,
        help: "Release of data and weights that the link was made with.",
        text: text!(
            Id,
            |link| link.data_release.clone(),
            |draft, text| values::id(text).map(|release| draft.link.data_release = Some(release))
        ),
    }
    Trace { label: "Trace" }
    Measured {
        key: "me", label: "Measurement", aside: true,
        help: "Measured results to compare with: means, and medians where known, in ms or per second.",
        text: text!(
            Measured,
            |link| {
                let measured = &link.scenario.measured;
                (!measured.is_empty()).then(|| values::show_measured(measured))
            },
            |draft, text| values::measured(text).map(|measured| draft.link.scenario.measured = measured)
        ),
    }
    Compared {
        key: "vs", label: "Comparison", aside: true,
        help: "Up to three configurations to compare with.",
        text: text!(
            Links,
            |link| (!link.compared.is_empty()).then(|| compared::encode(&link.compared)),
            |draft, text| compared::decode(text).map(|all| draft.link.compared = all)
        ),
    }
    ; also Model {
        key: "x", label: "Custom model",
        help: "A model of your own, instead of one of the catalog.",
        text: text!(
            Packed,
            |link| match &link.scenario.model {
                ModelChoice::Catalog(_) => None,
                ModelChoice::Custom(model) => Some(custom::encode(model)),
            },
            |draft, text| {
                draft.link.scenario.model = ModelChoice::Custom(Box::new(custom::decode(text)?));
                Ok(())
            }
        ),
    }
}
