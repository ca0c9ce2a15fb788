//! Shared by the command-line tools.

use std::io::{ErrorKind, Write, stdout};
use std::path::Path;

use clap::{CommandFactory, Subcommand};
use clap_complete::Shell;
use rooflight::chart::csv;
use rooflight::config::Issue;
use rooflight::efficiency::onnx::{ModelError, Models};
use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::evidence::models::models_of;

/// Information about the tool itself.
#[derive(Subcommand)]
pub enum About {
    /// Prints a completion script for this shell.
    Completions { shell: Shell },
    /// Prints the manual page.
    Man,
}

impl About {
    pub fn print<Cli: CommandFactory>(&self) -> std::io::Result<()> {
        let mut command = Cli::command();
        let name = command.get_name().to_owned();
        let mut text = Vec::new();
        match self {
            Self::Completions { shell } => clap_complete::generate(*shell, &mut command, name, &mut text),
            Self::Man => clap_mangen::Man::new(command).render(&mut text)?,
        }
        print(String::from_utf8_lossy(&text).trim_end())
    }
}

/// Writes `text` and a line break. A reader that has gone (`predict | head`) is not an error: nothing is left
/// to do.
pub fn print(text: &str) -> std::io::Result<()> {
    match writeln!(stdout(), "{text}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        result => result,
    }
}

/// One line of CSV, without the line break.
pub fn csv_line(cells: impl IntoIterator<Item = String>) -> String {
    csv(cells, Vec::<Vec<String>>::new()).trim_end_matches('\n').to_owned()
}

/// Prints issues to standard error. `before` says which request they are about.
pub fn print_issues<'a>(before: &str, issues: impl IntoIterator<Item = &'a Issue>) {
    for issue in issues {
        eprintln!("{before}{}", line(issue));
    }
}

/// `error: tp: ...`.
pub fn line(issue: &Issue) -> String {
    format!("{}: {}: {}", issue.severity, issue.field.id(), issue.text)
}

/// The models of `folder`, or those built in; `None` for the roofline.
pub fn models(roofline: bool, folder: Option<&Path>) -> Result<Option<Models>, ModelError> {
    if roofline { Ok(None) } else { models_of(folder).map(Some) }
}

pub fn ask(models: Option<&Models>, rows: &Rows) -> Result<Efficiencies, ModelError> {
    models.map_or(Ok(Efficiencies::Roofline), |models| models.answer(rows).map(Efficiencies::Learned))
}
