//! What `kernels.json` records of the families of kernels, and of the calls of a pass.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use super::{Parts, Sources};
use crate::config::objects::carried;

/// kernels.json. What visitors need of it is in [`CALL_NAMES`](super::CALL_NAMES), [`TRAINED_ON`](super::TRAINED_ON) and
/// [`numbers`](super::numbers); the rest is for tools and training.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelCatalog {
    pub sources: Sources,
    pub families: Vec<FamilyRecord>,
    /// What to show for each call of a pass, by its name in a profile.
    pub calls: BTreeMap<String, String>,
    pub constants: Parts,
}

/// A family of kernels that one model covers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyRecord {
    /// As `kernels::Family` has it.
    pub id: String,
    /// In tables of errors.
    pub title: String,
    /// Measured tables of times, of which there is another with watts.
    pub tables: Vec<String>,
    /// Measured tables of times alone.
    #[serde(default)]
    pub tables_without_watts: Vec<String>,
    /// The column of `tables` with the format that decides between kernels; all are BF16 without one.
    pub format_column: Option<String>,
    /// Sources that efficiencies are relative to, if not to the usual one.
    #[serde(default)]
    pub reference_sources: Vec<String>,
    /// GPUs that the features of the family identify, because the model is trained on their measurements.
    pub trained_on: Vec<String>,
    /// What `training/families.py` takes, and checks.
    pub training: BTreeMap<String, Value>,
    /// The mean error over measured calls that `scripts/accuracy.mjs` accepts.
    pub most_error_percent: f64,
}

/// The records of all families.
pub fn kernels() -> &'static KernelCatalog {
    static KERNELS: LazyLock<KernelCatalog> = LazyLock::new(|| {
        carried("static/catalog/kernels.json", include_str!("../../../static/catalog/kernels.json"))
    });
    &KERNELS
}

impl KernelCatalog {
    /// The record of a family.
    ///
    /// # Panics
    /// If there is none: a test of `kernels::Family` finds that before a release.
    pub fn family(&self, id: &str) -> &FamilyRecord {
        self.families
            .iter()
            .find(|record| record.id == id)
            .unwrap_or_else(|| panic!("static/catalog/kernels.json has no family {id}"))
    }
}
