//! Errors of the models, kernel by kernel.

use std::collections::BTreeMap;
use std::path::Path;

use rooflight::config::catalog::catalog;
use rooflight::efficiency::onnx::Models;
use rooflight::evidence::errors::Errors;
use rooflight::evidence::kernels::{Comparison, FamilyReport, compare, compare_collectives};
use rooflight::evidence::models::open_models;

pub fn run(data: &Path, comparison: &Comparison<'_>, models: &Path, json: bool) -> Result<(), String> {
    let models = open_models(models).map_err(|error| error.to_string())?;
    let families = reports(data, comparison, &models)?;
    if json {
        let report = serde_json::json!({ "sample": comparison.selection.sample, "families": families });
        println!("{}", serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?);
    } else {
        families.iter().for_each(|(name, report)| print_family(name, report));
    }
    Ok(())
}

/// By family.
pub fn reports(
    data: &Path,
    comparison: &Comparison<'_>,
    models: &Models,
) -> Result<BTreeMap<String, FamilyReport>, String> {
    let physics = catalog().constants.physics().ok_or("the catalog of constants is incomplete")?;
    let core = (catalog(), &physics);
    let mut families: BTreeMap<String, FamilyReport> = BTreeMap::new();
    for &family in models.manifest().families.keys() {
        let found = compare(family, data, models, comparison, core).map_err(|error| error.to_string())?;
        families.extend(found.map(|report| (family.id().to_owned(), report)));
    }
    let found = compare_collectives(data, comparison, core).map_err(|error| error.to_string())?;
    families.extend(found.map(|report| ("collectives".to_owned(), report)));
    Ok(families)
}

fn print_family(name: &str, report: &FamilyReport) {
    println!("{name}: {} rows, errors in %: mean / median / p90 (bias)", report.rows);
    let FamilyReport { mean, median, p90, bias, roofline_mean, .. } = report;
    println!("  {:48}{mean:6.1} / {median:5.1} / {p90:5.1} ({bias:+.1})", "all");
    println!("  {:48}{roofline_mean:6.1}", "plain roofline");
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
    for (name, Errors { mean, median, p90, bias, cases }) in groups.into_iter().flatten() {
        println!("  {name:48}{mean:6.1} / {median:5.1} / {p90:5.1} ({bias:+.1}) {cases:>8} rows");
    }
    for (reason, rows) in &report.skipped {
        println!("  skipped {rows}: {reason}");
    }
    println!();
}
