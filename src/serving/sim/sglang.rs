//! SGLang's memory reserve and counters: figures from `static/catalog/constants.json`.

pub(crate) use crate::config::catalog::numbers::sglang::constants;
