//! How measured runs correct the physics, and how certain that is.

use crate::calibration::Band;
use crate::config::Setup;
use crate::serving::Report;
use crate::serving::run::{Calibrated, Run, Spread};
use crate::serving::sim::Stats;
use crate::study::words::longer;
use crate::study::{Block, Row};
use crate::units::{Seconds, count, fixed};

/// `None` if not calibrated: at the roofline, and for a static batch.
pub fn of(setup: &Setup, report: &Report) -> Option<Block> {
    let (calibrated, run) = (report.calibrated.as_ref()?, report.run.as_ref()?);
    let Calibrated { factors, bands, support, physics, .. } = calibrated;
    let text = format!(
        "In similar measured runs, decode steps are {} than the physics predicts, and what prompts add to a step is {}; step times \
         are corrected accordingly before the simulation. With those, TTFT is still {} than simulated. Based on {} measured runs of \
         models of this shape on {}, {} on any engine, and {} of any model on this GPU with this engine. The less a run shares with \
         this one, the less it counts.",
        longer(factors.decode),
        longer(factors.prefill),
        longer(factors.wait),
        count(f64::from(support.of_model_on_engine)),
        setup.engine.name,
        count(f64::from(support.of_model)),
        count(f64::from(support.of_gpu_on_engine)),
    );
    let mut rows = times("TTFT", &|run| Some(run.metrics.ttft), Some(&bands.ttft), (physics, run));
    rows.extend(times("TPOT", &|run| run.metrics.tpot, bands.tpot.as_ref(), (physics, run)));
    rows.extend(times("E2E", &|run| Some(run.metrics.e2e), Some(&bands.e2e), (physics, run)));
    let output = |value: f64| format!("{} tok/s", count(value));
    rows.push(row(
        "Output",
        [physics.metrics.output_per_s, run.metrics.output_per_s],
        bands.output_per_s,
        output,
    ));
    let head = ["", "Uncalibrated", "Calibrated", "80 % band", "Of which noise"];
    let noise = "Noise: the spread of repeated runs, or of runs that differ in nothing recorded. More measurements \
        of this configuration narrow the rest.";
    let blocks = vec![Block::text(text), Block::table("Calibrated numbers", &head, rows), Block::text(noise)];
    Some(Block::fold("calibration", "Calibration and bands", blocks))
}

fn times(
    name: &str,
    of: &dyn Fn(&Run) -> Option<Stats>,
    spread: Option<&Spread>,
    (physics, run): (&Run, &Run),
) -> Vec<Row> {
    let (Some(physics), Some(run), Some(spread)) = (of(physics), of(run), spread) else { return Vec::new() };
    let print = |value: f64| Seconds(value).print().to_string();
    let all = [
        ("mean", physics.mean, run.mean, Some(spread.mean)),
        ("P50", physics.p50, run.p50, spread.p50),
        ("P90", physics.p90, run.p90, spread.p90),
        ("P99", physics.p99, run.p99, spread.p99),
    ];
    all.map(|(which, physics, run, band)| row(&format!("{name}, {which}"), [physics, run], band, print))
        .into()
}

fn row(name: &str, [physics, run]: [f64; 2], band: Option<Band>, print: impl Fn(f64) -> String) -> Row {
    let between =
        band.map_or_else(|| "–".into(), |band| format!("{} to {}", print(band.low), print(band.high)));
    let noise = band.map_or_else(|| "–".into(), |band| format!("{} %", fixed(100.0 * band.noise_share, 0)));
    Row::texts([name.to_owned(), print(physics), print(run), between, noise])
}
