//! A scenario in, a report out.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rooflight::config::catalog::catalog;
use rooflight::config::{Issue, Scenario, check, link};
use rooflight::efficiency::Efficiencies;
use rooflight::evidence::models::open_models;
use rooflight::serving::{Report, finish, plan};
use serde::Serialize;

#[derive(Parser)]
#[command(about = "Predicts TTFT, TPOT and throughput of one scenario")]
struct Cli {
    /// A link (or its fragment), or a JSON scenario; `-` reads it from standard input.
    scenario: String,
    /// The folder of the ONNX models and their manifest.
    #[arg(long, default_value = "models")]
    models: PathBuf,
    /// Answers with every kernel at its ideal instead of the learned efficiencies.
    #[arg(long)]
    roofline: bool,
}

/// What is printed: the scenario as understood, everything found wrong with it, the report if there is one.
#[derive(Serialize)]
struct Output {
    link: String,
    issues: Vec<Issue>,
    report: Option<Report>,
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(answered) => ExitCode::from(u8::from(!answered)),
        Err(error) => {
            eprintln!("predict: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether there was an answer.
fn run(cli: Cli) -> Result<bool, String> {
    let text = match cli.scenario.as_str() {
        "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map_err(|error| error.to_string())?;
            text
        }
        given => given.to_owned(),
    };
    let (scenario, mut issues) = read(&text);
    let mut report = None;
    if let Some(scenario) = &scenario {
        let (setup, found) = check(scenario, catalog());
        issues.extend(found);
        if let Some(setup) = setup {
            match plan(&setup) {
                Err(found) => issues.extend(found),
                Ok(plan) => {
                    let efficiencies = if cli.roofline {
                        Efficiencies::Roofline
                    } else {
                        let models = open_models(&cli.models).map_err(|error| error.to_string())?;
                        Efficiencies::Learned(models.answer(plan.rows()).map_err(|error| error.to_string())?)
                    };
                    report = finish(&plan, &efficiencies);
                }
            }
        }
    }
    let answered = report.as_ref().is_some_and(|report| report.headline.is_some());
    let link = scenario.map(|scenario| link::encode(&scenario)).unwrap_or_default();
    let output = Output { link, issues, report };
    println!("{}", serde_json::to_string_pretty(&output).map_err(|error| error.to_string())?);
    Ok(answered)
}

fn read(text: &str) -> (Option<Scenario>, Vec<Issue>) {
    if text.trim_start().starts_with('{') {
        return Scenario::from_json(text);
    }
    let (link, issues) = link::decode(text);
    (Some(link.scenario), issues)
}
