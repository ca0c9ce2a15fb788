//! Machines that clouds rent, where a GPU is meant: `p5.48xlarge`.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::config::catalog::catalog;
use crate::config::objects::from_json;

/// `static/catalog/machines.json`: the name of a type, its GPU and how many it has, the source.
#[derive(Deserialize)]
struct Machines {
    machines: Vec<(String, String, u32, String)>,
}

static MACHINES: LazyLock<Machines> = LazyLock::new(|| {
    let read = from_json(include_str!("../../../static/catalog/machines.json"));
    read.unwrap_or_else(|fault| panic!("static/catalog/machines.json: {fault}: a test reads it"))
});

/// Which GPUs a type of machine has: `p5.48xlarge has 8 x H100 SXM: choose h100-sxm`. `None` for other words.
pub fn of_machine(text: &str) -> Option<String> {
    let (name, id, gpus, _) =
        MACHINES.machines.iter().find(|(name, ..)| name.eq_ignore_ascii_case(text.trim()))?;
    Some(format!("{name} has {gpus} x {}: choose {id}", catalog().gpu(id)?.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_has_a_known_gpu_and_a_source() {
        let text = include_str!("../../../static/catalog/machines.json");
        let file: serde_json::Value = serde_json::from_str(text).expect("JSON");
        for (name, _, gpus, source) in &MACHINES.machines {
            assert!(of_machine(name).is_some() && *gpus > 0, "{name}");
            assert!(file["sources"][source]["url"].is_string(), "{name}");
        }
        let said = of_machine("P5.48xlarge").expect("a type of machine");
        assert_eq!(said, "p5.48xlarge has 8 x H100 SXM: choose h100-sxm");
        assert!(of_machine("h100").is_none());
    }
}
