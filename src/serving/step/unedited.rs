//! The GPU without the visitor's figures, as a bound: the models know how kernels fare on real chips, and may have a kernel slow
//! down as a figure grows beyond those of any.

use crate::config::{Dtype, Gpu, MissingFigure, Setup};
use crate::efficiency::{Learned, Rows};
use crate::graph::Call;
use crate::kernels::Count;
use crate::latency::{Ideal, KernelTime};

/// A call planned on the catalog's GPU, which the edited one is at least as fast as in every figure, or in none.
#[derive(Debug, Clone, PartialEq)]
pub struct Unedited {
    count: Count,
    ideal: Ideal,
    place: usize,
    /// The catalog's GPU is slower than the edited one.
    is_slower: bool,
}

/// Figures this close are equal: a rate given as TFLOP/s is not the product of clock and SMs to the last digit.
const SAME: f64 = 1.0 + 1e-3;

impl Unedited {
    /// `None` if the GPU is the catalog's, or faster in some figures and slower in others.
    ///
    /// # Errors
    /// If the GPU lacks a figure that the call needs.
    pub fn plan(call: &Call, setup: &Setup, rows: &mut Rows) -> Result<Option<Self>, MissingFigure> {
        let Some(base) = setup.gpu.edited_from.as_deref() else { return Ok(None) };
        let pairs = rates(&setup.gpu).into_iter().zip(rates(base));
        let ratios: Vec<f64> = pairs.filter_map(|(own, base)| Some(own? / base?)).collect();
        let [is_slower, is_faster] =
            [ratios.iter().any(|ratio| *ratio > SAME), ratios.iter().any(|ratio| *ratio < 1.0 / SAME)];
        if is_slower == is_faster {
            return Ok(None);
        }
        let count = call.op.count(base)?;
        let ideal = Ideal::of(&count, base)?;
        let place = rows.ask(&call.op, count.stored, base, &setup.engine)?;
        Ok(Some(Self { count, ideal, place, is_slower }))
    }

    /// `time` on the edited GPU, which is no longer than on this one if that is faster, and else no shorter. `None` if `learned`
    /// does not answer the call.
    pub fn hold(&self, time: KernelTime, learned: &Learned, clock_ratio: f64) -> Option<KernelTime> {
        let call = learned.calls.get(self.place)?;
        let adjusted = (clock_ratio, call.in_service);
        let base = KernelTime::learned(&self.count, &self.ideal, call.answer?, adjusted, call.seen).time;
        let held = if self.is_slower { time.time.min(base) } else { time.time.max(base) };
        Some(time.lasting(held))
    }
}

/// What kernels run at, as far as known: more of it is never slower.
fn rates(gpu: &Gpu) -> [Option<f64>; 9] {
    let peak = |dtype| gpu.peak(dtype).ok().map(|peak| peak.0);
    [
        gpu.sms.0,
        gpu.clock_mhz.0,
        peak(Dtype::Bf16),
        peak(Dtype::Fp8),
        peak(Dtype::Nvfp4),
        peak(Dtype::W8a8),
        gpu.memory_gb_per_s.0,
        gpu.l2_bytes.0,
        gpu.l2_gb_per_s.0,
    ]
}
