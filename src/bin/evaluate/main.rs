//! Predicted against measured: error tables on a folder of measurements.

mod contributed;
mod kernels;
mod memory;
mod serving;
mod summary;
mod tables;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use rooflight::evidence::kernels::Comparison;
use rooflight::evidence::sample::Selection;

#[derive(Parser)]
#[command(about = "Error tables of the predictor on measured data")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// End-to-end cases: prefill, decode step and total of offline batches, TTFT and TPOT of closed loops.
    Serving(serving::Arguments),
    /// Memory at start-up, compared with logs: weights, KV cache room and whether the server starts.
    Memory(memory::Arguments),
    /// Contributed measurements: what is missing, wrong or implausible in their files, and the prediction for each
    /// run.
    Contributed(contributed::Arguments),
    /// A summary with every case, written to `evidence.json` in the models' folder: shown by the page as evidence.
    Evidence {
        /// The folder of measured data.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
        /// The folder of contributed runs.
        #[arg(long, default_value = "runs")]
        runs: PathBuf,
        /// The folder of the ONNX models and their manifest.
        #[arg(long, default_value = "models")]
        models: PathBuf,
        /// Approximate number of rows per family.
        #[arg(long, default_value_t = 100_000)]
        sample: usize,
    },
    /// Errors of every kernel family, by GPU, engine, format, kernel and size.
    Kernels {
        /// The folder of measured data, with a subfolder `kernels`.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
        /// Excludes a GPU's rows (repeatable).
        #[arg(long, value_name = "ID")]
        exclude_gpu: Vec<String>,
        /// A folder of ONNX models with their manifest, instead of the models built in.
        #[arg(long)]
        models: Option<PathBuf>,
        /// Approximate number of rows per family: larger tables are sampled in whole points, evenly over GPUs.
        #[arg(long, default_value_t = 100_000)]
        sample: usize,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Prints JSON instead of tables.
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Serving(arguments) => serving::run(&arguments),
        Task::Memory(arguments) => memory::run(&arguments),
        Task::Contributed(arguments) => contributed::run(&arguments),
        Task::Evidence { data, runs, models, sample } => {
            let selection = Selection { sample: Some(sample), seed: 0, suspects: true };
            summary::run((&data, &runs), &Comparison { selection, excluded: &[] }, &models)
        }
        Task::Kernels { data, exclude_gpu, models, sample, seed, json } => {
            let selection = Selection { sample: Some(sample), seed, suspects: true };
            kernels::run(&data, &Comparison { selection, excluded: &exclude_gpu }, models.as_deref(), json)
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("evaluate: {error}");
            ExitCode::FAILURE
        }
    }
}
