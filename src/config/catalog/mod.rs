//! The catalogs: data in `static/catalog`, read once.

mod build;
mod collectives;
mod constants;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Serialize;

pub use build::{BuildError, ConfigFile, build, id_of, print};
pub use collectives::{CollectiveCatalog, Curve, Generic, GenericLinks};
pub use constants::{Constants, Physics};

use super::record::{self, Record, record};
use super::{Engine, Gpu, Model};

/// Where a figure was published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Source {
    pub title: String,
    pub url: String,
}

#[derive(Debug)]
pub struct GpuCatalog {
    pub sources: BTreeMap<String, Source>,
    pub gpus: Vec<Gpu>,
}

#[derive(Debug)]
pub struct EngineCatalog {
    pub sources: BTreeMap<String, Source>,
    pub engines: Vec<Engine>,
}

/// A published model the importer refuses, with the reason shown beside its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedModel {
    pub id: String,
    pub name: String,
    pub reason: String,
}

#[derive(Debug, Serialize)]
pub struct ModelCatalog {
    pub source: String,
    pub models: Vec<Model>,
    pub refused: Vec<RefusedModel>,
}

record!(Source: title, url);
record!(GpuCatalog: sources, gpus);
record!(EngineCatalog: sources, engines);
record!(RefusedModel: id, name, reason);
record!(ModelCatalog: source, models, refused);

/// All catalogs of this release.
#[derive(Debug)]
pub struct Catalog {
    pub gpus: GpuCatalog,
    pub engines: EngineCatalog,
    pub models: ModelCatalog,
    pub constants: Constants,
    pub collectives: CollectiveCatalog,
}

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog {
    gpus: read("gpus.json", include_str!("../../../static/catalog/gpus.json")),
    engines: read("engines.json", include_str!("../../../static/catalog/engines.json")),
    models: read("models.json", include_str!("../../../static/catalog/models.json")),
    constants: read("constants.json", include_str!("../../../static/catalog/constants.json")),
    collectives: read("collectives.json", include_str!("../../../static/catalog/collectives.json")),
});

/// The files are compiled in and `tests/catalog.rs` reads each one, so a failure here is a defect of
/// the build, not of an input.
fn read<T: Record>(name: &str, text: &str) -> T {
    record::read(text).unwrap_or_else(|fault| panic!("static/catalog/{name}: {fault}"))
}

/// The catalogs this build ships.
pub fn catalog() -> &'static Catalog {
    &CATALOG
}

impl Catalog {
    pub fn gpu(&self, id: &str) -> Option<&Gpu> {
        self.gpus.gpus.iter().find(|gpu| gpu.id == id)
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
