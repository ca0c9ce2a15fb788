//! Recurrences instead of attention: delta rules and Mamba.

use super::{Calls, ElementwiseKind, verified};
use crate::config::Dtype;
use crate::config::model::{self, Gates};
use crate::graph::{Batch, Block, Scope};
use crate::kernels::{ACTIVATION_BYTES, CausalConv, Collective, DeltaRule, Phase, Scan, Sequences};
use crate::units::Bytes;

impl Calls<'_> {
    pub(super) fn delta(&mut self, delta: &model::Delta, count: u64, batch: &Batch) {
        let (hidden, tp) = (self.hidden, u64::from(self.layout.parallel.tp));
        let weights = self.formats.attention;
        let of = Block::Recurrence;
        let share = |number: u32| u64::from(number).div_ceil(tp);
        let (key_heads, value_heads) = (share(delta.key_heads), share(delta.value_heads));
        let (key_dim, value_dim) = (u64::from(delta.key_dim), u64::from(delta.value_dim));
        let (keys, values) = (key_heads * key_dim, value_heads * value_dim);
        let channels = 2 * keys + values;
        let older = self.layout.older_delta_rules;
        match delta.gates {
            Gates::PerHead if older && delta.joined != Some(true) => {
                self.gemm(of, "in_proj_qkv", count, channels, hidden, weights);
                self.gemm(of, "in_proj_z", count, values, hidden, weights);
                self.gemm(of, "in_proj_b", count, value_heads, hidden, Dtype::Bf16);
                self.gemm(of, "in_proj_a", count, value_heads, hidden, Dtype::Bf16);
            }
            Gates::PerHead => {
                self.gemm(of, "in_proj_qkvz", count, channels + values, hidden, weights);
                self.gemm(of, "in_proj_ba", count, 2 * value_heads, hidden, Dtype::Bf16);
            }
            Gates::PerChannel => {
                self.gemm(of, "qkv_proj", count, channels, hidden, weights);
                let full = delta.full_gate == Some(true);
                let narrow = key_dim + value_heads + if full { values } else { value_dim };
                self.gemm(of, "gates_a_proj", count, narrow, hidden, weights);
                self.gemm(of, "decay_b_proj", count, keys, key_dim, weights);
                if !full {
                    self.gemm(of, "gate_b_proj", count, values, value_dim, weights);
                }
            }
        }
        for (phase, sequences) in verified(batch) {
            self.scope = Scope::Lengths(phase);
            self.convolution(phase, &sequences, channels, delta.taps, count);
            let delta = DeltaRule { phase, sequences, key_heads, value_heads, key_dim, value_dim };
            self.add(of, phase.choose("delta_rule_prefill", "delta_rule_decode"), count, delta);
        }
        self.scope = self.base;
        if older && delta.gates == Gates::PerHead {
            for (name, width) in [("copy_q", keys), ("copy_k", keys), ("copy_v", values)] {
                self.element(of, name, count, ElementwiseKind::Copy, width);
            }
        }
        self.element(of, "gated_norm", count, ElementwiseKind::SiluMul, values);
        self.gemm(of, "out_proj", count, hidden, values, weights);
    }

    pub(super) fn mamba(&mut self, mamba: &model::Mamba, count: u64, batch: &Batch) {
        let (hidden, tp) = (self.hidden, u64::from(self.layout.parallel.tp));
        let weights = self.formats.attention;
        let of = Block::Recurrence;
        let heads = u64::from(mamba.heads).div_ceil(tp);
        // A group is replicated on the ranks that share its heads.
        let groups = u64::from(mamba.groups).div_ceil(tp);
        let (head_dim, state) = (u64::from(mamba.head_dim), u64::from(mamba.state));
        let width = heads * head_dim;
        let channels = width + if mamba.rank.is_some() { 0 } else { 2 * groups * state };
        let steps = if mamba.rank.is_some() { 0 } else { heads };
        self.gemm(of, "in_proj", count, width + channels + steps, hidden, weights);
        if let Some(rank) = mamba.rank {
            // Between convolution and scan.
            let selected = u64::from(mamba.selected(rank));
            self.gemm(of, "x_proj", count, selected, width, weights);
            if tp > 1 {
                let bytes = Bytes((self.tokens * selected) as f64 * ACTIVATION_BYTES);
                let ranks = self.layout.parallel.tp;
                self.collective("all_reduce", count, Collective::AllReduce { ranks, bytes });
            }
            self.element(of, "select_norm", count, ElementwiseKind::Norm, selected);
            self.gemm(of, "dt_proj", count, width, u64::from(rank), weights);
        }
        for (phase, sequences) in verified(batch) {
            self.scope = Scope::Lengths(phase);
            if mamba.taps > 1 {
                self.convolution(phase, &sequences, channels, mamba.taps, count);
            }
            let scan = Scan { phase, sequences, heads, head_dim, groups, state };
            self.add(of, phase.choose("ssm_scan_prefill", "ssm_scan_decode"), count, scan);
        }
        self.scope = self.base;
        // The scan of Mamba-1 applies the gate.
        if mamba.rank.is_none() {
            self.element(of, "gated_norm", count, ElementwiseKind::SiluMul, width);
        }
        self.gemm(of, "out_proj", count, hidden, width, weights);
    }

    fn convolution(&mut self, phase: Phase, sequences: &[Sequences], channels: u64, taps: u32, count: u64) {
        let call = CausalConv { phase, sequences: sequences.to_vec(), channels, taps: u64::from(taps) };
        let name = phase.choose("causal_conv1d_prefill", "causal_conv1d_decode");
        self.add(Block::Recurrence, name, count, call);
    }
}
