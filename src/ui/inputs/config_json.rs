//! A model of one's own: its `config.json`.

use super::own_text::Own;
use crate::config::Field;

pub static CONFIG_JSON: Own = Own {
    id: "config-json",
    field: Field::Model,
    summary: "Use your own config.json",
    hint: "Paste it, or drop the file here. It stays in your browser and in the link.",
    take: "Use this model",
    accept: ".json,application/json",
    // The largest published ones have some tens of kilobytes.
    longest: 1e6,
    too_long: "this file is too large for a config.json",
    // The list of models names it.
    held: |_| String::new(),
    holds: ["", ""],
    end: |_| (),
};
