//! The models of a release: those built in, or those of a folder.

use std::path::Path;

use crate::efficiency::onnx::{ModelError, Models};

/// `models/evidence.json` at build time.
pub const SHIPPED_EVIDENCE: &str = include_str!("../../models/evidence.json");

const SHIPPED_MANIFEST: &str = include_str!("../../models/manifest.json");

/// Name and content of every file the manifest names.
const SHIPPED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// The models of `models/` at build time.
pub fn shipped_models() -> Result<Models, ModelError> {
    Models::new(SHIPPED_MANIFEST, |name| {
        let file = SHIPPED.iter().find(|(known, _)| *known == name);
        file.map(|(_, bytes)| bytes.to_vec()).ok_or_else(|| unreadable(name, "not built in"))
    })
}

/// Loads `manifest.json` and the files it names from `folder`.
pub fn open_models(folder: &Path) -> Result<Models, ModelError> {
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read(&path).map_err(|error| unreadable(&path.display().to_string(), error))
    };
    let manifest = String::from_utf8_lossy(&read("manifest.json")?).into_owned();
    Models::new(&manifest, read)
}

/// The models of `folder` if given, otherwise those built in.
pub fn models_of(folder: Option<&Path>) -> Result<Models, ModelError> {
    folder.map_or_else(shipped_models, open_models)
}

fn unreadable(path: &str, reason: impl ToString) -> ModelError {
    ModelError::File { path: path.to_owned(), reason: reason.to_string() }
}
