//! What a text says besides the launch command: replicas and GPU in a manifest, and the prefix cache.

use super::apply::CommandReader;
use super::flags::Flag;
use super::options::{Setting, setting};
use super::yaml::ManifestFacts;
use crate::config::names::of_node;
use crate::config::{Field, Issue, Scenario};
use crate::units::counted;

impl CommandReader {
    /// Each replica of a manifest runs the command.
    pub fn apply_manifest(&mut self, scenario: &mut Scenario, manifest: &ManifestFacts) {
        self.limits(scenario, &manifest.limits);
        scenario.replicas = scenario.replicas.saturating_mul(manifest.replicas.unwrap_or(1).max(1));
        let Some(label) = manifest.gpus.first() else { return };
        let named: Option<Vec<_>> = manifest.gpus.iter().map(|label| of_node(label)).collect();
        match named.as_deref() {
            Some([gpu, others @ ..]) if others.iter().all(|other| other.id == gpu.id) => {
                if gpu.id != scenario.gpu {
                    self.issues.push(Issue::note(Field::Gpu, format!("the nodes have {}", gpu.name)));
                    scenario.put_on(&gpu.id);
                }
            }
            _ if manifest.gpus.len() > 1 => {
                let text = format!(
                    "the manifest selects nodes with {}: keep one of them",
                    manifest.gpus.join(" and ")
                );
                self.issues.push(Issue::error(Field::Gpu, text));
            }
            // The form shows it, and what is wrong with it.
            _ => scenario.put_on(label),
        }
    }

    /// A warning if a command uses another number of GPUs than its container is given.
    fn limits(&mut self, scenario: &Scenario, given: &[u32]) {
        let used = scenario.parallel.gpus().saturating_mul(scenario.replicas);
        let Some(most) = given.iter().max().filter(|_| !given.contains(&used)) else { return };
        // Nothing is known of the GPUs of a command that is not read.
        if self.issues.iter().any(Issue::is_error) {
            return;
        }
        let follows = match *most > used {
            true => "the others are idle, and not counted here",
            false => "it starts only if other containers join it",
        };
        let most = counted(*most, "GPU");
        let text = format!("the container is given {most}, and the command uses {used}: {follows}");
        self.issues.push(Issue::warning(Field::Gpus, text));
    }

    /// A note if the replicas and prefill workers there were before went, as a command starts one server.
    pub fn starts_one(&mut self, scenario: &Scenario, (replicas, workers): (u32, u32)) {
        if scenario.replicas == 1 && (replicas > 1 || workers > 0) {
            let text =
                "the command starts one server: enter again how many replicas and prefill workers there are";
            self.issues.push(Issue::note(Field::Gpus, text));
        }
    }

    /// A cache that is off finds nothing, whatever share was set before; one that is turned on may have nothing to
    /// find.
    pub fn prefixes(&mut self, scenario: &mut Scenario, given: &[Flag]) {
        let workload = &mut scenario.workload;
        // The last of them counts.
        let is_on = given.iter().rev().find_map(|flag| match setting(&flag.name)? {
            Setting::PrefixCache => Some(flag.on()),
            Setting::NoPrefixCache => Some(!flag.on()),
            _ => None,
        });
        let of_sessions = workload.load.is_sessions() && workload.turns.history_cached > 0.0;
        let finds = workload.cached_share > 0.0 || of_sessions;
        if finds && is_on == Some(false) {
            workload.cached_share = 0.0;
            if of_sessions {
                workload.turns.history_cached = 0.0;
            }
            let text = "the command turns the prefix cache off: no part of a prompt is cached";
            self.issues.push(Issue::note(Field::CachedShare, text));
        }
        if !finds && given.iter().any(|flag| flag.name == "enable_prefix_caching") && is_on == Some(true) {
            let text = "no shared prefixes are assumed, so the prefix cache finds nothing: enter the share of each \
                        prompt that it serves";
            self.issues.push(Issue::note(Field::CachedShare, text));
        }
    }
}
