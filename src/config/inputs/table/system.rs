//! The engine, the GPUs and how the model is sharded over them.

use super::columns::{BLANK, DEGREES};
use crate::config::inputs::number::Slot;
use crate::config::inputs::place::Group::{Engine, Gpu, Layout};
use crate::config::inputs::{Input, Kind, Number, Place, Stops, Text};
use crate::config::link::{self, values};
use crate::config::{Field, Scenario};

pub const ENGINE: Input = Input {
    field: Field::Engine,
    key: "e",
    label: "Engine",
    place: Some(Place(Engine, 0)),
    help: "Serving engine, by its id in the catalog.",
    text: text!(Id, |link| Some(link.scenario.engine.clone()), |draft, text| values::id(text)
        .map(|id| draft.link.scenario.engine = id)),
    ..BLANK
};

pub const GPU: Input =
    Input {
        field: Field::Gpu,
        key: "g",
        label: "GPU",
        place: Some(Place(Gpu, 0)),
        help: "GPU, by its id in the catalog.",
        text: text!(Id, |link| Some(link.scenario.gpu.clone()), |draft, text| values::id(text)
            .map(|id| draft.link.scenario.gpu = id)),
        ..BLANK
    };

pub const GPUS: Input = Input {
    field: Field::Gpus,
    key: "n",
    label: "Replicas",
    place: Some(Place(Gpu, 1)),
    help: "Copies of the whole deployment, which share the load. Links and JSON hold the GPUs of all of them, a multiple \
           of TP x DP x PP.",
    number: number!(replicas, Number::whole(1.0, 10_000.0, Stops::Doubling { low: 1, high: 64 }), unit: "copies"),
    text: text!(Whole, link::all_gpus, |draft, text| values::whole(text).map(|gpus| draft.gpus = Some(gpus))),
    ..BLANK
};

pub const TP: Input = Input {
    field: Field::Tp,
    key: "tp",
    label: "Tensor parallel",
    place: Some(Place(Layout, 0)),
    help: "GPUs that share each layer (TP).",
    number: number!(tp, Number::whole(1.0, 128.0, DEGREES), unit: "GPUs", power_of_two: true),
    ..BLANK
};

pub const PP: Input = Input {
    field: Field::Pp,
    key: "pp",
    label: "Pipeline parallel",
    place: Some(Place(Layout, 1)),
    help: "Stages that each hold some of the layers (PP).",
    number: number!(pp, Number::whole(1.0, 128.0, DEGREES), unit: "stages"),
    ..BLANK
};

pub const DP: Input = Input {
    field: Field::Dp,
    key: "dp",
    label: "Attention data parallel",
    place: Some(Place(Layout, 2)),
    applies: Scenario::has_experts,
    help: "Groups of TP GPUs that run attention for requests of their own and share the experts (DP).",
    number: number!(dp, Number::whole(1.0, 128.0, DEGREES), unit: "groups"),
    ..BLANK
};

pub const EP: Input = Input {
    field: Field::Ep,
    key: "ep",
    label: "Expert parallel",
    place: Some(Place(Layout, 3)),
    applies: Scenario::has_experts,
    help: "GPUs of a stage (TP x DP) that the experts are distributed over (EP); the remaining factor shards each expert.",
    number: number!(ep, Number::whole(1.0, 128.0, Stops::Doubling { low: 1, high: 64 }), unit: "GPUs"),
    ..BLANK
};
