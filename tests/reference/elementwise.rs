//! RMSNorm, and SiLU of one half times the other half: one thread block a row.

use rooflight::kernels::reference::Record;

use super::counts::ElementwiseCounts;

/// Elements a thread handles at once, at most: 16 bytes of bf16.
const VECTOR: u64 = 8;
const MAX_THREADS: u64 = 1024;
const WARP: u64 = 32;
const BF16_BYTES: f64 = 2.0;
/// Instructions issued over instructions counted, as the reference profiled them.
const FMA_FACTOR: f64 = 1.616838;
const XU_FACTOR: f64 = 1.666667;
/// Warp instructions per element of a vector, as the reference profiled them.
const FMA_PER_ELEMENT: f64 = 6.875;
const XU_PER_ELEMENT: f64 = 2.375;

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
