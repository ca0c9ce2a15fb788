//! From scenarios to predictions.

mod cli;
#[path = "../console.rs"]
mod console;
mod lines;
mod list;
mod print;

use std::borrow::Cow;
use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;

use clap::Parser;
use clap::error::ErrorKind;
use rooflight::api::{Failure, FailureKind, Options, ParsedScenario, figures};
use rooflight::chart::{Chart, Palette, Roofline, Theme, runs, svg};
use rooflight::config::link::{Link, SearchSpace};
use rooflight::config::{Field, Issue, Severity};
use rooflight::deploy;
use rooflight::efficiency::onnx::Models;
use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::evidence::models::SHIPPED_EVIDENCE;
use rooflight::serving::table::Tables;
use rooflight::study::accuracy::Accuracy;
use rooflight::study::badge::badge;
use rooflight::study::words::title;
use rooflight::study::{Study, Topic};

use cli::{Cli, Drawing, Format, Other};
use console::{models, print, print_issues};
use list::listed;
use print::{Answered, csv_head};

/// Why the exit status is not 0. If several apply, the last variant takes precedence.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Stop {
    /// Limits are broken, already reported on standard error, like input errors.
    Limit,
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
        Err(Stop::Limit) => ExitCode::from(3),
        Err(Stop::Failure(text)) => {
            eprintln!("predict: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<(), Stop> {
    match &cli.other {
        Some(Other::List { what, format }) => return Ok(print(&listed(*what, *format)?)?),
        Some(Other::About(about)) => return Ok(about.print::<Cli>()?),
        None => {}
    }
    let options = options(cli)?;
    let models = models(cli.roofline, cli.models.as_deref())?;
    if cli.format == Format::Csv && !cli.is_drawn() {
        print(&csv_head())?;
    }
    if cli.jsonl {
        return all_lines(cli, &options, models.as_ref());
    }
    let mut worst = None;
    for scenario in &cli.scenario {
        let text = match scenario.as_str() {
            "-" => std::io::read_to_string(std::io::stdin()).map_err(Stop::from),
            file if cli.file => read(Path::new(file)),
            given => Ok(given.to_owned()),
        };
        let which = if cli.scenario.len() > 1 { format!("{scenario}: ") } else { String::new() };
        let done = text.and_then(|text| one(cli, &text, &which, &options, models.as_ref()));
        // Those after a failure are still answered. Every failure is said, the first at the end.
        if let (Err(Stop::Failure(text)), Some(Stop::Failure(_))) = (&done, &worst) {
            eprintln!("predict: {text}");
            continue;
        }
        worst = done.err().max(worst);
    }
    worst.map_or(Ok(()), Err)
}

fn one(cli: &Cli, text: &str, which: &str, options: &Options, models: Option<&Models>) -> Result<(), Stop> {
    if let Some(topic) = cli.study {
        let searches = topic == Topic::Plans;
        let mut asked = ParsedScenario::with(text, options);
        // A prediction does without the link's search, but plans without its limits would answer another question.
        let is_lost = |issue: &Issue| searches && issue.field == Field::Vary && issue.given.is_some();
        for issue in asked.issues.iter_mut().filter(|issue| is_lost(issue)) {
            issue.severity = Severity::Error;
        }
        // A search says itself what it refuses, and chooses what the configuration may have wrong.
        let is_chosen = |issue: &&Issue| searches && SearchSpace::chooses(issue.field);
        print_issues("", asked.issues.iter().filter(|issue| !is_chosen(issue)));
        let link = asked.link.as_ref().filter(|_| searches || asked.setup.is_some()).ok_or(Stop::Input)?;
        if asked.issues.iter().any(is_lost) {
            return Err(Stop::Input);
        }
        study(cli, topic, link, models)?;
        return if asked.issues.iter().any(unread) { Err(Stop::Input) } else { Ok(()) };
    }
    let answered = Answered::of(text, options, &mut Tables::default(), |rows| ask(models, rows));
    print_issues("", &answered.prediction.issues);
    if let Some(failure) = &answered.prediction.failure {
        return Err(Stop::Failure(failure.text.clone()));
    }
    match shown(cli, &answered)? {
        Some(text) => print(&text)?,
        None if cli.is_drawn() && answered.prediction.is_answered() => {
            eprintln!("error: {which}this load has no such chart");
            return Err(Stop::Input);
        }
        None => {}
    }
    held(cli, &answered, which)
}

/// The text to print, or `None` if there is none.
fn shown(cli: &Cli, answered: &Answered) -> Result<Option<String>, Stop> {
    let (setup, report) = (answered.setup.as_ref(), answered.prediction.report.as_ref());
    let palette = Palette::of(cli.dark);
    let headline = report.and_then(|report| report.headline.as_ref());
    if cli.yaml {
        let manifest = setup.filter(|_| headline.is_some()).map(deploy::manifest).transpose()?;
        return Ok(manifest.map(|text| text.trim_end().to_owned()));
    }
    if cli.badge {
        return Ok(setup.zip(report).and_then(|(setup, report)| badge(setup, report, palette)));
    }
    if let Some(drawing) = cli.svg {
        let chart = chart(drawing, answered);
        let title = setup.map(title).unwrap_or_default();
        let drawn = |chart| svg(&chart, &[drawing.name(), &title], drawing.size(), Theme::new(palette, 1.0));
        return Ok(chart.map(drawn).transpose()?);
    }
    Ok(Some(match cli.format {
        Format::Json => serde_json::to_string_pretty(&answered.prediction)?,
        Format::Table => return Ok(Some(answered.to_table()).filter(|table| !table.is_empty())),
        Format::Csv => answered.to_csv(),
    }))
}

fn chart(drawing: Drawing, answered: &Answered) -> Option<Chart> {
    let (setup, answer) = (answered.setup.as_ref()?, &answered.prediction);
    match drawing {
        Drawing::Roofline => Roofline::new(setup, &answer.report.as_ref()?.passes).map(Chart::Roofline),
        Drawing::Timeline => answer.report.as_ref()?.run.as_ref().map(|run| runs::timeline(setup, run)),
        Drawing::Loads => Some(runs::loads(setup, &answer.sweep.as_ref()?.points)),
    }
}

/// The scenarios of standard input.
fn all_lines(cli: &Cli, options: &Options, models: Option<&Models>) -> Result<(), Stop> {
    let (mut worst, mut number) = (None, 0);
    let answer =
        |tables: &mut Tables, line: &str| Answered::of(line, options, tables, |rows| ask(models, rows));
    lines::in_order(BufReader::new(std::io::stdin()), answer, |answered| {
        number += 1;
        print(&match cli.format {
            Format::Csv => answered.to_csv(),
            _ => serde_json::to_string(&answered.prediction)?,
        })?;
        worst = held(cli, &answered, &format!("scenario {number}: ")).err().max(worst.take());
        Ok(())
    })?;
    worst.map_or(Ok(()), Err)
}

/// Whether a run that should calibrate the answer could not be read: the answer is then another one.
fn unread(issue: &Issue) -> bool {
    issue.is_error() && issue.field == Field::Runs
}

/// Checks for an answer within the limits; reports broken ones on standard error.
fn held(cli: &Cli, answered: &Answered, which: &str) -> Result<(), Stop> {
    let prediction = &answered.prediction;
    if let Some(failure) = &prediction.failure {
        return Err(Stop::Failure(failure.text.clone()));
    }
    if !prediction.is_answered() || prediction.issues.iter().any(unread) {
        return Err(Stop::Input);
    }
    let figures = figures(prediction.report.as_ref());
    let run = prediction.report.as_ref().and_then(|report| report.run.as_ref());
    // A client that holds requests back keeps the queue short.
    let is_held_back = prediction.issues.iter().any(|issue| issue.field == Field::MaxInFlight);
    let is_overloaded = run.is_some_and(|run| run.saturation.is_some()) && !is_held_back;
    let held = cli.limits.iter().map(|limit| match limit.broken(&figures) {
        Ok(None) if is_overloaded && limit.is_on_waiting() => {
            eprintln!("limit: {which}{} grows without bound: arrivals exceed capacity", limit.name);
            Some(Stop::Limit)
        }
        Ok(None) => None,
        Ok(Some(text)) => {
            eprintln!("limit: {which}{text}");
            Some(Stop::Limit)
        }
        Err(text) => {
            eprintln!("error: {which}{text}");
            Some(Stop::Input)
        }
    });
    held.max().flatten().map_or(Ok(()), Err)
}

fn options(cli: &Cli) -> Result<Options, Stop> {
    let refused =
        |text: &str| <Cli as clap::CommandFactory>::command().error(ErrorKind::ArgumentConflict, text).exit();
    if cli.jsonl && cli.format == Format::Table {
        refused("a table holds one scenario: with --jsonl choose --format json or csv");
    }
    if cli.scenario.len() > 1 && cli.is_drawn() {
        refused("--yaml, --badge, --svg and --study take one scenario");
    }
    if cli.is_drawn() && (cli.sweep || cli.format != Format::Json) {
        refused(
            "--yaml, --badge, --svg and --study have a format of their own: leave out --format and --sweep",
        );
    }
    if cli.sweep && cli.format != Format::Json {
        refused("--sweep needs JSON: leave out --format");
    }
    if let Some(topic) = cli.study.filter(|topic| *topic != Topic::Search && !cli.of.is_empty()) {
        let choices: Vec<&str> = topic.choices().collect();
        match choices.contains(&&*cli.of) {
            true => {}
            false if choices.is_empty() => refused(&format!("--of: {} has nothing to choose", topic.id())),
            false => refused(&format!("--of: expected one of {}", choices.join(", "))),
        }
    }
    let model_config = match &cli.model_config {
        None => None,
        Some(config) => {
            let beside = config.with_file_name("hf_quant_config.json");
            let formats = cli.quant_config.clone().or_else(|| beside.exists().then_some(beside));
            let formats = formats.map_or(Ok(String::new()), |path| read(&path))?;
            Some(format!("{}\n{formats}", read(config)?))
        }
    };
    Ok(Options {
        roofline: Some(cli.roofline),
        sweep: Some(cli.sweep || cli.svg == Some(Drawing::Loads)),
        measured: cli.measured.as_deref().map(read).transpose()?.map(serde_json::Value::String),
        model_config,
        base: cli.base.clone(),
        trace: cli.trace.as_deref().map(read).transpose()?,
    })
}

fn read(path: &Path) -> Result<String, Stop> {
    std::fs::read_to_string(path).map_err(|error| Stop::Failure(format!("{}: {error}", path.display())))
}

fn evidence(cli: &Cli) -> std::io::Result<Cow<'static, str>> {
    let Some(folder) = &cli.models else { return Ok(SHIPPED_EVIDENCE.into()) };
    std::fs::read_to_string(folder.join("evidence.json")).map(Cow::from)
}

fn study(cli: &Cli, topic: Topic, link: &Link, models: Option<&Models>) -> Result<(), Stop> {
    let accuracy = Accuracy::parse(&evidence(cli)?)?;
    let mut study = Study::new(topic, &cli.of, &link.encode(), &cli.page).with(Some(Rc::new(accuracy)));
    while study.step(|rows| ask(models, rows).map_err(|failure| failure.text))? {}
    let document = study.document();
    print(&document.to_markdown(&cli.page))?;
    match document.blocks.is_empty() {
        true => Err("the study is empty".into()),
        false if study.is_unanswered() => {
            print_issues("", study.issues().iter().filter(|issue| issue.is_error()));
            Err(Stop::Input)
        }
        false => Ok(()),
    }
}

fn ask(models: Option<&Models>, rows: &Rows) -> Result<Efficiencies, Failure> {
    console::ask(models, rows).map_err(|error| Failure::new(FailureKind::Models, error.to_string()))
}
