//! The chart in words, for those who do not see the canvas.

use super::{Point, Roofline};
use crate::graph::Phase;
use crate::latency::Resource;
use crate::units::{count, percent};

/// Two to three sentences: the roofs, then the largest kernel of each phase.
pub fn summary(chart: &Roofline) -> String {
    let mut text = format!("Roofline of {}: memory roof {}", chart.gpu, chart.bandwidth.print());
    if let Some(roof) = chart.main_roof() {
        let ridge = count(chart.ridge(roof));
        text +=
            &format!(", {} dense roof {}, meeting at {ridge} FLOP per byte", roof.name, roof.peak.print());
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
    format!(
        " {phase}: the largest kernel, {}, takes {} of the time and reaches {} at {} FLOP per byte, {}.",
        point.name,
        percent(point.share),
        point.reached.print(),
        count(point.intensity),
        match point.limit {
            Resource::Compute => "bound by compute",
            Resource::Memory => "bound by memory bandwidth",
            Resource::Network => "bound by the links between GPUs",
            Resource::Launch => "bound by its launch",
        }
    )
}
