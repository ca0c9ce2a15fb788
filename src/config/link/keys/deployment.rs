//! The model, and the machines and engine that serve it.

use super::super::VERSION;
use super::super::values;
use super::{Key, Kind, told};
use crate::config::{Dtype, Field, ModelChoice};

pub static KEYS: [Key; 11] = [
    Key {
        field: Field::Version,
        key: "v",
        kind: Kind::Whole,
        meaning: told("Schema version of the link; 1 where it is left out."),
        read: |draft, text| {
            draft.link.version = values::whole(text)?;
            match draft.link.version {
                0 => Err(format!("there is no link version 0: it was read as version {VERSION}")),
                1..=VERSION => Ok(()),
                newer => Err(format!(
                    "the link is of version {newer}, made by a newer release: it was read as version {VERSION}, \
                     and what that does not know is kept but not used"
                )),
            }
        },
        show: |_| Some(VERSION.to_string()),
    },
    Key {
        field: Field::Model,
        key: "m",
        kind: Kind::Id,
        meaning: told("Model, by its id in the catalog."),
        read: |draft, text| {
            draft.scenario().model = ModelChoice::Catalog(values::id(text)?);
            Ok(())
        },
        show: |link| match &link.scenario.model {
            ModelChoice::Catalog(id) => Some(id.clone()),
            ModelChoice::Custom(_) => None,
        },
    },
    Key {
        field: Field::Gpu,
        key: "g",
        kind: Kind::Id,
        meaning: told("GPU, by its id in the catalog."),
        read: |draft, text| values::id(text).map(|id| draft.scenario().gpu = id),
        show: |link| Some(link.scenario.gpu.clone()),
    },
    Key {
        field: Field::Gpus,
        key: "n",
        kind: Kind::Whole,
        meaning: told(
            "GPUs in all, a multiple of tp x dp x pp: so many replicas serve. One replica where it is left out.",
        ),
        read: |draft, text| values::whole(text).map(|gpus| draft.gpus = Some(gpus)),
        show: |link| {
            let scenario = &link.scenario;
            let gpus = scenario.gpus_per_replica().saturating_mul(u64::from(scenario.replicas));
            (scenario.replicas != 1).then(|| gpus.min(u64::from(u32::MAX)).to_string())
        },
    },
    Key {
        field: Field::Tp,
        key: "tp",
        kind: Kind::Whole,
        meaning: told("Tensor parallelism: GPUs that share each layer."),
        read: |draft, text| values::whole(text).map(|tp| draft.scenario().tp = tp),
        show: |link| Some(link.scenario.tp.to_string()),
    },
    Key {
        field: Field::Pp,
        key: "pp",
        kind: Kind::Whole,
        meaning: told("Pipeline parallelism: stages of layers."),
        read: |draft, text| values::whole(text).map(|pp| draft.scenario().pp = pp),
        show: |link| Some(link.scenario.pp.to_string()),
    },
    Key {
        field: Field::Dp,
        key: "dp",
        kind: Kind::Whole,
        meaning: told("Attention data parallelism: groups of tp GPUs that attend to requests of their own."),
        read: |draft, text| values::whole(text).map(|dp| draft.scenario().dp = dp),
        show: |link| Some(link.scenario.dp.to_string()),
    },
    Key {
        field: Field::Ep,
        key: "ep",
        kind: Kind::Whole,
        meaning: told("Expert parallelism: GPUs of a stage (tp x dp) that the experts are dealt over."),
        read: |draft, text| values::whole(text).map(|ep| draft.scenario().ep = ep),
        show: |link| Some(link.scenario.ep.to_string()),
    },
    Key {
        field: Field::Engine,
        key: "e",
        kind: Kind::Id,
        meaning: told("Serving engine, by its id in the catalog."),
        read: |draft, text| values::id(text).map(|id| draft.scenario().engine = id),
        show: |link| Some(link.scenario.engine.clone()),
    },
    Key {
        field: Field::Weights,
        key: "w",
        kind: Kind::Format,
        meaning: told("Format of the linear layers' weights; the published one where it is left out."),
        read: |draft, text| values::dtype(text).map(|dtype| draft.scenario().weights = Some(dtype)),
        show: |link| link.scenario.weights.map(Dtype::id).map(str::to_owned),
    },
    Key {
        field: Field::Kv,
        key: "kv",
        kind: Kind::Format,
        meaning: told("Format of the KV cache."),
        read: |draft, text| values::dtype(text).map(|dtype| draft.scenario().kv = dtype),
        show: |link| Some(link.scenario.kv.id().to_owned()),
    },
];
