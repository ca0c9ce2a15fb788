//! Links from configurations, and back.

use serde::Serialize;
use serde_json::Value;

use crate::config::Issue;
use crate::config::link::{self, Link};

/// The link to a configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Encoded {
    /// Its fragment, without `#`; empty where the configuration could not be read.
    pub link: String,
    pub issues: Vec<Issue>,
}

/// What a link holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Decoded {
    /// Every field that has a value, defaults included; what could not be read has its default.
    #[cfg_attr(test, ts(type = "Config"))]
    pub config: Value,
    pub issues: Vec<Issue>,
}

/// From a scenario in the JSON form, or from a link: the same link as this release writes it.
pub fn encode(text: &str) -> Encoded {
    let (link, issues) = Link::read(text);
    Encoded { link: link.as_ref().map(Link::encode).unwrap_or_default(), issues }
}

/// From a whole address, its fragment or its query.
pub fn decode(text: &str) -> Decoded {
    let (mut link, mut issues) = link::decode(text);
    issues.extend(link.settle());
    Decoded { config: link.to_json(), issues }
}
