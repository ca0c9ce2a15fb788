//! What `predict` is asked.

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
    after_help = "Exit status: 0 with an answer; 1 where something failed; 2 where the arguments or the scenario are wrong, \
or the scenario has no answer; 3 where a --limit is broken. The reason goes to standard error.",
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub other: Option<Other>,
    /// A link (or its fragment), a JSON scenario or the command that starts an engine; `-` reads it from standard input. Several are
    /// answered one after the other. With --jsonl it is left out.
    #[arg(required_unless_present = "jsonl", conflicts_with = "jsonl")]
    pub scenario: Vec<String>,
    /// Scenarios are names of files that hold them.
    #[arg(long, conflicts_with = "jsonl")]
    pub file: bool,
    /// A link: what a command that starts an engine leaves open, such as GPU and load, is taken from it.
    #[arg(long, value_name = "LINK")]
    pub base: Option<String>,
    /// Reads a scenario from every line of standard input and answers each in a line, in the same order.
    #[arg(long)]
    pub jsonl: bool,
    /// How to print the answer.
    #[arg(long, value_enum, default_value_t = Format::Json)]
    pub format: Format,
    /// Fails with exit status 3 where a figure is above this, or a rate below it: NAME=NUMBER, such as ttft_p99=1000 or
    /// output_per_s=2000. Names are those of --format table, times in milliseconds. May be given several times.
    #[arg(long = "limit", value_name = "NAME=NUMBER", conflicts_with_all = ["svg", "yaml", "study"])]
    pub limits: Vec<Limit>,
    /// The config.json of a model, which takes the place of the scenario's.
    #[arg(long, value_name = "FILE")]
    pub model_config: Option<PathBuf>,
    /// The hf_quant_config.json of that model; by default the file of this name beside the config.json, if there is one.
    #[arg(long, value_name = "FILE", requires = "model_config")]
    pub quant_config: Option<PathBuf>,
    /// A trace to replay (CSV or JSON Lines: arrival, prompt and output of each request), at its own pace or at the scenario's rate.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["yaml", "study"])]
    pub trace: Option<PathBuf>,
    /// A folder of ONNX models with their manifest, instead of the models built in.
    #[arg(long, value_name = "FOLDER")]
    pub models: Option<PathBuf>,
    /// Takes every kernel at its ideal time instead of the learned efficiencies.
    #[arg(long)]
    pub roofline: bool,
    /// Also simulates lower and higher loads, and finds the largest within the SLOs. They are in the JSON only.
    #[arg(long)]
    pub sweep: bool,
    /// A file of measured runs to calibrate on, one JSON object a line: the inputs in which each differs from the scenario, and
    /// `measured`, such as {"concurrency": 8, "measured": {"mean_ttft_ms": 154, "mean_tpot_ms": 16.5}}.
    #[arg(long, value_name = "FILE")]
    pub measured: Option<PathBuf>,
    /// Prints this chart as SVG instead.
    #[arg(long, value_enum, conflicts_with = "jsonl")]
    pub svg: Option<Drawing>,
    /// Prints a badge with TTFT, TPOT and tokens per second as SVG instead.
    #[arg(long, conflicts_with_all = ["svg", "yaml", "study", "jsonl"])]
    pub badge: bool,
    /// Prints manifests for Kubernetes instead, which run the scenario.
    #[arg(long, conflicts_with_all = ["svg", "study", "jsonl"])]
    pub yaml: bool,
    /// Draws for a dark page.
    #[arg(long)]
    pub dark: bool,
    /// Prints this study of the scenario as Markdown instead: breakdown, layers, headroom, explain, change, compare, sweep,
    /// tradeoff, share or export.
    #[arg(long, value_parser = topic, conflicts_with = "jsonl")]
    pub study: Option<Topic>,
    /// What the study varies or explains: `layers` takes decode or prefill; `sweep` load, isl, osl, tp, gpu, engine, weights, token_budget or max_seqs.
    #[arg(long, default_value = "")]
    pub of: String,
    /// The page that links in a study open.
    #[arg(long, default_value = "")]
    pub page: String,
}

#[derive(Subcommand)]
pub enum Other {
    /// Lists what the catalogs hold.
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
    /// A row for each scenario under a head of names with their units.
    Csv,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Drawing {
    /// The kernels of both phases under the GPU's roofs.
    Roofline,
    /// The simulated run over time.
    Timeline,
    /// Latency and throughput over the loads around it.
    Loads,
}

impl Drawing {
    /// Width and height in CSS pixels.
    pub fn size(self) -> (u32, u32) {
        match self {
            Self::Roofline => (960, 416),
            Self::Timeline | Self::Loads => (960, 240),
        }
    }
}

impl Cli {
    /// Whether something else than figures is printed.
    pub fn is_drawn(&self) -> bool {
        self.yaml || self.badge || self.svg.is_some() || self.study.is_some()
    }
}

fn topic(id: &str) -> Result<Topic, String> {
    let all = || Topic::ALL.iter().map(|topic| topic.id()).collect::<Vec<_>>().join(", ");
    Topic::from_id(id).ok_or_else(|| format!("expected one of {}", all()))
}
