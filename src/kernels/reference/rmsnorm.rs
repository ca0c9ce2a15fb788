//! RMSNorm, one thread block a row.

use super::{ElementwiseCounts, Record};

/// Elements a thread loads at once, at most: 16 bytes of bf16.
const VECTOR: u64 = 8;
const MAX_THREADS: u64 = 1024;
const WARP: u64 = 32;
const BF16_BYTES: f64 = 2.0;
/// Instructions issued over instructions counted, as the reference profiled them.
const FMA_FACTOR: f64 = 1.616838;
const XU_FACTOR: f64 = 1.666667;

/// Counts of the norm of `rows` rows of `width` elements, in warp instructions; each row read once.
pub fn rmsnorm(rows: u64, width: u64, record: &Record) -> ElementwiseCounts {
    if rows == 0 || width == 0 {
        return ElementwiseCounts::default();
    }
    let vector = 1 << width.trailing_zeros().min(VECTOR.ilog2());
    let threads = (width / vector).min(MAX_THREADS);
    let warps = threads.div_ceil(WARP) as f64;
    let loops = width.div_ceil(vector * threads) as f64;

    // The squares are summed in the loop, then over the warps; the scaled row is written back.
    let elements = loops * vector as f64 * warps;
    let mut fadd = 2.0 * elements + 5.0 * warps + 5.0;
    let fmul = 2.0 * elements;
    let ffma = elements + warps;
    let mut mufu = 3.0 * warps;
    let remainder = width % (threads * vector);
    if remainder > 0 {
        let tail = remainder.min(threads);
        fadd += (3 * tail).div_ceil(WARP) as f64;
        mufu += tail.div_ceil(WARP) as f64;
    }
    let fma = FMA_FACTOR * (fadd + fmul + ffma);
    ElementwiseCounts::uniform(rows, fma, XU_FACTOR * mufu, width as f64 * BF16_BYTES, record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::reference::fixtures::{A40, A100, assert_close};

    // Vectors computed with the published PipeWeave reference.

    #[test]
    fn ragged_width() {
        let counts = rmsnorm(100, 1000, &A40);
        let expected = [
            30558.23828125,
            2.8420979976654053,
            611.1647338867188,
            4.77472448348999,
            2000.0003662109375,
            1.4880955219268799,
            40.00000762939453,
            2.500000476837158,
            195.3125,
            465.5970764160156,
            133.3745880126953,
            3.90625,
            782.2030639648438,
            31.25,
            224.06930541992188,
        ];
        assert_close(&counts.features(&A40), &expected);
        assert_close(&[counts.sum_cycle(&A40)], &[4.330193582589286]);
    }

    #[test]
    fn long_prefill() {
        let counts = rmsnorm(33950, 5120, &A100);
        assert_close(&counts.features(&A100)[..3], &[50774776.0, 7345.8876953125, 471106.1875]);
        assert_close(&[counts.sum_cycle(&A100)], &[9310.587248046873]);
    }

    #[test]
    fn any_size_is_counted() {
        assert_eq!(rmsnorm(0, 5120, &A100), ElementwiseCounts::default());
        assert_eq!(rmsnorm(8, 0, &A100), ElementwiseCounts::default());
        for width in 1..70 {
            assert!(rmsnorm(1, width, &A100).fma.all > 0.0);
        }
    }
}
