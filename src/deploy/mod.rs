//! Manifests that run what was predicted on Kubernetes. The commands in them are those of [`Commands`], whose options
//! `static/catalog/options.json` lists by version.

mod manifest;
mod yaml;

use crate::config::Setup;
use crate::serving::run::Commands;

/// For a shell: what starts the servers, and what measures their load.
pub fn commands(setup: &Setup) -> String {
    let Commands { launch, bench } = Commands::of(setup);
    format!("{}\n\n{}\n", launch.trim_end(), bench.trim_end())
}

/// For `kubectl apply`: a Deployment of all replicas with a Service before them, or a DynamoGraphDeployment of pools.
///
/// # Errors
/// What no manifest is written for: a replica over several machines, pools of an engine without one, an engine that
/// publishes no image for the GPU.
pub fn manifest(setup: &Setup) -> Result<String, String> {
    match &setup.prefill {
        Some(pool) => manifest::pools(setup, pool),
        None => manifest::replicas(setup),
    }
}
