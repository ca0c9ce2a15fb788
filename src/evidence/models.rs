//! The models of a release, read from their folder.

use std::path::Path;

use crate::efficiency::onnx::{ModelError, Models};

/// Loads `manifest.json` and the files it names from `folder`.
///
/// # Errors
/// As [`Models::new`], and where a file cannot be read.
pub fn open_models(folder: &Path) -> Result<Models, ModelError> {
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read(&path)
            .map_err(|error| ModelError::File { path: path.display().to_string(), reason: error.to_string() })
    };
    let manifest = String::from_utf8_lossy(&read("manifest.json")?).into_owned();
    Models::new(&manifest, read)
}
