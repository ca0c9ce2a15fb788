//! Cloud machine types given in place of a GPU, such as `p5.48xlarge`, and the labels of nodes.

use crate::config::catalog::catalog;
use crate::config::gpu::Gpu;

/// A line for each machine type in `static/catalog/machines.json`: name, GPU, and number of GPUs.
const MACHINES: &str = include_str!(concat!(env!("OUT_DIR"), "/machines.txt"));

/// A line for each label of a node's GPU that is no name in the catalog: the label and the GPU.
const LABELS: &str = include_str!(concat!(env!("OUT_DIR"), "/labels.txt"));

fn machines() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    MACHINES.lines().filter_map(|line| {
        let (name, of) = line.split_once(' ')?;
        let (gpu, count) = of.split_once(' ')?;
        Some((name, gpu, count))
    })
}

/// The GPU of a node with this label: its product, or the type of the machine.
pub fn of_node(label: &str) -> Option<&'static Gpu> {
    let is = |name: &str| name.eq_ignore_ascii_case(label);
    let labelled = LABELS.lines().filter_map(|line| line.split_once(' ')).find(|(name, _)| is(name));
    let named = || catalog().gpu_named(labelled.map_or(label, |(_, id)| id));
    of_machine(label).map(|(gpu, _)| gpu).or_else(named)
}

/// The GPU of a machine type, and what it has: `p5.48xlarge has 8 × H100 SXM`. `None` for other words.
pub fn of_machine(text: &str) -> Option<(&'static Gpu, String)> {
    let (name, id, gpus) = machines().find(|(name, ..)| name.eq_ignore_ascii_case(text.trim()))?;
    let gpu = catalog().gpu(id)?;
    Some((gpu, format!("{name} has {gpus} × {}", gpu.name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_has_a_known_gpu_and_a_source() {
        let text = include_str!("../../../static/catalog/machines.json");
        let file: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let listed = file["machines"].as_array().expect("a list");
        assert_eq!(machines().count(), listed.len());
        for of in listed {
            let name = of[0].as_str().expect("a name");
            assert!(of_machine(name).is_some() && of[2].as_u64() > Some(0), "{name}");
            let source = of[3].as_str().expect("a source");
            assert!(file["sources"][source]["url"].is_string(), "{name}");
        }
        for of in file["labels"].as_array().expect("a list") {
            let [name, gpu, source] = [0, 1, 2].map(|at| of[at].as_str().expect("a word"));
            assert_eq!(of_node(name).map(|gpu| &*gpu.id), Some(gpu), "{name}");
            assert!(file["sources"][source]["url"].is_string(), "{name}");
        }
        let (gpu, said) = of_machine("P5.48xlarge").expect("a type of machine");
        assert_eq!((&*gpu.id, &*said), ("h100-sxm", "p5.48xlarge has 8 × H100 SXM"));
        assert!(of_machine("h100").is_none());
    }
}
