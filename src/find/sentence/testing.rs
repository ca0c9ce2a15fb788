//! Requests of tests.

use super::read;
use crate::config::link::Link;
use crate::config::{Issue, Scenario};

/// The link of a request, and its issues.
pub fn parsed(text: &str) -> (String, Vec<Issue>) {
    let (link, issues) = read(text, Link::new(Scenario::default())).expect(text);
    (link.encode(), issues)
}

/// The link of a request without issues.
pub fn link(text: &str) -> String {
    let (link, issues) = parsed(text);
    assert_eq!(issues, [], "{text}");
    link
}

/// Why a request is refused.
pub fn refused(text: &str) -> String {
    read(text, Link::new(Scenario::default())).expect_err(text).text
}
