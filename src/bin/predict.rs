//! A scenario in, a report out.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

use clap::{Parser, ValueEnum};
use rooflight::api::{Asked, Failure, FailureKind, Options, Prediction};
use rooflight::chart::svg::svg;
use rooflight::chart::{Chart, Palette, Roofline, Theme, runs};
use rooflight::config::link::Link;
use rooflight::config::{Issue, Setup};
use rooflight::efficiency::onnx::Models;
use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::evidence::models::open_models;
use rooflight::serving::accuracy::Accuracy;
use rooflight::study::{Study, Topic};

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

impl Cli {
    /// What the answer is to hold: what was asked for, and what the drawing shows.
    fn options(&self) -> Options {
        Options {
            roofline: Some(self.roofline),
            run: Some(self.run || self.svg == Some(Drawing::Timeline)),
            sweep: Some(self.sweep || self.svg == Some(Drawing::Loads)),
        }
    }

    /// None for the roofline.
    fn models(&self) -> Result<Option<Models>, String> {
        let models = (!self.roofline).then(|| open_models(&self.models)).transpose();
        models.map_err(|error| error.to_string())
    }
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
    let asked = Asked::read(&text);
    if let (Some(topic), Some(link)) = (cli.study, &asked.link) {
        said(&asked.issues);
        return study(cli, topic, link);
    }
    let setup = asked.setup.clone();
    let models = match setup {
        Some(_) => cli.models()?,
        None => None,
    };
    let prediction = asked.predict(cli.options(), |rows| ask(models.as_ref(), rows));
    if let Some(failure) = prediction.failure {
        return Err(failure.text);
    }
    let answered = prediction.is_answered();
    let Some(drawing) = cli.svg else {
        println!("{}", serde_json::to_string_pretty(&prediction).map_err(|error| error.to_string())?);
        return Ok(answered);
    };
    said(&prediction.issues);
    let chart = chart(drawing, setup.as_ref(), &prediction).ok_or("there is nothing to draw")?;
    println!("{}", svg(&chart, drawing.size(), Theme::new(Palette::of(cli.dark), 1.0))?);
    Ok(answered)
}

fn said(issues: &[Issue]) {
    issues.iter().for_each(|issue| eprintln!("{}: {}", issue.field.id(), issue.text));
}

fn chart(drawing: Drawing, setup: Option<&Setup>, answer: &Prediction) -> Option<Chart> {
    match drawing {
        Drawing::Roofline => Roofline::new(&setup?.gpu, &answer.report.as_ref()?.passes).map(Chart::Roofline),
        Drawing::Timeline => answer.run.as_ref().map(runs::timeline),
        Drawing::Loads => Some(runs::loads(setup?, &answer.sweep.as_ref()?.points)),
    }
}

/// Whether there was anything to say.
fn study(cli: &Cli, topic: Topic, link: &Link) -> Result<bool, String> {
    let models = cli.models()?;
    let evidence = std::fs::read_to_string(cli.models.join("evidence.json")).ok();
    let accuracy = evidence.map(|text| Accuracy::parse(&text)).transpose()?.map(Rc::new);
    let mut study = Study::new(topic, &cli.of, &link.encode(), &cli.page).with(accuracy);
    while study.step(|rows| ask(models.as_ref(), rows).map_err(|failure| failure.text))? {}
    let document = study.document();
    println!("{}", document.to_markdown(&cli.page));
    Ok(!document.blocks.is_empty())
}

fn ask(models: Option<&Models>, rows: &Rows) -> Result<Efficiencies, Failure> {
    let Some(models) = models else { return Ok(Efficiencies::Roofline) };
    let learned = models.answer(rows).map(Efficiencies::Learned);
    learned.map_err(|error| Failure::new(FailureKind::Models, error.to_string()))
}
