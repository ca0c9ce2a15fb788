//! `static/catalog/launch.json`: how each engine is started, and what its arguments mean where engines differ.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::config::objects::carried;

#[derive(Debug, Deserialize)]
pub struct Launches {
    pub dynamo: Dynamo,
    pub engines: Vec<EngineLaunch>,
}

/// The release of Dynamo whose examples the manifests of pools follow.
#[derive(Debug, Deserialize)]
pub struct Dynamo {
    pub version: String,
    /// The image's name, with `{engine}` and `{version}`.
    pub image: String,
}

#[derive(Debug, Deserialize)]
pub struct EngineLaunch {
    /// The engine's id in `engines.json`.
    pub engine: String,
    /// Word sequences that start it; for a word with a path, its last component counts.
    pub programs: Vec<Vec<String>>,
    /// Images whose entry point starts it, by a part of their name.
    pub images: Vec<String>,
    /// Prefixes of its environment variables.
    pub variables: Vec<String>,
    /// The image for x86 servers with NVIDIA's GPUs, with `{version}`.
    pub published_image: String,
    /// Whether prompts are chunked as simulated; otherwise they are taken whole.
    pub chunked_prefill: bool,
    pub data_parallel: DataParallel,
    /// Whether experts are distributed over all GPUs of a stage if at all.
    #[serde(default)]
    pub experts_over_all: bool,
    /// Whether its options file overrides the command line, rather than the reverse.
    #[serde(default)]
    pub file_overrides: bool,
    pub host_cache: HostCacheUnit,
    /// Arguments of a worker for prefill or decode; `None` if Dynamo has no example of it.
    pub dynamo: Option<DynamoWorker>,
}

/// What the number of data-parallel ranks counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataParallel {
    /// Each rank has the GPUs of TP: with experts, ranks of attention that share them; otherwise replicas.
    TimesTp,
    /// Replicas or, with attention DP, ranks of attention among the GPUs of TP.
    WithinTp,
    /// With attention DP, each GPU of TP is a rank.
    IsTp,
}

/// How the size of the host's copy of the KV cache is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostCacheUnit {
    /// GiB of all GPUs of TP and PP together.
    GibOfAllGpus,
    GbPerGpu,
    GibPerGpu,
}

#[derive(Debug, Deserialize)]
pub struct DynamoWorker {
    /// The flag before the model's name.
    pub model: String,
    /// Flags of the transfer of KV cache between workers.
    pub transfer: Vec<String>,
}

/// Separate from the catalogs: the page does not need it.
pub fn launches() -> &'static Launches {
    static LAUNCHES: LazyLock<Launches> = LazyLock::new(|| {
        carried("static/catalog/launch.json", include_str!(concat!(env!("OUT_DIR"), "/launch.json")))
    });
    &LAUNCHES
}

impl Launches {
    /// The record of an engine; a test holds that each engine of the catalog has one.
    pub fn of(&self, engine: &str) -> Option<&EngineLaunch> {
        self.engines.iter().find(|of| of.engine == engine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    #[test]
    fn each_engine_has_one_record() {
        let ids =
            |all: Vec<&str>| all.into_iter().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        let engines = catalog().engines.engines.iter().map(|engine| engine.id.as_str()).collect();
        assert_eq!(ids(launches().engines.iter().map(|of| of.engine.as_str()).collect()), ids(engines));
        assert_eq!(launches().engines.len(), catalog().engines.engines.len());
        let text = include_str!("../../../static/catalog/launch.json");
        let file: serde_json::Value = serde_json::from_str(text).expect("JSON");
        for of in file["engines"].as_array().expect("a list").iter().chain([&file["dynamo"]]) {
            let source = of["source"].as_str().expect("a source");
            assert!(file["sources"][source]["url"].is_string(), "{source}");
        }
    }
}
