//! What the page asks about.

use crate::config::catalog::catalog;
use crate::config::{Issue, Setup, check, link};

/// The configuration that the page means by `link`.
///
/// # Errors
/// What is wrong with it. The page has checked it, so this is hardly ever the case.
pub fn setup(link: &str) -> Result<Setup, Vec<Issue>> {
    let (link, mut issues) = link::decode(link);
    let (setup, found) = check(&link.scenario, catalog());
    issues.extend(found);
    setup.ok_or(issues)
}
