//! Each kernel of a pass: its work, its tiles and waves, and what it would be worth to mend it.

use crate::config::{Load, Setup};
use crate::graph::Phase;
use crate::serving::Report;
use crate::serving::report::{KernelLine, PassReport};
use crate::serving::words;
use crate::study::{Block, Row};
use crate::units::{Seconds, count, decimal, percent, ratio};

/// A heading and one fold a kernel, in the order of the report: ids are `kernel-decode-3`.
pub fn of_pass(setup: &Setup, report: &Report, pass: &PassReport) -> Vec<Block> {
    let phase = words::phase(pass.phase);
    let mut order: Vec<usize> = (0..pass.kernels.len()).collect();
    order.sort_by(|&a, &b| pass.kernels[b].share.total_cmp(&pass.kernels[a].share));
    let fold = |index: usize| {
        let kernel = &pass.kernels[index];
        let id = format!("kernel-{}-{index}", phase.to_ascii_lowercase());
        let name = format!("{}, {} of {}", kernel.name, percent(kernel.share), phase.to_ascii_lowercase());
        Block::fold(id, name, kernel_blocks(setup, report, pass, kernel))
    };
    std::iter::once(Block::heading(format!("Kernels of {}", phase.to_ascii_lowercase())))
        .chain(order.into_iter().map(fold))
        .collect()
}

fn kernel_blocks(setup: &Setup, report: &Report, pass: &PassReport, kernel: &KernelLine) -> Vec<Block> {
    let row = |name: &str, value: String| Row::texts([name.to_owned(), value]);
    let mut rows = vec![
        row("Shape", kernel.shape.clone()),
        row("Launches in the step", count(kernel.count as f64)),
        row("FLOP", kernel.flops.print().to_string()),
        row("Bytes of device memory, every operand once", kernel.bytes.print().to_string()),
    ];
    if let Some(intensity) = kernel.intensity {
        rows.push(row("Arithmetic intensity", format!("{} FLOP/B", count(intensity))));
    }
    let ridge =
        kernel.math.and_then(|math| Some(setup.gpu.peak(math).ok()?.0 / setup.gpu.bandwidth().ok()?.0));
    if let (Some(ridge), Some(math)) = (ridge, kernel.math) {
        let name = format!("Ridge point of {}", words::dtype(math));
        rows.push(row(&name, format!("{} FLOP/B", count(ridge))));
    }
    rows.push(row("Bound by", words::resource(kernel.limit).into()));
    if let Some(schedule) = &kernel.schedule {
        let tile = schedule.tile.map(|side| decimal(f64::from(side))).join(" × ");
        let last = schedule.tasks - (schedule.waves - 1) * schedule.slots;
        let of_last = percent(last as f64 / schedule.slots as f64);
        rows.extend([
            row("Tile", tile),
            row("Tiles", count(schedule.tasks as f64)),
            row("Tiles at once", count(schedule.slots as f64)),
            row("Waves", format!("{}, the last {of_last} full", count(schedule.waves as f64))),
            row("Padded work over useful work", ratio(schedule.padding).to_string()),
        ]);
    }
    rows.extend([
        row("Textbook roofline", kernel.roofline.print().to_string()),
        row("Ceiling of its tiles and waves", kernel.ceiling.print().to_string()),
        row("Predicted, one launch", kernel.time.print().to_string()),
        row("Efficiency: textbook over predicted", percent(kernel.efficiency).to_string()),
    ]);
    if let Some([low, high]) = kernel.bounds {
        rows.push(row("80 % of measurements lie within", format!("{} to {}", low.print(), high.print())));
    }
    rows.push(row("Its time comes from", words::provenance_help(kernel.provenance).into()));
    let name = format!("{} of {}", kernel.name, words::phase(pass.phase).to_ascii_lowercase());
    let mut blocks = vec![Block::table(name, &["", "One launch"], rows)];
    if kernel.outside {
        let text = "The call lies beyond all that its model was trained on: its number is extrapolated.";
        blocks.push(Block::text(text));
    }
    blocks.push(Block::text(worth(setup, report, pass, kernel)));
    blocks
}

/// Of a step: less is none of its printed digits.
const LEAST: f64 = 1e-3;

/// What it would save to bring the kernel to its ceiling.
fn worth(setup: &Setup, report: &Report, pass: &PassReport, kernel: &KernelLine) -> String {
    let saved = (kernel.time - kernel.ceiling).max(Seconds::ZERO) * kernel.count as f64;
    if saved.0 <= 0.0 {
        return "It reaches its ceiling.".into();
    }
    if saved / pass.time < LEAST {
        return "Reaching its ceiling would save less than a thousandth of the step.".into();
    }
    let step = pass.time - saved;
    let mut text = format!(
        "If it reached its ceiling, the step would take {} instead of {}",
        step.print(),
        pass.time.print()
    );
    let headline = report.headline.as_ref();
    match (pass.phase, headline.and_then(|headline| headline.tpot)) {
        // Every token takes one decode step, whatever else it waits for.
        (Phase::Decode, Some(tpot)) => {
            let steps = if matches!(setup.load, Load::Batch(_)) { 1.0 } else { f64::from(setup.pp) };
            text += &format!(", and TPOT would be {}.", (tpot - saved * steps).print());
        }
        _ => text += &format!(": {} less.", percent(saved / pass.time)),
    }
    text
}
