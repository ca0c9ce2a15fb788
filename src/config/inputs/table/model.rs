//! The model and its formats.

use super::columns::BLANK;
use crate::config::inputs::place::Group;
use crate::config::inputs::{Input, Kind, Place, Text};
use crate::config::link::{custom, values};
use crate::config::{Field, ModelChoice};

pub const MODEL: Input = Input {
    field: Field::Model,
    key: "m",
    label: "Model",
    place: Some(Place(Group::Model, 0)),
    help: "Model, by its id in the catalog.",
    text: text!(
        Id,
        |link| match &link.scenario.model {
            ModelChoice::Catalog(id) => Some(id.clone()),
            ModelChoice::Custom(_) => None,
        },
        |draft, text| values::id(text).map(|id| draft.link.scenario.model = ModelChoice::Catalog(id))
    ),
    ..BLANK
};

pub const CUSTOM: Input = Input {
    field: Field::Model,
    key: "x",
    label: "Custom model",
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
    ..BLANK
};

pub const WEIGHTS: Input = Input {
    field: Field::Weights,
    key: "w",
    label: "Weights",
    place: Some(Place(Group::Formats, 0)),
    help: "Format of the linear layers' weights; the published one if left out.",
    text: text!(Format, |link| link.scenario.weights.map(|dtype| dtype.id().to_owned()), |draft, text| {
        values::dtype(text).map(|dtype| draft.link.scenario.weights = Some(dtype))
    }),
    ..BLANK
};

pub const KV: Input = Input {
    field: Field::Kv,
    key: "kv",
    label: "KV cache",
    place: Some(Place(Group::Formats, 1)),
    help: "Format of the KV cache.",
    text: text!(Format, |link| Some(link.scenario.kv.id().to_owned()), |draft, text| values::dtype(text)
        .map(|dtype| draft.link.scenario.kv = dtype)),
    ..BLANK
};
