//! Model errors per kernel.

use std::collections::BTreeMap;
use std::path::Path;

use rooflight::efficiency::onnx::Models;
use rooflight::evidence::errors::Errors;
use rooflight::evidence::kernels::{Comparison, FamilyReport, compare, compare_collectives};
use rooflight::evidence::models::models_of;

use super::tables::cell;

pub fn run(
    data: &Path,
    comparison: &Comparison<'_>,
    models: Option<&Path>,
    json: bool,
) -> Result<(), String> {
    let models = models_of(models).map_err(|error| error.to_string())?;
    let families = reports(data, comparison, &models)?;
    if json {
        let report = serde_json::json!({ "sample": comparison.selection.sample, "families": families });
        println!("{}", serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?);
    } else {
        families.iter().for_each(|(name, report)| print_family(name, report));
    }
    Ok(())
}

/// The errors of kernels, by family.
pub fn reports(
    data: &Path,
    comparison: &Comparison<'_>,
    models: &Models,
) -> Result<BTreeMap<String, FamilyReport>, String> {
    let mut families: BTreeMap<String, FamilyReport> = BTreeMap::new();
    for &family in models.manifest().families.keys() {
        let found = compare(family, data, models, comparison).map_err(|error| error.to_string())?;
        families.extend(found.map(|report| (family.id().to_owned(), report)));
    }
    let found = compare_collectives(data, comparison).map_err(|error| error.to_string())?;
    families.extend(found.map(|report| ("collectives".to_owned(), report)));
    Ok(families)
}

fn print_family(name: &str, report: &FamilyReport) {
    let line = |name: &str, errors: &Errors| {
        println!("  {name:48}{:>30} {:>8} rows", cell(Some(*errors)), errors.cases);
    };
    println!("{name}, errors in %: mean / median / p90 (bias)");
    line("all", &report.errors);
    if report.suspect > 0 {
        line(&format!("with {} suspect rows", report.suspect), &report.with_suspect);
    }
    println!("  {:48}{:6.1}", "plain roofline", report.roofline_mean);
    if let Some(covered) = report.covered80 {
        println!(
            "  {:48}{covered:6.1} % of the rows, {} beyond the training rows",
            "80 % bounds hold for", report.outside
        );
    }
    let groups = [
        &report.by_gpu,
        &report.by_engine,
        &report.by_dtype,
        &report.by_kernel,
        &report.by_size,
        &report.by_source,
    ];
    groups.into_iter().flatten().for_each(|(name, errors)| line(name, errors));
    for (reason, rows) in &report.skipped {
        println!("  skipped {rows}: {reason}");
    }
    println!();
}
