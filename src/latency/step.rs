//! One step of the engine: kernels one after another, and the host beside them.

use crate::config::HostTime;
use crate::units::Seconds;

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
/// own `kernels` time stays visible. None where the engine's record lacks a figure.
pub fn host_time(host: &HostTime, prefill: bool, launches: u64, kernels: Seconds) -> Option<Seconds> {
    let launches = launches as f64;
    Some(if prefill {
        let dispatch = Seconds::from_micros(host.eager_launch_us.0? * launches);
        Seconds::from_micros(host.prefill_step_us.0?) + (dispatch - kernels).max(Seconds::ZERO)
    } else {
        Seconds::from_micros(host.decode_step_us.0? + host.graph_gap_us.0? * launches)
    })
}
