//! What requests are like.

use super::super::values;
use super::{Key, Kind, told, unless};
use crate::config::Field;
use crate::units::decimal;

pub static KEYS: [Key; 8] = [
    Key {
        field: Field::Isl,
        key: "isl",
        kind: Kind::Lengths,
        meaning: told("Prompt length in tokens; with `b` also one length a prompt."),
        read: |draft, text| values::lengths(text).map(|isl| draft.workload().isl = isl),
        show: |link| Some(values::show_lengths(&link.scenario.workload.isl)),
    },
    Key {
        field: Field::Osl,
        key: "osl",
        kind: Kind::Whole,
        meaning: told("Output length in tokens."),
        read: |draft, text| values::whole(text).map(|osl| draft.workload().osl = osl),
        show: |link| Some(link.scenario.workload.osl.to_string()),
    },
    Key {
        field: Field::Spread,
        key: "rr",
        kind: Kind::Real,
        meaning: told("Share by which prompts and outputs are longer or shorter, uniformly."),
        read: |draft, text| values::real(text).map(|share| draft.workload().spread = share),
        show: |link| Some(decimal(link.scenario.workload.spread)),
    },
    Key {
        field: Field::LogSpread,
        key: "ls",
        kind: Kind::Real,
        meaning: told(
            "Instead of `rr`: log-normal lengths, whose logarithms have this standard deviation, with the same means.",
        ),
        read: |draft, text| values::real(text).map(|sigma| draft.workload().log_spread = sigma),
        show: |link| unless(link.scenario.workload.log_spread, 0.0),
    },
    Key {
        field: Field::Histogram,
        key: "hl",
        kind: Kind::Histogram,
        meaning: told(
            "Instead of `isl` and `osl`: prompts and outputs that are drawn, each with its weight.",
        ),
        read: |draft, text| values::histogram(text).map(|bins| draft.workload().histogram = bins),
        show: |link| {
            let bins = &link.scenario.workload.histogram;
            (!bins.is_empty()).then(|| values::show_histogram(bins))
        },
    },
    Key {
        field: Field::CachedShare,
        key: "pc",
        kind: Kind::Real,
        meaning: told("Share of each prompt found in the prefix cache."),
        read: |draft, text| values::real(text).map(|share| draft.workload().cached_share = share),
        show: |link| unless(link.scenario.workload.cached_share, 0.0),
    },
    Key {
        field: Field::Drafted,
        key: "sd",
        kind: Kind::Whole,
        meaning: told("Speculative decoding: tokens drafted for each step and sequence."),
        read: |draft, text| values::whole(text).map(|tokens| draft.workload().drafts.drafted = tokens),
        show: |link| {
            let drafted = link.scenario.workload.drafts.drafted;
            (drafted > 0).then(|| drafted.to_string())
        },
    },
    Key {
        field: Field::Accepted,
        key: "sa",
        kind: Kind::Real,
        meaning: told("Tokens of those drafted that are accepted, on average."),
        read: |draft, text| values::real(text).map(|tokens| draft.workload().drafts.accepted = tokens),
        show: |link| unless(link.scenario.workload.drafts.accepted, 0.0),
    },
];
