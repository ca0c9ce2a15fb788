//! Options of CUDA graphs.

use serde_json::Value;

use super::apply::CommandReader;
use super::flags::Flag;
use super::options::Setting;
use crate::config::{Field, Scenario};

impl CommandReader {
    /// What `flag` says about CUDA graphs. Eager mode wins, wherever it stands.
    pub fn graphs(&mut self, scenario: &mut Scenario, setting: Setting, flag: &Flag) {
        let largest = &mut scenario.overrides.largest_graph;
        let is_eager = *largest == Some(0);
        match setting {
            Setting::Eager if flag.on() => *largest = Some(0),
            Setting::GraphMode if flag.value.as_deref().is_some_and(is_none) => *largest = Some(0),
            // vLLM's level 0 neither compiles nor captures.
            Setting::OptimizationLevel if level(flag) == Some(0.0) => *largest = Some(0),
            Setting::GraphSizes if !is_eager => match largest_of(flag) {
                Some(most) => *largest = Some(most),
                None => self.unknown(flag),
            },
            Setting::LargestGraph if !is_eager => {
                scenario.overrides.largest_graph = self.whole(Field::LargestGraph, flag);
            }
            // The default says which steps replay whole graphs; other modes leave more to be launched.
            Setting::GraphMode if !flag.value.as_deref().is_some_and(is_default) => self.unknown(flag),
            _ => {}
        }
    }

    /// vLLM's JSON of compilation options, each of which is also an option of its own.
    pub fn compilation(&mut self, flag: &Flag) -> Vec<Flag> {
        let text = flag.value.as_deref().unwrap_or_default();
        let Ok(Value::Object(options)) = serde_json::from_str(text.trim_matches(['\'', '"'])) else {
            self.unknown(flag);
            return Vec::new();
        };
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        options.iter().map(|(name, value)| Flag::new(name, Some(&text(value)))).collect()
    }
}

/// vLLM's level of optimisation, from 0 to 3, if `-O` gives one.
pub fn level(flag: &Flag) -> Option<f64> {
    let within = flag.name.strip_prefix('o').and_then(|level| level.parse().ok());
    within.or_else(|| flag.number()).filter(|level| (0.0..=3.0).contains(level))
}

fn is_none(mode: &str) -> bool {
    mode.eq_ignore_ascii_case("none") || mode == "0"
}

fn is_default(mode: &str) -> bool {
    mode.eq_ignore_ascii_case("full_and_piecewise")
}

/// The largest of several sizes, separated by anything.
fn largest_of(flag: &Flag) -> Option<u32> {
    let sizes = flag.value.as_deref()?.split(|c: char| !c.is_ascii_digit());
    sizes.filter_map(|size| size.parse().ok()).max()
}
