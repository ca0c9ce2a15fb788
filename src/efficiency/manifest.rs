//! `models/manifest.json`, written by training: what predictions need of it. Its errors are for documents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::objects::from_json;
use crate::kernels::Family;
use crate::units::map_of;

/// Everything about one release of the models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub release: String,
    pub families: BTreeMap<Family, ModelRecord>,
}

/// One family's model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// File name next to the manifest.
    pub file: String,
    /// Length of the file.
    pub bytes: u64,
    pub sha256: String,
    /// The feature schema the model reads.
    pub schema_version: u32,
    /// Features per row.
    pub features: usize,
    /// Training rows.
    pub rows: u64,
    /// GPUs of the reference source used in training.
    pub trained_on: Vec<String>,
    pub hull: Hull,
    /// Calibration of the models' 80 % bounds.
    #[serde(default)]
    pub interval_80: Interval,
}

/// Calibration of the 80 % bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Bounds on GPUs used in training.
    pub seen: Option<Bounds>,
    /// Bounds on all other GPUs.
    pub unseen: Option<Bounds>,
}

/// Scale of the model's predicted spread, by split conformal prediction on held-out rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    pub factor: f64,
}

/// Minimum and maximum of every non-identity column over the training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hull {
    pub least: Vec<f32>,
    pub most: Vec<f32>,
}

impl Hull {
    /// Whether a feature of `row` is outside the training range.
    pub fn leaves_out(&self, row: &[f32]) -> bool {
        let limits = self.least.iter().zip(&self.most);
        row.iter().zip(limits).any(|(value, (least, most))| !(least..=most).contains(&value))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    #[error("models/manifest.json: {0}")]
    Read(String),
    #[error(
        "the {model} model reads features of schema {models} ({models_width} columns), this build computes \
         schema {ours} ({our_width} columns): models and program are of different releases"
    )]
    Schema { model: &'static str, models: u32, models_width: usize, ours: u32, our_width: usize },
}

impl Manifest {
    /// Reads a manifest and checks it against this build's feature schemas.
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        let manifest: Self = from_json(text).map_err(|error| ManifestError::Read(error.to_string()))?;
        for (family, record) in &manifest.families {
            let schema = family.schema();
            if record.schema_version != schema.version || record.features != schema.names.len() {
                return Err(ManifestError::Schema {
                    model: family.id(),
                    models: record.schema_version,
                    models_width: record.features,
                    ours: schema.version,
                    our_width: schema.names.len(),
                });
            }
        }
        Ok(manifest)
    }

    /// Training GPUs per family.
    pub fn trained_on(&self) -> BTreeMap<Family, Vec<String>> {
        map_of(self.families.iter().map(|(family, record)| (*family, record.trained_on.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = include_str!("../../models/manifest.json");

    #[test]
    fn the_shipped_models_fit_this_build() {
        let manifest = Manifest::parse(SHIPPED).expect("fits");
        for &family in Family::ALL {
            assert!(manifest.families.contains_key(&family), "{family:?}");
        }
    }

    #[test]
    fn gpus_with_identity_are_those_trained_on() {
        let trained = Manifest::parse(SHIPPED).expect("fits").trained_on();
        for &family in Family::ALL {
            for gpu in &trained[&family] {
                assert!(family.trained_on().contains(&gpu.as_str()), "{gpu}");
            }
        }
    }

    #[test]
    fn another_schema_is_refused_by_name() {
        let mut manifest = Manifest::parse(SHIPPED).expect("fits");
        let record = manifest.families.get_mut(&Family::Gemm).expect("a model");
        record.schema_version += 1;
        let text = serde_json::to_string(&manifest).expect("serialises");
        let error = Manifest::parse(&text).expect_err("another schema");
        let version = Family::Gemm.schema().version;
        let said = error.to_string();
        assert!(said.contains("gemm") && said.contains(&format!("schema {}", version + 1)), "{said}");
        assert!(said.contains(&format!("schema {version}")), "{said}");
    }

    #[test]
    fn what_is_not_a_manifest_is_refused() {
        assert!(matches!(Manifest::parse("{}"), Err(ManifestError::Read(_))));
        assert!(matches!(Manifest::parse("not JSON"), Err(ManifestError::Read(_))));
    }
}
