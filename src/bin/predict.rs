//! A scenario in, a report out.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rooflight::config::catalog::catalog;
use rooflight::config::{Issue, Scenario, Setup, check, link};
use rooflight::efficiency::onnx::Models;
use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::evidence::models::open_models;
use rooflight::serving::run::{Commands, Point, Run, RunPlan, Sweep};
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
    /// Also simulates a run of this load, with percentiles and a timeline.
    #[arg(long)]
    run: bool,
    /// Also simulates the loads around it, and looks for the largest that keeps to the SLOs.
    #[arg(long)]
    sweep: bool,
}

/// What is printed: the scenario as understood, everything found wrong with it, the report if there is one.
#[derive(Default, Serialize)]
struct Output {
    link: String,
    issues: Vec<Issue>,
    report: Option<Report>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Run>,
    /// Shell commands that start this configuration, and that measure it.
    #[serde(skip_serializing_if = "Option::is_none")]
    commands: Option<Commands>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sweep: Option<Curve>,
}

/// Loads beside each other.
#[derive(Serialize)]
struct Curve {
    points: Vec<Point>,
    /// The largest load that keeps to the SLOs, where there are any.
    largest: Option<f64>,
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(answered) => ExitCode::from(u8::from(!answered)),
        Err(error) => {
            eprintln!("predict: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether there was an answer.
fn run(cli: &Cli) -> Result<bool, String> {
    let text = match cli.scenario.as_str() {
        "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map_err(|error| error.to_string())?;
            text
        }
        given => given.to_owned(),
    };
    let mut output = Output::default();
    let (scenario, issues) = read(&text);
    output.issues = issues;
    if let Some(scenario) = &scenario {
        output.link = link::encode(scenario);
        let (setup, found) = check(scenario, catalog());
        output.issues.extend(found);
        if let Some(setup) = setup {
            let models = match cli.roofline {
                true => None,
                false => Some(open_models(&cli.models).map_err(|error| error.to_string())?),
            };
            answer(cli, &setup, models.as_ref(), &mut output)?;
        }
    }
    println!("{}", serde_json::to_string_pretty(&output).map_err(|error| error.to_string())?);
    Ok(output.report.is_some_and(|report| report.headline.is_some()))
}

fn answer(cli: &Cli, setup: &Setup, models: Option<&Models>, output: &mut Output) -> Result<(), String> {
    let ask = |rows: &Rows| match models {
        None => Ok(Efficiencies::Roofline),
        Some(models) => models.answer(rows).map(Efficiencies::Learned).map_err(|error| error.to_string()),
    };
    match plan(setup) {
        Ok((plan, rows)) => output.report = finish(&plan, &ask(&rows)?),
        Err(found) => output.issues.extend(found),
    }
    if cli.run {
        output.commands = Some(Commands::of(setup));
    }
    if !cli.run && !cli.sweep {
        return Ok(());
    }
    let plan = match RunPlan::new(setup) {
        Ok(plan) => plan,
        Err(found) => {
            output.issues.extend(found);
            return Ok(());
        }
    };
    let efficiencies = ask(plan.rows())?;
    let runner = plan.finish(&efficiencies).ok_or("the models did not answer every row")?;
    match runner.run(setup.load) {
        Ok(run) => output.run = cli.run.then_some(run),
        Err(issue) => output.issues.push(issue),
    }
    if cli.sweep {
        let mut sweep = Sweep::of(&runner);
        let mut points = Vec::new();
        while let Some((load, drawn)) = sweep.next_load() {
            match runner.run(load) {
                Ok(run) => {
                    sweep.tell(&run);
                    points.extend(drawn.then(|| run.point()));
                }
                Err(issue) => {
                    output.issues.push(issue);
                    break;
                }
            }
        }
        output.sweep = Some(Curve { points, largest: sweep.largest() });
    }
    Ok(())
}

fn read(text: &str) -> (Option<Scenario>, Vec<Issue>) {
    if text.trim_start().starts_with('{') {
        return Scenario::from_json(text);
    }
    let (link, issues) = link::decode(text);
    (Some(link.scenario), issues)
}
