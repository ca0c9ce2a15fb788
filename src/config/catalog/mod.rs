//! The catalogs: data in `static/catalog`, compiled in without what is only for their keepers, read once.

mod build;
mod collectives;
mod compact;
mod constants;

use std::sync::LazyLock;

use serde::Serialize;

pub use build::{BuildError, ConfigFile, build, id_of, print};
pub use collectives::{CollectiveCatalog, Curve, Generic, GenericLinks};
pub use constants::{Constants, Physics};

use super::json;
use super::record::{Record, Unread, record};
use super::{Engine, Gpu, Model};

#[derive(Debug, Default, PartialEq)]
pub struct GpuCatalog {
    pub sources: Unread,
    pub gpus: Vec<Gpu>,
}

#[derive(Debug, Default, PartialEq)]
pub struct EngineCatalog {
    pub sources: Unread,
    pub engines: Vec<Engine>,
}

/// A published model the importer refuses, with the reason shown beside its name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RefusedModel {
    pub id: String,
    pub name: String,
    pub reason: String,
}

#[derive(Debug, Default, PartialEq, Serialize)]
pub struct ModelCatalog {
    pub source: String,
    pub models: Vec<Model>,
    pub refused: Vec<RefusedModel>,
}

record!(GpuCatalog: sources, gpus);
record!(EngineCatalog: sources, engines);
record!(RefusedModel: id, name, reason);
record!(ModelCatalog: source, models, refused);
record!(Catalog: gpus, engines, models, constants, collectives);

/// All catalogs of this release.
#[derive(Debug, Default, PartialEq)]
pub struct Catalog {
    pub gpus: GpuCatalog,
    pub engines: EngineCatalog,
    pub models: ModelCatalog,
    pub constants: Constants,
    pub collectives: CollectiveCatalog,
}

static CATALOG: LazyLock<Catalog> =
    LazyLock::new(|| compact::read(include_str!("../../../static/catalog/compact.txt")));

/// The catalogs this build ships.
pub fn catalog() -> &'static Catalog {
    &CATALOG
}

/// The texts of the JSON files of `static/catalog`.
#[derive(Debug, Clone, Copy)]
pub struct Files<'a> {
    pub gpus: &'a str,
    pub engines: &'a str,
    pub models: &'a str,
    pub constants: &'a str,
    pub collectives: &'a str,
}

impl Catalog {
    /// Reads the JSON files.
    ///
    /// # Errors
    /// The first thing that does not fit, with its file.
    pub fn from_json(files: &Files<'_>) -> Result<Self, String> {
        fn read<T: Record + Default>(name: &str, text: &str) -> Result<T, String> {
            json::read(text).map_err(|fault| format!("{name}.json: {fault}"))
        }
        Ok(Self {
            gpus: read("gpus", files.gpus)?,
            engines: read("engines", files.engines)?,
            models: read("models", files.models)?,
            constants: read("constants", files.constants)?,
            collectives: read("collectives", files.collectives)?,
        })
    }

    /// The text this build carries them as.
    pub fn to_compact(&mut self) -> String {
        compact::write(self)
    }

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
