//! One step of the engine: kernels one after another, and the host beside them.

use crate::config::HostTime;
use crate::units::Seconds;

/// What the host launches in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Launches {
    pub kernels: u64,
    /// Layers with routed experts among them.
    pub expert_layers: u64,
}

/// A step's time, apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepTime {
    pub kernels: Seconds,
    /// Host time that kernels do not hide.
    pub host: Seconds,
}

impl StepTime {
    pub fn total(self) -> Seconds {
        self.kernels + self.host
    }
}

/// Host time of one step that kernels do not hide.
///
/// A decode step replays a CUDA graph: the host's constant and a gap per kernel. A step with prompt
/// tokens is launched kernel by kernel, `launches` of them in all: what the host needs beyond the GPU's
/// own `kernels` time stays visible. None if the engine's record lacks a figure.
pub fn host_time(host: &HostTime, prefill: bool, launches: Launches, kernels: Seconds) -> Option<Seconds> {
    let Launches { kernels: launches, expert_layers } = launches;
    let launches = launches as f64;
    Some(if prefill {
        let layers = host.expert_layer_us.0? * expert_layers as f64;
        let dispatch = Seconds::from_micros(host.eager_launch_us.0? * launches + layers);
        Seconds::from_micros(host.prefill_step_us.0?) + (dispatch - kernels).max(Seconds::ZERO)
    } else {
        Seconds::from_micros(host.decode_step_us.0? + host.graph_gap_us.0? * launches)
    })
}
