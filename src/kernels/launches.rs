//! Kernels that calls launch where no CUDA graph holds them: of those that are more than one.

use super::constants::constants;

constants!("eager_launches": quantised_product, experts, latent_block, sparse_block, delta_rule, scan);
