//! SiLU of one half times the other half, one thread block a row.

use super::{ElementwiseCounts, Record};

/// Elements a thread handles at once: 16 bytes of bf16.
const VECTOR: u64 = 8;
const MAX_THREADS: u64 = 1024;
const WARP: u64 = 32;
const BF16_BYTES: f64 = 2.0;
/// Warp instructions per element of a vector, as the reference profiled them.
const FMA_PER_ELEMENT: f64 = 6.875;
const XU_PER_ELEMENT: f64 = 2.375;

/// Counts for `rows` rows whose *input* holds `width` elements, both halves. Quirk: the loop runs
/// over the whole input, while the kernel's runs over half of it.
pub fn silu_mul(rows: u64, width: u64, record: &Record) -> ElementwiseCounts {
    if rows == 0 || width == 0 {
        return ElementwiseCounts::default();
    }
    let vectors = width / VECTOR;
    let threads = vectors.clamp(1, MAX_THREADS);
    let warps = threads.div_ceil(WARP) as f64;
    let elements = vectors.div_ceil(threads) as f64 * VECTOR as f64;
    let tail = (width % (threads * VECTOR)).min(threads) as f64;
    let work = elements * warps + tail;
    let bytes = width as f64 * BF16_BYTES;
    ElementwiseCounts::uniform(rows, FMA_PER_ELEMENT * work, XU_PER_ELEMENT * work, bytes, record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::reference::fixtures::{A100, H800, assert_close};

    // Vectors computed with the published PipeWeave reference.

    #[test]
    fn decode() {
        let counts = silu_mul(8, 7168, &H800);
        let expected = [
            12320.0,
            0.7291666865348816,
            1540.0,
            12.03125,
            4256.0,
            2.0151515007019043,
            532.0,
            33.25,
            112.0,
            58.30740737915039,
            22.161575317382812,
            14.0,
            962.0722045898438,
            112.0,
            365.6659851074219,
        ];
        assert_close(&counts.features(&H800), &expected);
        assert_close(&[counts.sum_cycle(&H800)], &[2.7443181818181817]);
    }

    #[test]
    fn long_prefill_has_a_tail() {
        let counts = silu_mul(33950, 27648, &A100);
        assert_close(&counts.features(&A100)[..3], &[478016000.0, 69157.40625, 4435200.0]);
        assert_close(&[counts.sum_cycle(&A100)], &[164720.37037037036]);
    }

    #[test]
    fn any_size_is_counted() {
        assert_eq!(silu_mul(0, 7168, &H800), ElementwiseCounts::default());
        assert_eq!(silu_mul(8, 0, &H800), ElementwiseCounts::default());
        assert!(silu_mul(1, 3, &H800).fma.all > 0.0);
    }
}
