//! Configurations whose measured runs nobody can explain.

use serde::Deserialize;

use super::ConfigPoint;

/// A configuration left out because its runs are too far from the physics, for an unknown reason.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Doubted {
    engine: String,
    kind: String,
    shape: String,
    gpu: String,
    format: String,
    tp: f64,
    /// Measured over physical time, lowest and highest; `None` if not measured.
    pub ttft: Option<[f64; 2]>,
    pub tpot: Option<[f64; 2]>,
}

impl Doubted {
    /// Whether it is of this configuration, in whatever version and under whatever load.
    pub fn is_of(&self, point: &ConfigPoint) -> bool {
        let own = [&self.engine, &self.kind, &self.shape, &self.gpu, &self.format];
        own == [&point.engine, &point.kind, &point.shape, &point.gpu, &point.format] && self.tp == point.tp
    }
}

#[cfg(test)]
mod tests {
    use crate::calibration::{ConfigPoint, shipped};

    #[test]
    fn a_doubted_configuration_is_in_no_fit_and_known_by_its_parts() {
        let doubted = &shipped().doubted;
        assert!(!doubted.is_empty());
        for one in doubted {
            let point = ConfigPoint {
                engine: one.engine.clone(),
                kind: one.kind.clone(),
                shape: one.shape.clone(),
                gpu: one.gpu.clone(),
                format: one.format.clone(),
                tp: one.tp,
                ..ConfigPoint::default()
            };
            assert!(one.is_of(&point));
            assert!(!one.is_of(&ConfigPoint { tp: 2.0 * one.tp, ..point.clone() }));
            assert!(!one.is_of(&ConfigPoint { gpu: "another".into(), ..point }));
            for [least, most] in [one.ttft, one.tpot].into_iter().flatten() {
                assert!(0.0 < least && least <= most, "{one:?}");
            }
        }
    }
}
