//! `static/catalog/names.json`: the vocabulary of published names.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::config::Dtype;
use crate::config::objects::carried;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    pub source: String,
    /// Makers whose name repeats, as in `meta-llama/Meta-Llama-3.1-8B`.
    pub publishers: Vec<String>,
    /// Families whose version may follow without a dash, as in `Llama3.1`.
    pub families: Vec<String>,
    /// Publishers whose plain `FP8` means block-scaled.
    pub block_scaled: Vec<String>,
    /// Prefixes of names whose publisher also has the checkpoint under the same name with `-FP8`.
    pub also_fp8: Vec<String>,
    pub formats: Vec<Format>,
    /// Words that change neither shapes nor context length.
    pub tunings: Vec<String>,
    /// Words for one release among several, which change neither shapes nor context length.
    pub releases: Vec<String>,
    /// The format of names without one, by base, if the catalog has only requantised checkpoints.
    pub native: BTreeMap<String, Dtype>,
    pub same: Vec<Alias>,
}

/// Words of a name that give a format.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Format {
    pub words: String,
    /// The format; `None` if not supported.
    pub weights: Option<Dtype>,
    /// What it is instead; with advice after a colon if it stands for several formats.
    pub without: Option<String>,
    /// What is counted differently from the checkpoint.
    pub note: Option<String>,
    /// FP8 without a word about its scales.
    #[serde(default)]
    pub plain: bool,
    /// The checkpoint has scales for an FP8 KV cache.
    #[serde(default)]
    pub kv: bool,
    /// Applies only if no other words give a format.
    #[serde(default)]
    pub weak: bool,
}

/// A name that shares another's architecture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alias {
    /// The name without format, and without tuning unless that matters.
    pub name: String,
    #[serde(rename = "as")]
    pub id: String,
    /// What differs.
    pub note: Option<String>,
}

/// The rules of this build. Separate from the catalogs: the page does not need them.
pub fn rules() -> &'static Rules {
    static RULES: LazyLock<Rules> = LazyLock::new(|| {
        carried("static/catalog/names.json", include_str!("../../../static/catalog/names.json"))
    });
    &RULES
}
