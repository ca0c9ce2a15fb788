//! What the command-line tools print alike.

use std::io::{ErrorKind, Write};

use rooflight::config::{Issue, Severity};

/// Writes `text` and a line break; nothing is wrong where the reader has left, as `head` does.
pub fn print(text: &str) -> std::io::Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

pub fn print_issues(issues: &[Issue]) {
    for issue in issues {
        let severity = match issue.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        eprintln!("{severity}: {}: {}", issue.field.id(), issue.text);
    }
}
