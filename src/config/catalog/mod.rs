//! The catalogs: the JSON files of `static/catalog`, prepared by `build.rs`, compiled in, and parsed once.

/// A file as `build.rs` prepared it.
macro_rules! prepared {
    ($file:literal) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $file))
    };
}

mod build;
mod collectives;
mod constants;
mod kernels;
mod offered;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{LazyLock, OnceLock};

use serde::{Deserialize, Serialize};

pub use build::{ConfigFile, build, print};
pub use collectives::{CollectiveCatalog, Curve, Generic};
pub use constants::{Constant, Parts, Physics, Recorded, physics};
pub use kernels::{FamilyRecord, KernelCatalog, kernels};
pub use offered::{Offered, offered};

use super::objects::{carried, from_json};
use super::{Engine, Figure, Gpu, Model};

/// Sources of a file's figures, by the id they are cited by.
pub type Sources = BTreeMap<String, Source>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    pub title: String,
    pub url: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuCatalog {
    pub gpus: Vec<Gpu>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineCatalog {
    pub engines: Vec<Engine>,
}

/// The engines, parsed on first use: the page needs only what [`offered`] lists.
#[derive(Debug, Default, PartialEq)]
pub struct Engines(OnceLock<EngineCatalog>);

impl Deref for Engines {
    type Target = EngineCatalog;

    fn deref(&self) -> &EngineCatalog {
        self.0.get_or_init(|| carried("static/catalog/engines.json", prepared!("engines.json")))
    }
}

impl From<EngineCatalog> for Engines {
    fn from(engines: EngineCatalog) -> Self {
        Self(engines.into())
    }
}

/// A published model that the importer refuses, with the reason shown next to its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedModel {
    pub id: String,
    pub name: String,
    pub reason: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelCatalog {
    /// Left out of what is compiled in.
    #[serde(default)]
    pub source: String,
    pub models: Vec<Model>,
    pub refused: Vec<RefusedModel>,
}

/// The GPUs, engines and models of this release.
#[derive(Debug, PartialEq)]
pub struct Catalog {
    pub gpus: GpuCatalog,
    pub engines: Engines,
    pub models: ModelCatalog,
}

/// The catalogs this build ships: what a form chooses from.
pub fn catalog() -> &'static Catalog {
    static CATALOG: LazyLock<Catalog> = LazyLock::new(Catalog::shipped);
    &CATALOG
}

/// Typical workloads of `presets.json`, one button each: id, name, input and output tokens, share of prompts in the
/// prefix cache, prompts of an offline queue (0 keeps the load).
pub const WORKLOADS: &[(&str, &str, u32, u32, f64, u32)] =
    include!(concat!(env!("OUT_DIR"), "/workloads.rs"));

/// Prompts and outputs of ShareGPT in tokens, each at evenly spaced shares of the requests (`lengths.json`).
pub const SHARE_GPT: [&[u32]; 2] = include!(concat!(env!("OUT_DIR"), "/share_gpt.rs"));

/// Constants of physics, kernels, features and serving: a module for each part of `kernels.json` and `constants.json`, which
/// have the meaning, unit, source and fit data of each. A name that the files lack does not compile,
/// and one that nothing reads fails the lints.
// A fitted number may happen to be near pi.
#[allow(clippy::approx_constant)]
#[cfg_attr(not(feature = "tools"), allow(dead_code))]
pub(crate) mod numbers {
    include!(concat!(env!("OUT_DIR"), "/numbers.rs"));
}

/// Measured times of collectives. In a file of their own because the page does not need them.
pub fn collectives() -> &'static CollectiveCatalog {
    static COLLECTIVES: LazyLock<CollectiveCatalog> =
        LazyLock::new(|| carried("static/catalog/collectives.json", prepared!("collectives.json")));
    &COLLECTIVES
}

/// GPU prices other than the on-demand price in each GPU's record.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceList {
    pub sources: Sources,
    /// Dollars per GPU-hour under a contract, by GPU id.
    pub reserved_dollars_per_hour: BTreeMap<String, Figure>,
}

/// Separate, because only searches need it.
pub fn prices() -> &'static PriceList {
    static PRICES: LazyLock<PriceList> = LazyLock::new(|| {
        carried("static/catalog/prices.json", include_str!("../../../static/catalog/prices.json"))
    });
    &PRICES
}

/// Which engine's kernels were measured on which GPU, one per line of `measured.json`: family, engine, kernel as
/// named in the engine's record (`-` if the format alone decides), format of the weights or, for attention, of the
/// KV cache, then GPU ids.
pub const MEASURED_KERNELS: &str = include_str!(concat!(env!("OUT_DIR"), "/measured.txt"));

/// The GPUs whose measurements trained each family's model, from `kernels.json`.
pub const TRAINED_ON: &[(&str, &[&str])] = include!(concat!(env!("OUT_DIR"), "/trained.rs"));

/// The calls of passes by their names in a profile, each with the words that are shown, from `kernels.json`; sorted by name.
pub const CALL_NAMES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/call_names.rs"));

/// Model and GPU ids offered first when nothing is typed, from `popular.json`.
pub const POPULAR: [&[&str]; 2] = include!(concat!(env!("OUT_DIR"), "/popular.rs"));

/// The models' ids, which `build.rs` leaves out: they follow from the names.
fn with_ids(models: &str) -> String {
    const NAME: &str = "{\"name\":\"";
    let mut parts = models.split(NAME);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let id = build::id_of(part.split('"').next().unwrap_or_default());
        text + "{\"id\":\"" + &id + "\",\"name\":\"" + part
    })
}

impl Catalog {
    /// Reads the compiled-in files.
    ///
    /// # Panics
    /// At the first field that does not fit its record: `tests/catalog` reads them before a release.
    pub fn shipped() -> Self {
        // Links have records of models, too, so one reader serves both.
        let models = from_json(&with_ids(prepared!("models.json")));
        Self {
            gpus: carried("static/catalog/gpus.json", prepared!("gpus.json")),
            engines: Engines::default(),
            models: models.unwrap_or_else(|fault| panic!("static/catalog/models.json: {fault}")),
        }
    }

    pub fn gpu(&self, id: &str) -> Option<&Gpu> {
        self.gpus.gpus.iter().find(|gpu| gpu.id == id)
    }

    /// Whether an engine has known kernels for it.
    pub fn is_served(&self, gpu: &Gpu) -> bool {
        self.engines.engines.iter().any(|engine| engine.kernels_on(gpu.arch).is_some())
    }

    pub fn engine(&self, id: &str) -> Option<&Engine> {
        self.engines.engines.iter().find(|engine| engine.id == id)
    }

    pub fn model(&self, id: &str) -> Option<&Model> {
        self.models.models.iter().find(|model| model.id == id)
    }

    pub fn refused_model(&self, id: &str) -> Option<&RefusedModel> {
        self.models.refused.iter().find(|model| model.id == id)
    }
}
