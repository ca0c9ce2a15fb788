//! The chart in words, for those who do not see the canvas.

use super::{Point, Roofline};
use crate::graph::Phase;
use crate::latency::Resource;
use crate::units::{count, percent};

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

fn sentence(phase: &str, point: &Point) -> String {
    let bound = match point.limit {
        Resource::Compute => "compute-bound",
        Resource::Memory => "memory-bound",
        Resource::Network => "bound by the interconnect",
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
