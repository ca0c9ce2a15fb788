//! Kubernetes manifests that run a prediction. Their commands are those of [`Commands`], whose options
//! `static/catalog/options.json` lists by version.

mod manifest;
mod yaml;

use crate::config::Setup;
use crate::serving::run::Commands;

/// Shell commands that start the servers and measure their load.
pub fn commands(setup: &Setup) -> String {
    let Commands { launch, bench } = Commands::of(setup);
    format!("{}\n\n{}\n", launch.trim_end(), bench.trim_end())
}

/// A manifest for `kubectl apply`: a Deployment of all replicas behind a Service, or a DynamoGraphDeployment of
/// prefill and decode pools. Fails for a replica over several nodes, for pools of an engine that has no such
/// manifest, and for an engine that publishes no image for the GPU.
pub fn manifest(setup: &Setup) -> Result<String, String> {
    match &setup.prefill {
        Some(pool) => manifest::pools(setup, pool),
        None => manifest::replicas(setup),
    }
}
