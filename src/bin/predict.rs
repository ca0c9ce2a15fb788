//! A scenario in, a report out.

use std::borrow::Cow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

use clap::{Parser, ValueEnum};
use rooflight::api::{Asked, Failure, FailureKind, Options, Prediction};
use rooflight::chart::svg::svg;
use rooflight::chart::{Chart, Palette, Roofline, Theme, runs};
use rooflight::config::Setup;
use rooflight::config::link::Link;
use rooflight::deploy;
use rooflight::efficiency::onnx::{ModelError, Models};
use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::evidence::models::{SHIPPED_EVIDENCE, open_models, shipped_models};
use rooflight::study::accuracy::Accuracy;
use rooflight::study::{Study, Topic};

#[path = "console.rs"]
mod console;

use console::{print, print_issues};

#[derive(Parser)]
#[command(
    name = "predict",
    version,
    about = "Predicts TTFT, TPOT and throughput of one scenario",
    after_help = "Exit status: 0 with an answer; 1 where something failed; 2 where the arguments or the scenario are wrong, \
or the scenario has no answer, with the reason on standard error."
)]
struct Cli {
    /// A link (or its fragment) or a JSON scenario; `-` reads it from standard input.
    scenario: String,
    /// A folder of ONNX models with their manifest, instead of the models built in.
    #[arg(long)]
    models: Option<PathBuf>,
    /// Takes every kernel at its ideal time instead of the learned efficiencies.
    #[arg(long)]
    roofline: bool,
    /// Also simulates lower and higher loads, and finds the largest within the SLOs.
    #[arg(long)]
    sweep: bool,
    /// A file of measured runs to calibrate on, one JSON object a line: the inputs in which each differs from the scenario, and
    /// `measured`, such as {"concurrency": 8, "measured": {"mean_ttft_ms": 154, "mean_tpot_ms": 16.5}}.
    #[arg(long)]
    measured: Option<PathBuf>,
    /// Prints this chart as SVG instead.
    #[arg(long, value_enum)]
    svg: Option<Drawing>,
    /// Prints manifests for Kubernetes instead, which run the scenario.
    #[arg(long, conflicts_with_all = ["svg", "study"])]
    yaml: bool,
    /// Draws for a dark page.
    #[arg(long)]
    dark: bool,
    /// Prints this study of the scenario as Markdown instead: breakdown, headroom, explain, change, compare, sweep, tradeoff, share
    /// or export.
    #[arg(long, value_parser = topic)]
    study: Option<Topic>,
    /// What the study varies or explains: `sweep` takes load, isl, osl, tp, gpu, engine, weights, token_budget or max_seqs.
    #[arg(long, default_value = "")]
    of: String,
    /// The page that links in a study open.
    #[arg(long, default_value = "")]
    page: String,
}

impl Cli {
    /// What was asked for, and what the chart needs.
    fn options(&self) -> Options {
        let sweep = self.sweep || self.svg == Some(Drawing::Loads);
        Options { roofline: Some(self.roofline), sweep: Some(sweep), measured: None }
    }

    /// None for the roofline.
    fn models(&self) -> Result<Option<Models>, ModelError> {
        if self.roofline {
            return Ok(None);
        }
        self.models.as_deref().map_or_else(shipped_models, open_models).map(Some)
    }

    fn measured(&self) -> Result<Option<Vec<serde_json::Value>>, Stop> {
        let Some(file) = &self.measured else { return Ok(None) };
        let text = std::fs::read_to_string(file)?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        Ok(Some(lines.map(serde_json::from_str).collect::<Result<_, _>>()?))
    }

    fn evidence(&self) -> std::io::Result<Cow<'static, str>> {
        let Some(folder) = &self.models else { return Ok(SHIPPED_EVIDENCE.into()) };
        std::fs::read_to_string(folder.join("evidence.json")).map(Cow::from)
    }
}

fn topic(id: &str) -> Result<Topic, String> {
    let all = || Topic::ALL.iter().map(|topic| topic.id()).collect::<Vec<_>>().join(", ");
    Topic::from_id(id).ok_or_else(|| format!("expected one of {}", all()))
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

/// Why there is no answer.
enum Stop {
    /// The scenario has errors, each already on standard error.
    Input,
    Failure(String),
}

impl<E: ToString> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failure(error.to_string())
    }
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Input) => ExitCode::from(2),
        Err(Stop::Failure(text)) => {
            eprintln!("predict: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<(), Stop> {
    let text = match cli.scenario.as_str() {
        "-" => std::io::read_to_string(std::io::stdin())?,
        given => given.to_owned(),
    };
    let asked = Asked::read(&text);
    let models = cli.models()?;
    if let Some(topic) = cli.study {
        print_issues(&asked.issues);
        return match (&asked.link, &asked.setup) {
            (Some(link), Some(_)) => study(cli, topic, link, models.as_ref()),
            _ => Err(Stop::Input),
        };
    }
    if cli.yaml {
        print_issues(&asked.issues);
        let setup = asked.setup.as_ref().ok_or(Stop::Input)?;
        return Ok(print(deploy::manifest(setup)?.trim_end())?);
    }
    let mut options = cli.options();
    options.measured = cli.measured()?;
    let setup = asked.setup.clone();
    let prediction = asked.predict(&options, |rows| ask(models.as_ref(), rows));
    print_issues(&prediction.issues);
    if let Some(failure) = prediction.failure {
        return Err(Stop::Failure(failure.text));
    }
    match cli.svg {
        None => print(&serde_json::to_string_pretty(&prediction)?)?,
        Some(drawing) => {
            let chart = chart(drawing, setup.as_ref(), &prediction).ok_or(Stop::Input)?;
            print(&svg(&chart, drawing.size(), Theme::new(Palette::of(cli.dark), 1.0))?)?;
        }
    }
    if prediction.is_answered() { Ok(()) } else { Err(Stop::Input) }
}

fn chart(drawing: Drawing, setup: Option<&Setup>, answer: &Prediction) -> Option<Chart> {
    match drawing {
        Drawing::Roofline => Roofline::new(&setup?.gpu, &answer.report.as_ref()?.passes).map(Chart::Roofline),
        Drawing::Timeline => answer.report.as_ref()?.run.as_ref().map(runs::timeline),
        Drawing::Loads => Some(runs::loads(setup?, &answer.sweep.as_ref()?.points)),
    }
}

fn study(cli: &Cli, topic: Topic, link: &Link, models: Option<&Models>) -> Result<(), Stop> {
    let accuracy = Accuracy::parse(&cli.evidence()?)?;
    let mut study = Study::new(topic, &cli.of, &link.encode(), &cli.page).with(Some(Rc::new(accuracy)));
    while study.step(|rows| ask(models, rows).map_err(|failure| failure.text))? {}
    let document = study.document();
    print(&document.to_markdown(&cli.page))?;
    if document.blocks.is_empty() { Err("the study has nothing to say".into()) } else { Ok(()) }
}

fn ask(models: Option<&Models>, rows: &Rows) -> Result<Efficiencies, Failure> {
    let Some(models) = models else { return Ok(Efficiencies::Roofline) };
    let learned = models.answer(rows).map(Efficiencies::Learned);
    learned.map_err(|error| Failure::new(FailureKind::Models, error.to_string()))
}
