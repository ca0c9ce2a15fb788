//! How versions of an engine differ from the one the catalog describes.

use serde::{Deserialize, Serialize};

use super::{Arch, Engine, Figure, Version};

/// A server's defaults, from some version on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionDefaults {
    /// The first version that has them.
    pub from: Version,
    /// The first version that has them on AMD GPUs, if it is a later one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amd_from: Option<Version>,
    /// Whether prompts may be split over steps.
    pub chunked: bool,
    pub prefix_cache: bool,
    /// Whether the host prepares a step while the GPU runs the last one.
    pub async_scheduling: bool,
    /// `None` if the engine derives it from the GPU's memory.
    pub memory_share: Option<Figure>,
    /// Id of a source.
    pub source: String,
}

/// A server's work on each chat request, on the event loop that also forwards requests: those that arrive meanwhile are
/// forwarded together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatTemplate {
    /// The first version that does it.
    pub from: Version,
    /// The first version that no longer does.
    pub before: Version,
    /// Time of the template, in µs per request.
    pub request_us: Figure,
}

impl VersionDefaults {
    fn since(&self, arch: Arch) -> &Version {
        match &self.amd_from {
            Some(later) if arch.is_amd() => later,
            _ => &self.from,
        }
    }
}

impl Engine {
    /// The defaults of a version on `arch`; none if they are not recorded.
    pub fn version_defaults(&self, version: &Version, arch: Arch) -> Option<&VersionDefaults> {
        self.versions.iter().rev().find(|defaults| defaults.since(arch) <= version)
    }

    /// The time a server of this version spends on the chat template of each request; `None` if it is negligible.
    pub fn chat_template(&self, version: &Version) -> Option<&ChatTemplate> {
        let does = |one: &&ChatTemplate| one.from <= *version && *version < one.before;
        self.chat_templates.iter().find(does)
    }

    /// Whether its version is before this one; always true for `None`.
    pub(super) fn is_before(&self, version: Option<&Version>) -> bool {
        version.is_none_or(|version| self.version < *version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    #[test]
    fn defaults_follow_the_version() {
        let vllm = catalog().engine("vllm").expect("in the catalog");
        let cached =
            |version: &str, arch| vllm.version_defaults(&version.into(), arch).map(|of| of.prefix_cache);
        assert_eq!(cached("0.9.0.1", Arch::Hopper), Some(true));
        assert_eq!(cached("0.9.0.1", Arch::Cdna3), Some(false));
        assert_eq!(cached("0.9.1", Arch::Cdna3), Some(true));
        assert_eq!(cached("0.5", Arch::Cdna3), None);
    }

    #[test]
    fn one_release_parses_each_template_anew() {
        let vllm = catalog().engine("vllm").expect("in the catalog");
        let parses = |version: &str| vllm.chat_template(&version.into()).is_some();
        assert!(parses("0.11.0") && parses("0.11"));
        assert!(!parses("0.10.2") && !parses("0.11.1") && !parses("0.24.0"));
    }
}
