//! Each kernel of a pass: its work, tiles and waves, and what reaching its ceiling would save.

use crate::config::{Gpu, Setup};
use crate::graph::Phase;
use crate::latency::Provenance;
use crate::serving::Report;
use crate::serving::report::{KernelLine, PassReport};
use crate::study::words;
use crate::study::{Block, Row};
use crate::units::{Bytes, count, decimal, percent, ratio};

/// Savings below this share of a step are not visible in the printed digits.
const LEAST: f64 = 5e-3;

/// A heading and one fold per kernel, by share of time; ids follow the order of the report: `kernel-decode-3`.
pub fn of_pass(setup: &Setup, report: &Report, pass: &PassReport) -> Vec<Block> {
    let phase = pass.phase.name().to_ascii_lowercase();
    let fold = |(index, kernel): (usize, &KernelLine)| {
        let name = format!("{}, {} of {phase}", kernel.name, percent(kernel.share));
        let table = Block::table(
            format!("{} of {phase}", kernel.name),
            &["", "One launch"],
            rows(&pass.setup(setup).gpu, kernel),
        );
        let mut blocks = vec![table];
        if kernel.outside {
            let text = "Extrapolated: this call is outside the range of the model's training data.";
            blocks.push(Block::text(text));
        }
        blocks.push(Block::text(savings(setup, report, pass, kernel)));
        Block::fold(pass.kernel_id(index), name, blocks)
    };
    let heading = Block::heading(format!("Kernels of {phase}"));
    std::iter::once(heading).chain(pass.by_share().into_iter().map(fold)).collect()
}

fn rows(gpu: &Gpu, kernel: &KernelLine) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: String| rows.push(Row::texts([name.to_owned(), value]));
    row("Shape", kernel.shape.clone());
    row("Launches per step", count(kernel.count as f64));
    // An exchange between GPUs has none of these: its shape says what is sent.
    if kernel.bytes > Bytes::ZERO {
        row("FLOP", kernel.flops.print().to_string());
        row("Operands and results, each once", kernel.bytes.print().to_string());
        row("Minimum device-memory traffic", kernel.traffic.print().to_string());
    }
    if let Some(intensity) = kernel.intensity {
        row("Arithmetic intensity", format!("{} FLOP/B", count(intensity)));
    }
    if let Some(math) = kernel.math
        && let (Ok(peak), Ok(bandwidth)) = (gpu.peak(math), gpu.bandwidth())
    {
        let name = format!("Ridge point of {}", math.name());
        row(&name, format!("{} FLOP/B", count(peak.0 / bandwidth.0)));
    }
    row("Bound by", words::bound(kernel).into());
    if let Some(schedule) = &kernel.schedule {
        let filled = percent(1.0 - schedule.idle_at_last());
        row("Tile", schedule.tile.map(|side| decimal(f64::from(side))).join(" × "));
        row("Tiles", count(schedule.tasks as f64));
        row("Tiles per wave", count(schedule.slots as f64));
        row("Waves", format!("{}, the last {filled} full", count(schedule.waves as f64)));
        row("Padded work / useful work", ratio(schedule.padding).to_string());
    }
    row("Roofline", kernel.roofline.print().to_string());
    if kernel.schedule.is_some() {
        row("Ceiling with tile and wave quantisation", kernel.ceiling.print().to_string());
    }
    row("Predicted", kernel.time.print().to_string());
    row("Efficiency: roofline / predicted", percent(kernel.efficiency).to_string());
    if let Some([low, high]) = kernel.bounds {
        row("80 % of measurements lie in", format!("{} to {}", low.print(), high.print()));
    }
    row("Source of the time", words::provenance_help(kernel.provenance).into());
    rows
}

/// What the step would gain if the kernel reached its ceiling.
fn savings(setup: &Setup, report: &Report, pass: &PassReport, kernel: &KernelLine) -> String {
    let own = kernel.saved();
    if kernel.provenance == Provenance::Roofline {
        return "It is at the roofline, which counts no tiles or waves.".into();
    }
    if own.0 <= 0.0 {
        return "It runs at its ceiling.".into();
    }
    let saved = pass.saving(own);
    if saved / pass.time < LEAST && own / pass.time >= LEAST {
        return "At its ceiling it would not shorten the step, whose length the host sets.".into();
    }
    if saved / pass.time < LEAST {
        return "At its ceiling it would save less than 0.5 % of the step.".into();
    }
    let text = format!(
        "With this kernel at its ceiling, the step would take {} instead of {}",
        (pass.time - saved).print(),
        pass.time.print()
    );
    let tpot = report.headline.as_ref().and_then(|headline| headline.tpot);
    match (pass.phase, tpot) {
        // What does not shorten with the step is waiting for other requests' prompts.
        (Phase::Decode, Some(tpot)) => {
            let factor = report.decode_factor() / setup.tokens_per_step();
            format!("{text}, and TPOT would be {}.", (tpot - saved * factor).print())
        }
        _ => format!("{text}: {} less.", percent(saved / pass.time)),
    }
}
