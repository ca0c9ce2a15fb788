//! The command line of `predict`.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use rooflight::api::Limit;
use rooflight::study::Topic;

use super::console::About;

#[derive(Parser)]
#[command(
    name = "predict",
    version,
    about = "Predicts TTFT, TPOT and throughput of a scenario",
    after_help = "Exit status: 0 if there is an answer; 1 on failure; 2 if the arguments or the scenario are invalid, \
or the scenario has no answer; 3 if a --limit is broken. The reason goes to standard error.",
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub other: Option<Other>,
    /// A link (or its fragment), a JSON scenario or a launch command; `-` reads it from standard input. Several are
    /// answered in order. Not used with --jsonl.
    #[arg(required_unless_present = "jsonl", conflicts_with = "jsonl")]
    pub scenario: Vec<String>,
    /// Scenarios are file names.
    #[arg(long, conflicts_with = "jsonl")]
    pub file: bool,
    /// A link that supplies what a launch command leaves open, such as GPU and load.
    #[arg(long, value_name = "LINK")]
    pub base: Option<String>,
    /// Reads one scenario per line of standard input and answers each with one line, in the same order.
    #[arg(long)]
    pub jsonl: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Json)]
    pub format: Format,
    /// Exits with status 3 if a figure is above this, or a rate below it: NAME=NUMBER, such as ttft_p99=1000 or
    /// output_per_s=2000. Names are those of --format table, times in milliseconds. Repeatable.
    #[arg(long = "limit", value_name = "NAME=NUMBER", conflicts_with_all = ["svg", "yaml", "study"])]
    pub limits: Vec<Limit>,
    /// The config.json of a model, which replaces the scenario's.
    #[arg(long, value_name = "FILE")]
    pub model_config: Option<PathBuf>,
    /// The hf_quant_config.json of that model; by default the file of this name next to the config.json, if any.
    #[arg(long, value_name = "FILE", requires = "model_config")]
    pub quant_config: Option<PathBuf>,
    /// A trace to replay (CSV or JSON Lines: arrival, prompt and output of each request), at its own pace or at the
    /// scenario's rate.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["yaml", "study"])]
    pub trace: Option<PathBuf>,
    /// A folder of ONNX models with their manifest, instead of the built-in models.
    #[arg(long, value_name = "FOLDER")]
    pub models: Option<PathBuf>,
    /// Uses ideal kernel times instead of learned efficiencies.
    #[arg(long)]
    pub roofline: bool,
    /// Also simulates lower and higher loads, and finds the largest that meets the limits. JSON output only.
    #[arg(long)]
    pub sweep: bool,
    /// A file of measured runs to calibrate on: reports of benchmarks, a CSV, or JSON Lines with the inputs in which each run
    /// differs from the scenario and `measured`, such as
    /// {"concurrency": 8, "measured": {"mean_ttft_ms": 154, "mean_tpot_ms": 16.5}}.
    #[arg(long, value_name = "FILE")]
    pub measured: Option<PathBuf>,
    /// Prints this chart as SVG.
    #[arg(long, value_enum, group = "drawing", conflicts_with = "jsonl")]
    pub svg: Option<Drawing>,
    /// Prints a badge with TTFT, TPOT and tokens per second as SVG.
    #[arg(long, group = "drawing", conflicts_with_all = ["yaml", "study", "jsonl"])]
    pub badge: bool,
    /// Prints Kubernetes manifests that run the scenario.
    #[arg(long, conflicts_with_all = ["svg", "study", "jsonl"])]
    pub yaml: bool,
    /// Draws --svg or --badge for a dark page.
    #[arg(long, requires = "drawing")]
    pub dark: bool,
    #[arg(long, help = studies(), value_parser = topic, conflicts_with = "jsonl")]
    pub study: Option<Topic>,
    /// What the study varies or explains: for layers, decode or prefill; for sweep, load, isl, osl, tp, gpu,
    /// engine, weights, token_budget or max_seqs; for sensitivity, tenth, twice or half; for shape, memory or latency;
    /// for evidence, this, loops, ranks, batches, kernels, cases or limits; for export, json, csv, markdown, citation or
    /// runs.
    #[arg(long, default_value = "", requires = "study")]
    pub of: String,
    /// The page that links in a study point to.
    #[arg(long, default_value = "", requires = "study")]
    pub page: String,
}

#[derive(Subcommand)]
pub enum Other {
    /// Lists the catalogs.
    List {
        what: Catalog,
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    #[command(flatten)]
    About(About),
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Catalog {
    Models,
    Gpus,
    Engines,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// Everything, in SI units.
    Json,
    /// One row per scenario, under a header of names with units.
    Csv,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Drawing {
    /// The kernels of both phases under the GPU's roofs.
    Roofline,
    /// The simulated run over time.
    Timeline,
    /// Latency and throughput over loads around the scenario's.
    Loads,
}

impl Drawing {
    pub fn name(self) -> &'static str {
        match self {
            Self::Roofline => "Roofline",
            Self::Timeline => "Requests and KV cache over time",
            Self::Loads => "Latency and throughput by load",
        }
    }

    /// Width and height in CSS pixels.
    pub fn size(self) -> (u32, u32) {
        match self {
            Self::Roofline => (960, 416),
            Self::Timeline | Self::Loads => (960, 240),
        }
    }
}

impl Cli {
    /// Whether something other than figures is printed.
    pub fn is_drawn(&self) -> bool {
        self.yaml || self.badge || self.svg.is_some() || self.study.is_some()
    }
}

fn topics() -> String {
    Topic::ALL.iter().map(|topic| topic.id()).collect::<Vec<_>>().join(", ")
}

fn studies() -> String {
    format!("Prints a study of the scenario as Markdown: one of {}", topics())
}

fn topic(id: &str) -> Result<Topic, String> {
    Topic::from_id(id).ok_or_else(|| format!("expected one of {}", topics()))
}
