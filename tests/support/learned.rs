//! The answers of the shipped models.

use std::sync::LazyLock;

use rooflight::efficiency::onnx::Models;
use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::evidence::models::shipped_models;

pub static MODELS: LazyLock<Models> = LazyLock::new(|| shipped_models().expect("the shipped models load"));

pub fn learned(rows: &Rows) -> Result<Efficiencies, String> {
    MODELS.answer(rows).map(Efficiencies::Learned).map_err(|error| error.to_string())
}
