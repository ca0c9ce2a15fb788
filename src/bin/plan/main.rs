//! From a load and its limits to ranked plans.

mod compare;
#[path = "../console.rs"]
mod console;
mod threads;

use std::io::BufRead;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum};
use rooflight::api::{ParsedScenario, plan_columns};
use rooflight::config::{Issue, Severity};
use rooflight::deploy;
use rooflight::efficiency::onnx::Models;
use rooflight::find::{Answer, Capacity, DeploymentPlan, Question, Request, Search};
use rooflight::study::heading;
use rooflight::units::count;

use compare::SearchComparison;
use console::{About, ask, csv_line, models, print, print_issues};
use threads::searched;

#[derive(Parser)]
#[command(
    name = "plan",
    version,
    about = "Finds the GPUs, their number and layout that serve a load within its limits, ranked by cost",
    after_help = "Exit status: 0 if every request has a plan, 1 on failure, 2 if the arguments or a request are invalid or \
nothing meets the limits; the reason goes to standard error.",
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
struct Cli {
    #[command(subcommand)]
    about: Option<About>,
    /// A JSON request; `-` reads it from standard input. Not used with --jsonl.
    #[arg(required_unless_present = "jsonl", conflicts_with = "jsonl")]
    request: Option<String>,
    /// Reads one request per line of standard input, and answers each with a line of JSON, or with --format csv as
    /// rows under one header.
    #[arg(long)]
    jsonl: bool,
    /// Output format: a table by default, JSON Lines with --jsonl.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// A folder of ONNX models with their manifest, instead of the built-in models.
    #[arg(long)]
    models: Option<PathBuf>,
    /// Uses ideal kernel times instead of learned efficiencies.
    #[arg(long)]
    roofline: bool,
    /// Simulates every layout that fits, with every number of replicas that costs no more than the best plan,
    /// instead of using bounds: slow, for comparison. Likewise every pair of prefill and decode layouts with all
    /// numbers of workers, the cheapest first; a warning says where it ended if there are too many.
    #[arg(long)]
    brute_force: bool,
    /// Searches with and without bounds, and prints how much more expensive the plan found with bounds is, in the cost that ranks plans;
    /// exits with 0 if it is at most 2 %. Disaggregated plans, if asked for, are compared separately.
    #[arg(long, conflicts_with_all = ["brute_force", "format"])]
    compare: bool,
    /// Number of search threads; all cores by default.
    #[arg(long)]
    threads: Option<NonZero<usize>>,
    /// Prints to standard error how many layouts were tried and how fast.
    #[arg(long)]
    stats: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// Everything, in SI units.
    Json,
    /// One row per plan, under a header of names with units.
    Csv,
    /// For the best plan: the commands that start its servers and measure them.
    Commands,
    /// For the best plan: Kubernetes manifests.
    Yaml,
}

