//! The chart in words, for screen readers.

use super::{KernelPoint, Roofline, point};
use crate::config::Setup;
use crate::graph::Phase;
use crate::latency::Resource;
use crate::serving::report::PassReport;
use crate::units::{count, percent};

/// Shares below this print as zero.
const LEAST: f64 = 5e-4;

/// A sentence on the share of a step's time that the roofline cannot show; `None` if it shows everything.
pub fn not_shown(pass: &PassReport) -> Option<String> {
    let host = pass.host.0 / pass.time.0;
    let parts = [
        (Resource::Network, "links", 0.0),
        (Resource::Launch, "launches and the host", host),
        (Resource::Memory, "kernels that only move data", 0.0),
        (Resource::Compute, "kernels that need no device memory", 0.0),
    ];
    let unseen = || pass.kernels.iter().filter(|kernel| point(pass.phase, kernel).is_none());
    let shares = parts.map(|(resource, name, more)| {
        let of = unseen().filter(|kernel| kernel.limit == resource);
        (name, more + of.map(|kernel| kernel.share).sum::<f64>())
    });
    let all: f64 = shares.iter().map(|(_, share)| share).sum();
    let said = shares.iter().filter(|(_, share)| *share >= LEAST);
    let said: Vec<String> = said.map(|(name, share)| format!("{name} {}", percent(*share))).collect();
    (!said.is_empty()).then(|| {
        format!(
            "Not on the roofline: {} of the {} step's time ({}).",
            percent(all),
            pass.phase.id(),
            said.join(", ")
        )
    })
}

/// A sentence that a pass has no points because it runs on another GPU, if it does.
pub fn elsewhere(setup: &Setup, pass: &PassReport) -> Option<String> {
    let gpu = &pass.setup(setup).gpu;
    let text = || format!("Not on the roofline: {}, which runs on {}.", pass.phase.id(), gpu.name);
    (gpu.id != setup.gpu.id).then(text)
}

/// Two to three sentences: the roofs, then the largest kernel of each phase.
pub fn summary(chart: &Roofline) -> String {
    let mut text = format!("Roofline of {}: memory bandwidth {}", chart.gpu, chart.bandwidth.print());
    if let Some(roof) = chart.main_roof() {
        let (peak, ridge) = (roof.peak.print(), count(chart.ridge(roof)));
        text += &format!(", dense {} peak {peak}, ridge point {ridge} FLOP/B", roof.name);
    }
    text.push('.');
    for (phase, name) in [(Phase::Prefill, "Prefill"), (Phase::Decode, "Decode")] {
        if let Some(point) = chart.points.iter().find(|point| point.phase == phase) {
            text += &sentence(name, point);
        }
    }
    text
}

fn sentence(phase: &str, point: &KernelPoint) -> String {
    let bound = match point.limit {
        Resource::Compute => "compute-bound",
        Resource::Memory => "memory-bound",
        Resource::Network => "bound by links",
        Resource::Launch => "launch-bound",
    };
    format!(
        " {phase}: the largest kernel, {}, takes {} of the time and reaches {} at {} FLOP/B ({bound}).",
        point.name,
        percent(point.share),
        point.reached.print(),
        count(point.intensity),
    )
}
