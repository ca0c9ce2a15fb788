//! Measured tables in, training rows out: the features are those the page computes.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rooflight::config::catalog::{catalog, constants};
use rooflight::evidence::export::export;
use rooflight::evidence::sample::Selection;
use rooflight::kernels::Family;

#[derive(Parser)]
#[command(about = "Writes training rows: a JSON header (its length first), then f32 rows")]
struct Cli {
    /// The folder of measured data.
    #[arg(long, default_value = "../shared/data")]
    data: PathBuf,
    /// Id of the kernel family, as `gemm` or `attention_decode`.
    #[arg(long)]
    family: String,
    #[arg(long)]
    out: PathBuf,
    /// Rows at most, about; points are kept or left whole, GPUs evenly. All of them by default.
    #[arg(long)]
    sample: Option<usize>,
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("export_features: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<(), String> {
    let family = Family::from_id(&cli.family).ok_or_else(|| format!("no family {}", cli.family))?;
    let physics = constants().physics().ok_or("the catalog of constants is incomplete")?;
    let file = File::create(&cli.out).map_err(|error| format!("{}: {error}", cli.out.display()))?;
    let selection = Selection { sample: cli.sample, seed: cli.seed, suspects: false };
    let mut out = BufWriter::new(file);
    let header = export(family, &cli.data, selection, catalog(), &physics, &mut out)
        .map_err(|error| error.to_string())?;
    println!("{}: {} rows of {} columns", family.id(), header.rows, header.columns.len());
    for (reason, rows) in &header.skipped {
        println!("  {rows} rows left out: {reason}");
    }
    Ok(())
}
