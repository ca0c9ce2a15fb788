//! Versions of engines, ordered by their numbers.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A version as it is printed, such as `0.19.1rc1.dev71`. Versions without a number, such as `nightly`, come before all
/// others.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Version {
    text: String,
    /// The leading numbers without trailing zeros: a release candidate counts as the release it leads to, and a build
    /// after a release as that release.
    numbers: Vec<u32>,
}

impl Version {
    /// The version as it is printed.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// `nightly` is not.
    pub fn is_numbered(&self) -> bool {
        self.text.trim_start_matches('v').starts_with(|first: char| first.is_ascii_digit())
    }

    /// The release it belongs to, by its first `numbers` numbers: `0.11` of `0.11.1rc2` by two.
    pub fn release(&self, numbers: usize) -> String {
        let parts = self.text.trim_start_matches('v').split('.').take(numbers);
        parts.map(leading_number).collect::<Vec<_>>().join(".")
    }
}

/// `3` of `3rc1`; all of a part that begins otherwise.
fn leading_number(part: &str) -> &str {
    match part.find(|one: char| !one.is_ascii_digit()) {
        Some(end) if end > 0 => &part[..end],
        _ => part,
    }
}

fn numbers(text: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    for part in text.trim_start_matches('v').split('.') {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(number) = part[..digits].parse() else { break };
        numbers.push(number);
        if digits < part.len() {
            break;
        }
    }
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    numbers
}

impl From<String> for Version {
    fn from(text: String) -> Self {
        let numbers = numbers(&text);
        Self { text, numbers }
    }
}

impl From<&str> for Version {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.text
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.numbers == other.numbers
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn versions_are_ordered_by_number() {
        let of = |text: &str| Version::from(text);
        assert!(of("0.9.2") < of("0.10.1") && of("0.9.0") < of("0.9.0.1") && of("nightly") < of("0.0.1"));
        assert!(of("0.17") == of("0.17.0") && of("v0.5.8.post1") == of("0.5.8"));
        assert!(of("0.19.1rc1.dev71+gdd9342e6b") == of("0.19.1") && of("1.1.0-dev.2") == of("1.1"));
    }

    #[test]
    fn the_minor_version_is_that_of_the_text() {
        assert_eq!(Version::from("0.11.1rc2").release(2), "0.11");
        assert_eq!(Version::from("v0.10.1").release(2), "0.10");
        assert_eq!(Version::from("1.0").release(2), "1.0");
        assert_eq!(Version::from("0.5.3rc1").release(3), "0.5.3");
        assert_eq!(Version::from("0.5.4.post2").release(3), "0.5.4");
        assert_eq!(Version::from("nightly-dev").release(2), "nightly-dev");
    }
}
