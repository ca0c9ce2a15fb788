//! The formula of each number, with this configuration's values.

mod calibration;
mod kernels;
mod numbers;

use super::{Block, Study, against_measured, refused};
use crate::serving::report::Basis;

pub fn blocks(study: &Study) -> Vec<Block> {
    let own = study.own();
    let (Some(setup), Some(report)) = (own.setup(), own.report()) else {
        return refused(own.issues());
    };
    let basis = match &report.basis {
        Basis::Roofline => "Every kernel at the roofline: an upper bound on speed.".to_owned(),
        Basis::Learned { release } => format!(
            "The work of each kernel is counted; the share of peak it reaches is learned from measurements (models of \
             {release}). Open a line for its formula with this configuration's values."
        ),
    };
    let mut blocks = vec![Block::text(basis)];
    blocks.extend(against_measured::blocks(study));
    blocks.push(Block::heading("Numbers"));
    if let Some(headline) = &report.headline {
        blocks.extend(numbers::headline(setup, report, headline));
        blocks.extend(calibration::of(setup, report));
        blocks.extend(study.accuracy.as_ref().map(|accuracy| numbers::errors(setup, accuracy)));
    } else {
        blocks.extend(refused(own.issues()));
    }
    blocks.push(numbers::memory("memory", setup, &report.memory, " of a replica"));
    let of_prefill = report.prefill_memory.as_ref();
    blocks.extend(
        of_prefill
            .map(|of| numbers::memory("memory-prefill", setup.prefill_setup(), of, " of a prefill worker")),
    );
    for pass in &report.passes {
        blocks.extend(kernels::of_pass(setup, report, pass));
    }
    blocks
}
