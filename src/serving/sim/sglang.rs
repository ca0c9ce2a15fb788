//! SGLang's memory reserve and counters: figures from `static/catalog/constants.json`.

use crate::kernels::constants::constants;

constants!(
    "sglang":
    first_share, least_of_first, share_steps, clip_new_tokens, look_ahead_reserve, retract_steps, prefill_receive_count,
);
