//! What a link holds beside the settings.

use super::super::{compared, custom, values};
use super::{CUSTOM_MODEL, Key, Kind, told};
use crate::config::{Field, ModelChoice};

pub static KEYS: [Key; 4] = [
    Key {
        field: Field::Data,
        key: "d",
        kind: Kind::Id,
        meaning: told("Release of data and weights the link was made with."),
        read: |draft, text| values::id(text).map(|release| draft.link.data_release = Some(release)),
        show: |link| link.data_release.clone(),
    },
    Key {
        field: Field::Model,
        key: CUSTOM_MODEL,
        kind: Kind::Packed,
        meaning: told("A model of one's own, instead of `m`."),
        read: |draft, text| {
            draft.scenario().model = ModelChoice::Custom(Box::new(custom::decode(text)?));
            Ok(())
        },
        show: |link| match &link.scenario.model {
            ModelChoice::Catalog(_) => None,
            ModelChoice::Custom(model) => Some(custom::encode(model)),
        },
    },
    Key {
        field: Field::Measured,
        key: "me",
        kind: Kind::Measured,
        meaning: told("What was measured: a mean, and a median where it is known, in ms or per second."),
        read: |draft, text| values::measured(text).map(|measured| draft.scenario().measured = measured),
        show: |link| {
            let measured = &link.scenario.measured;
            (!measured.is_empty()).then(|| values::show_measured(measured))
        },
    },
    Key {
        field: Field::Compared,
        key: "vs",
        kind: Kind::Links,
        meaning: told("Up to three configurations to set beside it."),
        read: |draft, text| {
            draft.link.compared = compared::decode(text)?;
            Ok(())
        },
        show: |link| (!link.compared.is_empty()).then(|| compared::encode(&link.compared)),
    },
];