/// Why there is no answer.
type Failed = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(2),
        Err(error) => {
            eprintln!("plan: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every request has a plan.
fn run(cli: &Cli) -> Result<bool, Failed> {
    if let Some(about) = &cli.about {
        about.print::<Cli>()?;
        return Ok(true);
    }
    let models = models(cli.roofline, cli.models.as_deref())?;
    let format = cli.format.unwrap_or(if cli.jsonl { Format::Json } else { Format::Table });
    if cli.jsonl && !matches!(format, Format::Json | Format::Csv) {
        let text = "with --jsonl choose --format json or csv";
        Cli::command().error(ErrorKind::ArgumentConflict, text).exit();
    }
    if format == Format::Csv {
        print(&csv_head())?;
    }
    let one = |number: usize, text: &str| -> Result<bool, Failed> {
        let before = if cli.jsonl { format!("request {number}: ") } else { String::new() };
        let tell = |issues: &[Issue]| print_issues(&before, issues);
        if cli.compare {
            return compared(cli, models.as_ref(), text, tell);
        }
        let (heading, capacity) = answer(cli, models.as_ref(), text)?;
        let answer = &capacity.answer;
        tell(&answer.issues);
        // The other formats say nothing about the plan but its figures.
        if let Some(plan) = answer.plans.first().filter(|_| format != Format::Json) {
            print_issues(&format!("{before}best plan: "), caveats(plan));
        }
        let best = answer.plans.first().and_then(|plan| ParsedScenario::read(&plan.link).setup);
        let text = match (format, best) {
            (Format::Json, _) => serde_json::to_string(&capacity)?,
            (Format::Table, _) => heading + &capacity.to_table(),
            (Format::Csv, _) => csv_rows(number, &answer.plans),
            (Format::Commands, Some(best)) => deploy::commands(&best),
            (Format::Yaml, Some(best)) => deploy::manifest(&best)?,
            (Format::Commands | Format::Yaml, None) => return Ok(false),
        };
        if !text.is_empty() {
            print(text.trim_end())?;
        }
        Ok(!answer.plans.is_empty())
    };
    let Some(request) = &cli.request else {
        let (mut all, mut number) = (true, 0);
        for line in std::io::stdin().lock().lines() {
            let line = line?;
            if !line.trim().is_empty() {
                number += 1;
                all &= one(number, &line)?;
            }
        }
        return Ok(all);
    };
    match request.as_str() {
        "-" => one(1, &std::io::read_to_string(std::io::stdin())?),
        given => one(1, given),
    }
}

/// The heading of the answer's table, empty without a request, and the answer.
fn answer(cli: &Cli, models: Option<&Models>, text: &str) -> Result<(String, Capacity), Failed> {
    let begin = Instant::now();
    let (request, question, issues) = Question::from_json(text);
    let Some(request) = request else {
        let answer = Answer { issues, finished: true, ..Answer::default() };
        return Ok((String::new(), Capacity { answer, ..Capacity::default() }));
    };
    let heading = heading(&request, &question) + "\n\n";
    let mut capacity = question.answer(request, |search| {
        finish(cli, models, if cli.brute_force { search.exhaustively() } else { search })
    })?;
    capacity.answer.issues.splice(0..0, issues);
    if cli.stats {
        eprintln!("{}", stats(&capacity.answer, begin.elapsed()));
    }
    Ok((heading, capacity))
}

fn caveats(plan: &DeploymentPlan) -> impl Iterator<Item = &Issue> {
    plan.issues.iter().filter(|issue| issue.severity == Severity::Warning)
}

/// Whether the bounds lose nothing that matters.
fn compared(cli: &Cli, models: Option<&Models>, text: &str, tell: impl Fn(&[Issue])) -> Result<bool, Failed> {
    let (request, issues) = Request::from_json(text);
    tell(&issues);
    let Some(request) = request else { return Ok(false) };
    let compared = SearchComparison::of(&request, |search| finish(cli, models, search))?;
    tell(&compared.issues().cloned().collect::<Vec<_>>());
    print(&compared.line())?;
    Ok(compared.is_near())
}

fn finish(cli: &Cli, models: Option<&Models>, search: Search) -> Result<Answer, Failed> {
    let threads = cli.threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZero::get);
    searched(search, threads, |rows| ask(models, rows).map_err(|error| error.to_string()))
}

fn stats(answer: &Answer, elapsed: Duration) -> String {
    let counts = answer.counts;
    let seconds = elapsed.as_secs_f64();
    let pruned = counts.layouts.saturating_sub(counts.simulated + counts.refused);
    format!(
        "{} layouts in {:.0} ms, {} per second: {} refused, {} too large, {} too slow, {} beyond the fleet, {} \
        pruned, {} simulated in {} runs ({} per second; {} left out by bounds)",
        counts.layouts,
        seconds * 1e3,
        count(f64::from(counts.layouts) / seconds),
        counts.refused,
        counts.too_large,
        counts.too_slow,
        counts.beyond_fleet,
        counts.pruned,
        counts.simulated,
        counts.runs,
        count(f64::from(counts.simulated) / seconds),
        pruned,
    )
}

/// The heading of plans as CSV. The first column is the request's number, from 1.
fn csv_head() -> String {
    let (names, _) = plan_columns(None);
    csv_line(std::iter::once("request".to_owned()).chain(names))
}

/// One line per plan; empty without plans.
fn csv_rows(request: usize, plans: &[DeploymentPlan]) -> String {
    let row = |plan: &DeploymentPlan| {
        csv_line(std::iter::once(request.to_string()).chain(plan_columns(Some(plan)).1))
    };
    plans.iter().map(row).collect::<Vec<_>>().join("\n")
}
