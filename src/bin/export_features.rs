//! Turns measured tables into training rows, with the same features as in the page.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rooflight::evidence::export::export;
use rooflight::evidence::power::export_power;
use rooflight::evidence::sample::Selection;
use rooflight::kernels::Family;

#[derive(Parser)]
#[command(about = "Writes training rows: a JSON header (its length first), then f32 rows")]
struct Cli {
    /// The folder of measured data.
    #[arg(long, default_value = "../shared/data")]
    data: PathBuf,
    /// Id of the kernel family, such as `gemm` or `attention_decode`.
    #[arg(long)]
    family: String,
    #[arg(long)]
    out: PathBuf,
    /// Approximate maximum number of rows, in whole points and evenly over GPUs; all by default.
    #[arg(long)]
    sample: Option<usize>,
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Counted work, measured times and watts instead of features, from the tables in `power/`.
    #[arg(long, conflicts_with_all = ["sample", "seed"])]
    power: bool,
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
    let file = File::create(&cli.out).map_err(|error| format!("{}: {error}", cli.out.display()))?;
    if cli.power {
        let header =
            export_power(family, &cli.data, &mut BufWriter::new(file)).map_err(|error| error.to_string())?;
        report(family, (header.rows, header.columns.len()), &header.skipped);
        return Ok(());
    }
    let selection = Selection { sample: cli.sample, seed: cli.seed, suspects: false };
    let mut out = BufWriter::new(file);
    let header = export(family, &cli.data, selection, &mut out).map_err(|error| error.to_string())?;
    report(family, (header.rows, header.columns.len()), &header.skipped);
    Ok(())
}

fn report(family: Family, (rows, columns): (usize, usize), skipped: &BTreeMap<String, usize>) {
    println!("{}: {rows} rows of {columns} columns", family.id());
    for (reason, rows) in skipped {
        println!("  {rows} rows left out: {reason}");
    }
}
