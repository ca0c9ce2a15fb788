//! What a link carries besides the configuration: its version and data release, measurements, and configurations to compare.

use super::columns::BLANK;
use crate::config::Field;
use crate::config::inputs::{Input, Kind, Text};
use crate::config::link::{self, MOST_COMPARED, MOST_RUNS, compared, values};

/// The link or the JSON text as a whole.
pub const LINK: Input = Input { field: Field::Link, label: "Link", ..BLANK };

pub const VERSION: Input = Input {
    field: Field::Version,
    key: "v",
    label: "Link version",
    aside: true,
    help: "Schema version of the link; 1 if left out.",
    text: text!(Whole, |_| Some(link::VERSION.to_string()), link::set_version),
    ..BLANK
};

pub const DATA: Input = Input {
    field: Field::Data,
    key: "d",
    label: "Release",
    aside: true,
    help: "Release of data and weights that the link was made with.",
    text: text!(Id, |link| link.data_release.clone(), |draft, text| values::id(text)
        .map(|release| draft.link.data_release = Some(release))),
    ..BLANK
};

pub const TRACE: Input = Input { field: Field::Trace, label: "Trace", ..BLANK };

pub const MEASURED: Input = Input {
    field: Field::Measured,
    key: "me",
    label: "Measurement",
    aside: true,
    help: "Measured results to compare with: means, and medians where known, in ms or per second.",
    text: text!(
        Measured,
        |link| {
            let measured = &link.scenario.measured;
            (!measured.is_empty()).then(|| values::show_measured(measured))
        },
        |draft, text| values::measured(text).map(|measured| draft.link.scenario.measured = measured)
    ),
    ..BLANK
};

pub const COMPARED: Input = Input {
    field: Field::Compared,
    key: "vs",
    label: "Comparison",
    aside: true,
    help: "Up to three configurations to compare with.",
    text: text!(
        Links,
        |link| (!link.compared.is_empty()).then(|| compared::encode(&link.compared)),
        |draft, text| compared::decode(text, MOST_COMPARED).map(|all| draft.link.compared = all)
    ),
    ..BLANK
};

pub const RUNS: Input = Input {
    field: Field::Runs,
    key: "run",
    label: "Your runs",
    aside: true,
    help: "Measured runs of your own, up to twenty, that predictions are calibrated on: configurations with their measurements.",
    text: text!(
        Links,
        |link| (!link.runs.is_empty()).then(|| compared::encode(&link.runs)),
        |draft, text| {
            let runs = compared::decode(text, MOST_RUNS)?;
            match runs.iter().position(|run| run.measured.is_empty()) {
                Some(index) => Err(format!("run {} says nothing that was measured", index + 1)),
                None => {
                    draft.link.runs = runs;
                    Ok(())
                }
            }
        }
    ),
    ..BLANK
};
