//! The time of a separate draft model, of which launches state only the name and how often it runs per step.

pub(super) use crate::config::catalog::numbers::drafting::constants;
use crate::config::catalog::physics;
use crate::config::{Dtype, MissingFigure, Setup};
use crate::units::{Bytes, Seconds};

/// Seconds of `passes` passes over one token of each sequence: the bytes of one decoder layer as wide as the model's last and of
/// the draft's own head, in 16 bits and split over the GPUs as the model is. Few tokens leave it bound by these.
pub fn seconds(setup: &Setup, passes: u32) -> Result<f64, MissingFigure> {
    let model = &setup.model;
    let layer = model.blocks.last().map(|last| last.tensors(model.hidden)).unwrap_or_default();
    let head = constants().eagle_vocab * f64::from(model.hidden);
    let elements = layer.iter().map(|tensor| tensor.elements * tensor.active).sum::<f64>() + head;
    let bytes = Bytes(elements * Dtype::Bf16.bytes() / f64::from(setup.parallel.tp));
    let pass: Seconds =
        bytes / (setup.gpu.bandwidth()? * physics().streaming_share) + physics().streaming_latency;
    Ok(pass.0 * f64::from(passes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;
    use crate::config::{ModelChoice, Scenario, check};

    #[test]
    fn a_draft_is_a_layer_and_a_head_of_its_own() {
        let catalog = catalog();
        let scenario = Scenario {
            model: ModelChoice::Catalog("qwen3-8b".into()),
            gpu: "h100-sxm".into(),
            ..Scenario::default()
        };
        let setup = check(&scenario, catalog).0.unwrap();
        let one = seconds(&setup, 1).unwrap();
        // 0.19 + 0.13 billion parameters of 16 bits at 0.8 x 3.35 TB/s.
        assert!((0.22e-3..0.26e-3).contains(&one), "{one}");
        assert_eq!(seconds(&setup, 4).unwrap(), 4.0 * one);
        assert_eq!(seconds(&setup, 0).unwrap(), 0.0);
    }
}
