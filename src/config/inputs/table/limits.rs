//! Limits of the engine and of what is asked of it.

use super::columns::{BLANK, SIZES};
use crate::config::Field;
use crate::config::inputs::number::Slot;
use crate::config::inputs::place::Group::{Engine, Rates, Requests, Slos};
use crate::config::inputs::{Input, Number, Place, Stops};

pub const SLO_TTFT: Input = Input {
    field: Field::SloTtft,
    key: "st",
    label: "TTFT limit",
    place: Some(Place(Slos, 0)),
    help: "SLO: TTFT that every request must meet, in milliseconds; empty for none.",
    number: number!(
        workload.slos.ttft_ms, Number::real(1.0, 10_000_000.0, Stops::Decades { low: 1, high: 4 }),
        unit: "ms", catalog: Some(|_, _| None)
    ),
    ..BLANK
};

pub const SLO_TPOT: Input = Input {
    field: Field::SloTpot,
    key: "sp",
    label: "TPOT limit",
    place: Some(Place(Slos, 1)),
    help: "SLO: TPOT that every request must meet, in milliseconds; empty for none.",
    number: number!(
        workload.slos.tpot_ms, Number::real(0.1, 1_000_000.0, Stops::Decades { low: 0, high: 3 }),
        unit: "ms", catalog: Some(|_, _| None)
    ),
    ..BLANK
};

pub const SLO_E2E: Input = Input {
    field: Field::SloE2e,
    key: "se",
    label: "E2E limit",
    place: Some(Place(Requests, 40)),
    later: true,
    help: "SLO: time from arrival to the last token that every request must meet, in milliseconds; empty for none.",
    number: number!(
        workload.slos.e2e_ms, Number::real(1.0, 100_000_000.0, Stops::Decades { low: 2, high: 6 }),
        unit: "ms", catalog: Some(|_, _| None)
    ),
    ..BLANK
};

pub const SLO_PERCENTILE: Input = Input {
    field: Field::SloPercentile,
    key: "sq",
    label: "Limit percentile",
    place: Some(Place(Requests, 41)),
    later: true,
    help: "Percentile of TTFT, TPOT and E2E that each limit applies to; if empty, requests that meet every limit are counted.",
    number: number!(
        workload.slos.percentile, Number::real(1.0, 100.0, Stops::Even { low: 50.0, high: 99.0, step: 1.0 }),
        unit: "%", catalog: Some(|_, _| None)
    ),
    ..BLANK
};

pub const SLO_SHARE: Input = Input {
    field: Field::SloShare,
    key: "so",
    label: "Goodput share",
    place: Some(Place(Requests, 42)),
    later: true,
    help: "Share of requests that must meet every limit; 0.99 if empty, and not checked if a percentile is given.",
    number: number!(
        workload.slos.share, Number::real(0.01, 1.0, Stops::Even { low: 0.5, high: 1.0, step: 0.01 }),
        unit: "of requests", catalog: Some(|_, _| None)
    ),
    ..BLANK
};

pub const TOKEN_BUDGET: Input = Input {
    field: Field::TokenBudget,
    key: "tb",
    label: "Token budget",
    place: Some(Place(Engine, 1)),
    help: "Tokens that one step of the engine may process.",
    number: number!(
        overrides.token_budget, Number::whole(1.0, 1_048_576.0, Stops::Quarters { low: 256, high: 65_536 }),
        unit: "per step", catalog: Some(|engine, gpu| engine.scheduler.limits_on(gpu).0.0)
    ),
    ..BLANK
};

pub const MAX_SEQS: Input = Input {
    field: Field::MaxSeqs,
    key: "ms",
    label: "Sequences",
    place: Some(Place(Engine, 2)),
    help: "Sequences that the engine runs at once.",
    number: number!(
        overrides.max_seqs, Number::whole(1.0, 65_536.0, SIZES),
        unit: "at most", catalog: Some(|engine, gpu| engine.scheduler.limits_on(gpu).1.0)
    ),
    ..BLANK
};

pub const MEMORY_SHARE: Input = Input {
    field: Field::MemoryShare,
    key: "mem",
    label: "Memory share",
    place: Some(Place(Engine, 3)),
    help: "Fraction of the GPU's memory that the engine may use.",
    number: number!(
        overrides.memory_share, Number::real(0.1, 0.98, Stops::Even { low: 0.3, high: 0.98, step: 0.01 }),
        unit: "of the GPU", catalog: Some(|engine, _| engine.scheduler.memory_share.0)
    ),
    ..BLANK
};

pub const SUSTAINED: Input = Input {
    field: Field::Sustained,
    key: "clk",
    label: "Sustained clock",
    place: Some(Place(Rates, 0)),
    help: "Fraction of the boost clock that the GPU holds under load.",
    number: number!(
        overrides.sustained, Number::real(0.3, 1.0, Stops::Even { low: 0.5, high: 1.0, step: 0.01 }),
        unit: "of boost", catalog: Some(|_, gpu| gpu.sustained_clock.0)
    ),
    ..BLANK
};

pub const POWER_CAP: Input = Input {
    field: Field::PowerCap,
    key: "cap",
    label: "Power cap",
    place: Some(Place(Rates, 1)),
    later: true,
    help: "Watts that each GPU may draw; below its limit, clocks fall and compute-bound kernels take longer.",
    number: number!(
        overrides.power_cap, Number::real(30.0, 5000.0, Stops::Even { low: 100.0, high: 1400.0, step: 10.0 }),
        unit: "W", catalog: Some(|_, gpu| gpu.power_w.0)
    ),
    ..BLANK
};

pub const POWER_OVERHEAD: Input = Input {
    field: Field::PowerOverhead,
    key: "pue",
    label: "Power overhead",
    place: Some(Place(Rates, 2)),
    later: true,
    help: "Power of hosts, network and cooling and of the GPUs, over that of the GPUs; 1 counts the GPUs alone.",
    number: number!(
        overrides.power_overhead, Number::real(1.0, 5.0, Stops::Even { low: 1.0, high: 2.0, step: 0.05 }),
        unit: "of the GPUs", catalog: Some(|_, _| Some(1.0))
    ),
    ..BLANK
};

pub const PRICE: Input = Input {
    field: Field::Price,
    key: "usd",
    label: "Price",
    place: Some(Place(Rates, 3)),
    help: "US dollars per GPU and hour.",
    number: number!(
        overrides.price, Number::real(0.0, 10_000.0, Stops::Even { low: 0.1, high: 20.0, step: 0.1 }),
        unit: "$ / GPU h", catalog: Some(|_, gpu| gpu.dollars_per_hour.0)
    ),
    ..BLANK
};
