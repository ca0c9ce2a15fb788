//! Records of the reference's own hardware table, for tests: the catalog may come to differ.

use super::Record;
use crate::config::Dtype;
use crate::graph::{Attention, Phase, Sequences};

pub const A100: Record = Record {
    sm: 80,
    sms: 108,
    clock_mhz: 1410.0,
    mem_gb_per_s: 2039.04,
    l2_gb_per_s: 3235.0,
    smem_kib: 164.0,
    tensor_bf16: 2048.0,
    tensor_fp8: None,
    fma: 64.0,
    xu: 16.0,
};

pub const A40: Record = Record {
    sm: 86,
    sms: 84,
    clock_mhz: 1740.0,
    mem_gb_per_s: 696.096,
    l2_gb_per_s: 2430.0,
    smem_kib: 100.0,
    tensor_bf16: 1024.0,
    fma: 128.0,
    ..A100
};

pub const L20: Record = Record {
    sm: 89,
    sms: 92,
    clock_mhz: 2520.0,
    mem_gb_per_s: 864.096,
    l2_gb_per_s: 4011.0,
    smem_kib: 100.0,
    tensor_bf16: 516.0,
    fma: 128.0,
    ..A100
};

pub const H800: Record = Record {
    sm: 90,
    sms: 132,
    clock_mhz: 1830.0,
    mem_gb_per_s: 3352.32,
    l2_gb_per_s: 8820.0,
    smem_kib: 228.0,
    tensor_bf16: 4096.0,
    tensor_fp8: Some(8192.0),
    fma: 128.0,
    xu: 16.0,
};

pub const H20: Record = Record {
    sms: 78,
    mem_gb_per_s: 4022.784,
    l2_gb_per_s: 8815.0,
    tensor_bf16: 1024.0,
    tensor_fp8: Some(2048.0),
    ..H800
};

/// Equal to a relative 1e-6: the vectors are given in f32.
pub fn assert_close(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!((got - expected).abs() <= 1e-6 * expected.abs(), "feature {index}: {got}, not {expected}");
    }
}

/// `(new, past)` tokens of each request.
pub fn attention(requests: &[(u64, u64)], heads: u64, kv_heads: u64, head_dim: u64) -> Attention {
    let sequences = requests.iter().map(|&(new, past)| Sequences { count: 1, new, past }).collect();
    Attention { phase: Phase::Prefill, sequences, heads, kv_heads, head_dim, kv: Dtype::Bf16, window: None }
}
