//! Kernels per call when launched without a CUDA graph, for calls with more than one.

use super::constants::constants;

constants!("eager_launches": quantised_product, experts, latent_block, sparse_block, delta_rule, scan);
