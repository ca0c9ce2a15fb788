//! End-to-end errors as tables.

use std::collections::BTreeMap;

use clap::ValueEnum;
use rooflight::evidence::cases::LoadKind;
use rooflight::evidence::compared::{ErrorMetric, ErrorReport, ErrorsByMetric, SkippedCase};
use rooflight::evidence::coverage::{CalibratedReport, Covered};
use rooflight::evidence::errors::{Errors, grouped};
use rooflight::evidence::served::calibrated::LeaveOut;
use rooflight::evidence::served::pools::report::PoolReport;
use rooflight::evidence::served::ranks::{PairAccuracy, Ranks, Reliability};
use rooflight::evidence::served::report::LoopReport;

/// The name of a kind of load in tables.
pub fn title(kind: LoadKind) -> &'static str {
    match kind {
        LoadKind::ClosedLoop => "Closed loops",
        LoadKind::Burst => "Bursts",
        LoadKind::Offline => "Offline queues",
        LoadKind::OpenLoop => "Open loops",
        LoadKind::SteadyState => "Saturated servers",
    }
}

pub fn print_report(kind: &str, report: &ErrorReport) {
    println!("\n{kind}: {} predicted, {} skipped", report.cases, report.skipped.len());
    print!("{:36}", "");
    report.metrics.keys().for_each(|metric| print!("{:>30}", metric.name()));
    println!();
    line("rooflight", &report.metrics);
    line("plain roofline", &report.roofline);
    if let Some(calibrated) = &report.calibrated {
        line("the physics alone", &report.physics);
        print_coverage(calibrated);
        print_coverage_by(calibrated);
    }
    for (left, without) in &report.left_out {
        line(&format!("without {}", word(*left)), &without.metrics);
        print_coverage(without);
    }
    for (peer, metrics) in &report.peers {
        line(peer, &metrics.peer);
        line("  rooflight, same cases", &metrics.ours);
    }
    line("in the fits", &report.inside_fits);
    line("outside of any fit", &report.outside_fits);
    [&report.by_source, &report.by_engine, &report.by_gpu, &report.by_model].into_iter().for_each(group);
    print_skipped(&report.skipped);
}

/// As typed on the command line.
fn word(left: LeaveOut) -> String {
    left.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

fn print_coverage(report: &CalibratedReport) {
    let bands = [(50, &report.coverage50), (80, &report.coverage80), (95, &report.coverage95)];
    for (metric, covered) in
        bands.iter().flat_map(|(share, of)| of.iter().map(move |one| ((share, one.0), one.1)))
    {
        let ((share, metric), Covered { covered, cases }) = (metric, covered);
        println!("  the {share} % band of {} holds for {covered:.0} % of {cases}", metric.name());
    }
}

/// Coverage of the 80 % bands, by group.
fn print_coverage_by(report: &CalibratedReport) {
    let groups = [&report.coverage80_by_engine, &report.coverage80_by_load, &report.coverage80_by_model];
    for (name, of) in groups.into_iter().flatten() {
        let one = |(metric, Covered { covered, cases }): (&ErrorMetric, &Covered)| {
            format!("{} {covered:.0} % of {cases}", metric.name())
        };
        println!("  the 80 % bands of {name}: {}", of.iter().map(one).collect::<Vec<_>>().join(", "));
    }
}

pub fn print_loops(report: &LoopReport) {
    println!();
    line("up to 4 clients", &report.few_clients);
    line(&format!("without {} contradictions", report.contradictions.len()), &report.without_contradictions);
    line("with a fully known launch", &report.without_inferred);
    for (what, cases) in &report.inferred {
        println!("  inferred from the runs, of {cases}: {what}");
    }
    println!();
    report.by_concurrency.iter().for_each(|(clients, metrics)| line(&format!("{clients} clients"), metrics));
    println!("\nup to 4 clients");
    group(&report.few_clients_by_engine);
    group(&report.few_clients_by_model_and_engine);
    print_ranks(&report.ranks);
    println!();
    for one in &report.contradictions {
        println!("contradicts {}: {}", one.id, one.reasons.join("; "));
    }
}

fn print_ranks(ranks: &Ranks) {
    println!(
        "\nthe faster of two runs that differ in one thing, where they are over 10 % apart: named correctly, by the \
        physics alone"
    );
    for (difference, by) in &ranks.by_difference {
        for (metric, PairAccuracy { pairs, distinct, right, physics }) in by {
            let name = format!("{difference}, {}", metric.name());
            println!("{name:36}{right:>8.1} %{physics:>8.1} %{distinct:>8} of {pairs} pairs");
        }
    }
    println!("\nconfidence in the faster one: predicted, observed");
    for (metric, of) in &ranks.reliability {
        for Reliability { said, came_true, pairs } in of {
            println!("{:36}{said:>8.0} %{came_true:>8.0} %{pairs:>8} pairs", metric.name());
        }
    }
}

pub fn print_pools(report: &PoolReport) {
    [&report.by_drafting, &report.by_recipe, &report.by_ratio].into_iter().for_each(group);
    println!();
    report.by_prompt.iter().for_each(|(prompt, metrics)| line(&format!("prompts of {prompt}"), metrics));
    println!();
    report
        .by_clients
        .iter()
        .for_each(|(clients, metrics)| line(&format!("up to {clients} clients"), metrics));
}

fn group(groups: &BTreeMap<String, ErrorsByMetric>) {
    println!();
    groups.iter().for_each(|(name, metrics)| line(name, metrics));
}

fn line(name: &str, metrics: &ErrorsByMetric) {
    print!("{name:36}");
    metrics.values().for_each(|errors| print!("{:>30}", cell(*errors)));
    let cases = metrics.values().flatten().map(|errors| errors.cases).max().unwrap_or(0);
    println!(" {cases:>6} cases");
}

/// Prints the skipped cases by reason, the most frequent first.
pub fn print_skipped(skipped: &[SkippedCase]) {
    let reasons = grouped(skipped.iter().map(|one| (&one.reason, one.id.as_str())));
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, ids)| std::cmp::Reverse(ids.len()));
    for (reason, ids) in reasons {
        println!("skipped {}: {reason} ({})", ids.len(), ids.join(", "));
    }
}

/// Mean, median, 90th percentile and bias.
pub fn cell(errors: Option<Errors>) -> String {
    errors
        .map_or("–".into(), |e| format!("{:.1} / {:.1} / {:.1} ({:+.1})", e.mean, e.median, e.p90, e.bias))
}
