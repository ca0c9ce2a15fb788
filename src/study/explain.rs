//! Where each number comes from: its formula with this configuration's values.

mod kernels;
mod numbers;

use super::{Block, Study, measured, refused};
use crate::serving::report::Basis;

pub fn blocks(study: &Study) -> Vec<Block> {
    let own = study.own();
    let (Some(setup), Some(report)) = (own.setup(), own.report()) else {
        return refused(own.issues());
    };
    let basis = match &report.basis {
        Basis::Roofline => "Every kernel at its ideal: an upper bound on speed.".to_owned(),
        Basis::Learned { release } => format!(
            "Each kernel's work is counted; which share of the ideal it reaches is learned from measurements \
             (models of {release}). Open a line for its formula with the values of this configuration."
        ),
    };
    let mut blocks = vec![Block::text(basis)];
    blocks.extend(measured::blocks(study));
    blocks.push(Block::heading("Numbers"));
    if let Some(headline) = &report.headline {
        blocks.extend(numbers::headline(setup, report, headline));
        blocks.extend(study.accuracy.as_ref().map(|accuracy| numbers::trust(setup, accuracy)));
    } else {
        blocks.extend(refused(own.issues()));
    }
    blocks.push(numbers::memory(setup, &report.memory));
    for pass in &report.passes {
        blocks.extend(kernels::of_pass(setup, report, pass));
    }
    blocks
}
