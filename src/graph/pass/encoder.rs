//! The calls of a vision encoder: patches to embeddings, blocks over them, and a projector that makes tokens.
//!
//! Engines run it on every rank of the first stage before the prompt's first tokens, in 16 bits, its heads and
//! columns divided by TP like the model's (vLLM's and SGLang's default).
//!
//! Every patch attends to all others of its image or window, but the measured kernels are causal. A causal call of `n`
//! tokens after `n / 2` cached ones multiplies as many pairs (within `1 / 2n`) in the same tiles, so it stands in for
//! the call. It moves more bytes, because it reads and writes the cache, but images of any size are bound by their
//! FLOP.

use super::{ACTIVATION_BYTES, Calls, ElementwiseKind, Layout};
use crate::config::Dtype;
use crate::config::model::{Dense, Model, Vision};
use crate::graph::{Batch, Block, Call};
use crate::kernels::{Attention, Collective, Gemm, Phase, Sequences};
use crate::units::Bytes;

/// All calls that make `tokens` tokens of each of these images, in one pass over all of them.
pub fn encoder(vision: &Vision, layout: &Layout, images: u64, tokens: u64) -> Vec<Call> {
    let patches = tokens * u64::from(vision.merge);
    let calls = Calls::new(&Model::default(), layout, &Batch::default(), None);
    let mut calls = Calls {
        tokens: images * patches,
        hidden: u64::from(vision.hidden),
        within: Some(Block::Encoder),
        ..calls
    };
    calls.encode(vision, images, patches);
    calls.project(vision, images * tokens);
    calls.list
}

impl Calls<'_> {
    fn encode(&mut self, vision: &Vision, images: u64, patches: u64) {
        let (of, layers) = (Block::Encoder, u64::from(vision.layers));
        let width = self.hidden;
        let heads = u64::from(vision.heads).div_ceil(u64::from(self.layout.parallel.tp));
        let head_dim = width.div_ceil(u64::from(vision.heads));
        self.gemm(of, "patch_embedding", 1, width, vision.values(), Dtype::Bf16);
        self.element(of, "encoder_norm", 2 * layers + 1, ElementwiseKind::AddNorm, width);
        self.gemm(of, "encoder_qkv_proj", layers, 3 * heads * head_dim, width, Dtype::Bf16);
        let windowed = u64::from(vision.windowed.unwrap_or(0)).min(layers);
        let window = vision.window.map_or(patches, u64::from).clamp(1, patches);
        for (name, count, size) in [
            ("encoder_attention", layers - windowed, patches),
            ("encoder_window_attention", windowed, window),
        ] {
            if count > 0 {
                let alike = |count, new| Sequences { count, new, past: new / 2 };
                let mut sequences =
                    vec![alike(images * (patches / size), size), alike(images, patches % size)];
                sequences.retain(|group| group.new > 0);
                let attention = Attention {
                    phase: Phase::Prefill,
                    sequences,
                    heads,
                    kv_heads: heads,
                    head_dim,
                    kv: Dtype::Bf16,
                    window: None,
                };
                self.add(of, name, count, attention);
            }
        }
        self.gemm(of, "encoder_o_proj", layers, width, heads * head_dim, Dtype::Bf16);
        self.all_reduce(layers);
        let dense = Dense { intermediate: vision.intermediate, ungated: vision.ungated };
        self.mlp(["encoder_up_proj", "encoder_activation", "encoder_down_proj"], &dense, layers, Dtype::Bf16);
        self.all_reduce(layers);
    }

    /// GEMMs in pairs, the first sharded by columns and the second by rows; one without a second is not sharded.
    fn project(&mut self, vision: &Vision, tokens: u64) {
        let (count, tp) = (u64::from(vision.projectors), u64::from(self.layout.parallel.tp));
        let widths: Vec<u64> = vision.projector.iter().copied().map(u64::from).collect();
        for (index, pair) in widths.windows(2).enumerate() {
            let (is_second, has_second) = (index % 2 == 1, index + 2 < widths.len());
            let (k, n) = match (is_second, has_second) {
                (true, _) => (pair[0].div_ceil(tp), pair[1]),
                (false, true) => (pair[0], pair[1].div_ceil(tp)),
                (false, false) => (pair[0], pair[1]),
            };
            self.gemm_of(Block::Encoder, "projector", count, Gemm { m: tokens, n, k, weights: Dtype::Bf16 });
            if is_second && tp > 1 {
                let bytes = Bytes((tokens * n) as f64 * ACTIVATION_BYTES);
                self.collective(
                    "all_reduce",
                    count,
                    Collective::AllReduce { ranks: self.layout.parallel.tp, bytes },
                );
            }
        }
    }
}
