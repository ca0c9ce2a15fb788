//! Links from configurations, and back.

use serde::Serialize;
use serde_json::Value;

use crate::config::Issue;
use crate::config::link::{self, Link};

/// The link to a configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Encoded {
    /// The fragment, without `#`; empty if the configuration could not be read.
    pub link: String,
    pub issues: Vec<Issue>,
}

/// The contents of a link.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Decoded {
    /// Every field with a value, including defaults, which also replace what could not be read.
    #[cfg_attr(test, ts(type = "Config"))]
    pub config: Value,
    pub issues: Vec<Issue>,
}

/// Encodes a JSON scenario or a link in this release's form.
pub fn encode(text: &str) -> Encoded {
    let (link, issues) = Link::read(text);
    Encoded { link: link.as_ref().map(Link::encode).unwrap_or_default(), issues }
}

/// Decodes a whole address, its fragment or its query.
pub fn decode(text: &str) -> Decoded {
    let (mut link, mut issues) = link::decode(text);
    issues.extend(link.settle());
    Decoded { config: link.to_json(), issues }
}
