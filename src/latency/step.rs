//! The time of an engine step: kernels in sequence, and the host.

use crate::config::HostTime;
use crate::units::Seconds;

/// The host's work in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostWork {
    /// Kernels launched individually; `None` if a CUDA graph is replayed.
    pub launches: Option<f64>,
    /// Sequences handled by scheduler, sampler and output streaming.
    pub sequences: f64,
    /// The step was scheduled while the previous one ran (asynchronous scheduling).
    pub ahead: bool,
}

/// A step's time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepTime {
    /// Host time that kernels do not hide.
    pub host: Seconds,
    /// Host time that runs beside the kernels, whether they hide it or not.
    pub beside: Seconds,
    pub total: Seconds,
}

impl StepTime {
    /// Kernels alone.
    pub fn of_kernels(kernels: Seconds) -> Self {
        Self { host: Seconds::ZERO, beside: Seconds::ZERO, total: kernels }
    }

    /// Step time with host time. `None` if the engine's record lacks a figure.
    ///
    /// * A step with prompt tokens is launched kernel by kernel: only the excess over the kernels' time counts.
    /// * Each sequence costs host time. With asynchronous scheduling this overlaps with the GPU, so only the excess
    ///   over the kernels counts; otherwise all of it does.
    pub fn of(host: &HostTime, work: HostWork, kernels: Seconds) -> Option<Self> {
        let sequences = Seconds::from_micros(host.sequence_us.0? * work.sequences);
        let (constant, launches) = match work.launches {
            Some(launches) => {
                (host.prefill_step_us.0?, Seconds::from_micros(host.eager_launch_us.0? * launches))
            }
            None => (host.decode_step_us.0?, Seconds::ZERO),
        };
        let (beside, exposed) =
            if work.ahead { (launches.max(sequences), Seconds::ZERO) } else { (launches, sequences) };
        let rest = Seconds::from_micros(constant) + exposed;
        let host = (beside - kernels).max(Seconds::ZERO) + rest;
        // Not the sum of host and kernels: a host-bound step takes exactly the same time whatever its kernels take.
        Some(Self { host, beside, total: beside.max(kernels) + rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Figure;

    #[test]
    fn a_step_that_the_host_bounds_does_not_feel_its_kernels() {
        let figure = |micros| Figure(Some(micros), String::new());
        let host = HostTime {
            sequence_us: figure(50.0),
            prefill_step_us: figure(120.0),
            eager_launch_us: figure(14.0),
            ..HostTime::default()
        };
        let work = HostWork { launches: Some(1000.0), sequences: 7.0, ahead: true };
        let total =
            |micros: f64| StepTime::of(&host, work, Seconds::from_micros(micros)).map(|time| time.total);
        assert!((1..1000).all(|micros| total(f64::from(micros) * 13.7) == total(0.0)));
    }

    #[test]
    fn what_runs_beside_the_kernels_is_a_floor() {
        let figure = |micros| Figure(Some(micros), String::new());
        let host =
            HostTime { prefill_step_us: figure(100.0), eager_launch_us: figure(10.0), ..HostTime::default() };
        let host = HostTime { sequence_us: figure(0.0), ..host };
        let work = HostWork { launches: Some(50.0), sequences: 1.0, ahead: true };
        let at = |kernels| StepTime::of(&host, work, Seconds::from_micros(kernels)).expect("known");
        assert_eq!([400.0, 600.0].map(|kernels| (at(kernels).beside.0 * 1e6).round()), [500.0; 2]);
        assert_eq!([400.0, 600.0].map(|kernels| (at(kernels).total.0 * 1e6).round()), [600.0, 700.0]);
    }

    #[test]
    fn deciding_ahead_hides_what_the_kernels_cover() {
        let figure = |micros| Figure(Some(micros), String::new());
        let host = HostTime {
            decode_step_us: figure(100.0),
            sequence_us: figure(50.0),
            prefill_step_us: figure(1000.0),
            eager_launch_us: figure(10.0),
            ..HostTime::default()
        };
        let micros = |work, kernels| {
            StepTime::of(&host, work, Seconds::from_micros(kernels)).map(|time| (time.host.0 * 1e6).round())
        };
        let decode = HostWork { launches: None, sequences: 64.0, ahead: true };
        assert_eq!(micros(decode, 5000.0), Some(100.0));
        assert_eq!(micros(decode, 2000.0), Some(1300.0), "64 x 50 are 1,200 more than the kernels");
        assert_eq!(micros(HostWork { ahead: false, ..decode }, 5000.0), Some(3300.0));
        let prefill = HostWork { launches: Some(800.0), ..decode };
        assert_eq!(micros(prefill, 5000.0), Some(4000.0), "8,000 of launches");
        assert_eq!(micros(prefill, 9000.0), Some(1000.0));
    }
}
