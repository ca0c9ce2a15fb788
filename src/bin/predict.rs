//! A scenario in, a report out.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

use clap::{Parser, ValueEnum};
use plotters::drawing::IntoDrawingArea;
use plotters::prelude::SVGBackend;
use rooflight::chart::{Chart, Palette, Roofline, Theme, draw, runs};
use rooflight::config::catalog::catalog;
use rooflight::config::link::{self, Link};
use rooflight::config::{Issue, Scenario, Setup, check};
use rooflight::efficiency::onnx::Models;
use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::evidence::models::open_models;
use rooflight::serving::accuracy::Accuracy;
use rooflight::serving::run::{Commands, Point, Run, RunPlan, Sweep};
use rooflight::serving::{Report, finish, plan};
use rooflight::study::{Study, Topic};
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
    /// Prints this chart as SVG instead, and what stands in its way on standard error.
    #[arg(long, value_enum)]
    svg: Option<Drawing>,
    /// For a dark page.
    #[arg(long)]
    dark: bool,
    /// Prints what a study of the scenario says instead, as Markdown: breakdown, explain, change, compare, sweep,
    /// tradeoff, share or export.
    #[arg(long, value_parser = topic)]
    study: Option<Topic>,
    /// What of the study: `sweep` goes along load, isl, osl, tp, gpu, engine, weights, token_budget or max_seqs.
    #[arg(long, default_value = "")]
    of: String,
    /// The page that a study's links open.
    #[arg(long, default_value = "")]
    page: String,
}

fn topic(id: &str) -> Result<Topic, String> {
    let all = || Topic::ALL.iter().map(|topic| topic.id()).collect::<Vec<_>>().join(", ");
    Topic::from_id(id).ok_or_else(|| format!("there are {}", all()))
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Drawing {
    /// The kernels of both phases under the GPU's roofs.
    Roofline,
    /// The simulated run over time.
    Timeline,
    /// Latency and throughput over the loads around it.
    Loads,
}

impl Drawing {
    /// Width and height in CSS pixels.
    fn size(self) -> (u32, u32) {
        match self {
            Self::Roofline => (960, 416),
            Self::Timeline | Self::Loads => (960, 240),
        }
    }
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
    let (scenario, issues) = read(&text);
    if let (Some(topic), Some(link)) = (cli.study, &scenario) {
        issues.iter().for_each(|issue| eprintln!("{}: {}", issue.field.id(), issue.text));
        return study(cli, topic, link);
    }
    let scenario = scenario.map(|link| link.scenario);
    let mut output = Output::default();
    let mut setup = None;
    output.issues = issues;
    if let Some(scenario) = &scenario {
        output.link = link::encode(scenario);
        let (found, issues) = check(scenario, catalog());
        output.issues.extend(issues);
        setup = found;
        if let Some(setup) = &setup {
            let models = match cli.roofline {
                true => None,
                false => Some(open_models(&cli.models).map_err(|error| error.to_string())?),
            };
            answer(cli, setup, models.as_ref(), &mut output)?;
        }
    }
    let answered = output.report.as_ref().is_some_and(|report| report.headline.is_some());
    let Some(drawing) = cli.svg else {
        println!("{}", serde_json::to_string_pretty(&output).map_err(|error| error.to_string())?);
        return Ok(answered);
    };
    output.issues.iter().for_each(|issue| eprintln!("{}: {}", issue.field.id(), issue.text));
    let chart = chart(drawing, setup.as_ref(), &output).ok_or("there is nothing to draw")?;
    println!("{}", svg(drawing, &chart, cli.dark)?);
    Ok(answered)
}

fn chart(drawing: Drawing, setup: Option<&Setup>, output: &Output) -> Option<Chart> {
    match drawing {
        Drawing::Roofline => Roofline::new(&setup?.gpu, &output.report.as_ref()?.passes).map(Chart::Roofline),
        Drawing::Timeline => output.run.as_ref().map(runs::timeline),
        Drawing::Loads => Some(runs::loads(setup?, &output.sweep.as_ref()?.points)),
    }
}

fn svg(drawing: Drawing, chart: &Chart, dark: bool) -> Result<String, String> {
    let mut text = String::new();
    let palette = if dark { Palette::DARK } else { Palette::LIGHT };
    let area = SVGBackend::with_string(&mut text, drawing.size()).into_drawing_area();
    draw(&area, chart, Theme::new(palette, 1.0)).map_err(|error| error.to_string())?;
    drop(area);
    Ok(text)
}

fn answer(cli: &Cli, setup: &Setup, models: Option<&Models>, output: &mut Output) -> Result<(), String> {
    match plan(setup) {
        Ok((plan, rows)) => output.report = finish(&plan, &ask(models, &rows)?),
        Err(found) => output.issues.extend(found),
    }
    let (runs, sweeps) =
        (cli.run || cli.svg == Some(Drawing::Timeline), cli.sweep || cli.svg == Some(Drawing::Loads));
    if runs {
        output.commands = Some(Commands::of(setup));
    }
    if !runs && !sweeps {
        return Ok(());
    }
    let plan = match RunPlan::new(setup) {
        Ok(plan) => plan,
        Err(found) => {
            output.issues.extend(found);
            return Ok(());
        }
    };
    let efficiencies = ask(models, plan.rows())?;
    let runner = plan.finish(&efficiencies).ok_or("the models did not answer every row")?;
    let mut asked = None;
    match runner.run(setup.load) {
        Ok(run) => asked = Some(run),
        Err(issue) => output.issues.push(issue),
    }
    if runs {
        output.run.clone_from(&asked);
    }
    if sweeps {
        let mut sweep = Sweep::of(&runner, asked);
        let ended = loop {
            match sweep.advance(&runner) {
                Ok(true) => {}
                Ok(false) => break None,
                Err(issue) => break Some(issue),
            }
        };
        output.issues.extend(ended);
        output.sweep = Some(Curve { points: sweep.curve().to_vec(), largest: sweep.largest() });
    }
    Ok(())
}

/// Whether there was anything to say.
fn study(cli: &Cli, topic: Topic, link: &Link) -> Result<bool, String> {
    let models = match cli.roofline {
        true => None,
        false => Some(open_models(&cli.models).map_err(|error| error.to_string())?),
    };
    let evidence = std::fs::read_to_string(cli.models.join("evidence.json")).ok();
    let accuracy = evidence.map(|text| Accuracy::parse(&text)).transpose()?.map(Rc::new);
    let mut study = Study::new(topic, &cli.of, &link.encode(), &cli.page).with(accuracy);
    while study.step(|rows| ask(models.as_ref(), rows))? {}
    let document = study.document();
    println!("{}", document.to_markdown(&cli.page));
    Ok(!document.blocks.is_empty())
}

fn ask(models: Option<&Models>, rows: &Rows) -> Result<Efficiencies, String> {
    match models {
        None => Ok(Efficiencies::Roofline),
        Some(models) => models.answer(rows).map(Efficiencies::Learned).map_err(|error| error.to_string()),
    }
}

fn read(text: &str) -> (Option<Link>, Vec<Issue>) {
    if text.trim_start().starts_with('{') {
        let (scenario, issues) = Scenario::from_json(text);
        return (scenario.map(Link::new), issues);
    }
    let (link, issues) = link::decode(text);
    (Some(link), issues)
}
