//! What requests are like: their lengths, and what of them is cached or drafted.

use super::columns::{BLANK, SHARES};
use crate::config::Field;
use crate::config::inputs::number::Slot;
use crate::config::inputs::place::Group::{Requests, Workload};
use crate::config::inputs::{Input, Kind, Number, Place, Stops, Text};
use crate::config::link::values;

pub const ISL: Input = Input {
    field: Field::Isl,
    key: "isl",
    label: "Input length",
    place: Some(Place(Workload, 10)),
    help: "Tokens of each prompt (ISL); of a static batch also a list, one length per prompt.",
    number: Some(Number {
        unit: "tokens",
        read: |scenario| scenario.workload.mean_prompt(),
        write: |scenario, value| scenario.workload.set_mean_prompt(value),
        ..Number::whole(1.0, 100_000_000.0, Stops::Quarters { low: 16, high: 131_072 })
    }),
    text: text!(Lengths, |link| Some(values::show_lengths(&link.scenario.workload.isl)), |draft, text| {
        values::lengths(text).map(|isl| draft.link.scenario.workload.isl = isl)
    }),
    ..BLANK
};

pub const OSL: Input = Input {
    field: Field::Osl,
    key: "osl",
    label: "Output length",
    place: Some(Place(Workload, 11)),
    help: "Tokens generated for each prompt (OSL).",
    number: Some(Number {
        unit: "tokens",
        read: |scenario| Some(f64::from(scenario.workload.mean_output())),
        write: |scenario, value| scenario.workload.set_mean_output(value),
        ..Number::whole(1.0, 100_000_000.0, Stops::Quarters { low: 1, high: 16_384 })
    }),
    text: text!(Whole, |link| Some(link.scenario.workload.osl.to_string()), |draft, text| values::whole(
        text
    )
    .map(|osl| draft.link.scenario.workload.osl = osl)),
    ..BLANK
};

pub const SPREAD: Input = Input {
    field: Field::Spread,
    key: "rr",
    label: "Spread",
    place: Some(Place(Requests, 0)),
    help: "Fraction by which prompt and output lengths vary, uniformly, up and down.",
    number: number!(workload.spread, Number::real(0.0, 0.95, Stops::Even { low: 0.0, high: 0.9, step: 0.05 }), unit: "± share"),
    ..BLANK
};

pub const LOG_SPREAD: Input = Input {
    field: Field::LogSpread,
    key: "ls",
    label: "Log-normal spread",
    place: Some(Place(Requests, 1)),
    later: true,
    help: "Standard deviation of the logarithm of lengths that are log-normal instead, with the same means.",
    // Beyond, a few requests would hold most tokens.
    number: number!(workload.log_spread, Number::real(0.0, 1.5, Stops::Even { low: 0.0, high: 1.5, step: 0.05 }), unit: "sigma"),
    ..BLANK
};

pub const SHAPE: Input = Input {
    field: Field::Shape,
    key: "sh",
    label: "Shape of lengths",
    place: Some(Place(Requests, 2)),
    later: true,
    help: "A named distribution about these means. sharegpt: log-normal prompts and outputs that vary as those \
           that `vllm bench serve` takes from ShareGPT.",
    text: text!(Id, |link| link.scenario.workload.shape.map(|shape| shape.id().to_owned()), |draft, text| {
        values::shape(text).map(|shape| draft.link.scenario.workload.shape = Some(shape))
    }),
    ..BLANK
};

pub const HISTOGRAM: Input = Input {
    field: Field::Histogram,
    key: "hl",
    label: "Length histogram",
    later: true,
    help: "Pairs of prompt and output length to draw from, each with its weight, instead of one length each.",
    text: text!(
        Histogram,
        |link| {
            let bins = &link.scenario.workload.histogram;
            (!bins.is_empty()).then(|| values::show_histogram(bins))
        },
        |draft, text| values::histogram(text).map(|bins| draft.link.scenario.workload.histogram = bins)
    ),
    ..BLANK
};

pub const CACHED_SHARE: Input = Input {
    field: Field::CachedShare,
    key: "pc",
    label: "Prefix cache",
    place: Some(Place(Requests, 30)),
    later: true,
    help: "Fraction of each prompt found in the prefix cache.",
    number: number!(workload.cached_share, Number::real(0.0, 1.0, SHARES), unit: "of prompts"),
    ..BLANK
};

pub const DRAFTED: Input = Input {
    field: Field::Drafted,
    key: "sd",
    label: "Drafted",
    place: Some(Place(Requests, 31)),
    later: true,
    help: "Speculative decoding: draft tokens per step and sequence.",
    number: number!(workload.drafts.drafted, Number::whole(0.0, 64.0, Stops::Even { low: 0.0, high: 16.0, step: 1.0 }), unit: "tokens"),
    ..BLANK
};

pub const ACCEPTED: Input = Input {
    field: Field::Accepted,
    key: "sa",
    label: "Accepted",
    place: Some(Place(Requests, 32)),
    later: true,
    help: "Speculative decoding: draft tokens accepted per step, on average.",
    number: number!(workload.drafts.accepted, Number::real(0.0, 64.0, Stops::Even { low: 0.0, high: 16.0, step: 0.1 }), unit: "tokens"),
    ..BLANK
};
