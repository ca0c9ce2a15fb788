//! Import of Hugging Face `config.json`.
