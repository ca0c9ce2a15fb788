//! GPUs as people and drivers write them: `RTX 4090`, `NVIDIA A100-SXM4-80GB`, `B200`.

use crate::config::Gpu;
use crate::config::catalog::{Catalog, catalog};

/// Words that name makers and brands, which ids and people leave out.
pub const BRANDS: [&str; 7] = ["nvidia", "amd", "intel", "geforce", "tesla", "instinct", "gpu"];

impl Catalog {
    /// The GPU with this id or name, in any case and with any punctuation between its words; otherwise the only GPU
    /// whose name begins with these words.
    pub fn gpu_named(&self, text: &str) -> Option<&Gpu> {
        let only = || match self.gpus_named(text)[..] {
            [only] => Some(only),
            _ => None,
        };
        self.gpu(text).or_else(only)
    }

    /// The GPUs that a name may mean.
    pub fn gpus_named(&self, text: &str) -> Vec<&Gpu> {
        let wanted = words(text);
        let joined = wanted.replace(' ', "");
        let mut found = Vec::new();
        // Other punctuation marks a different kind of text, such as a list or a program, even if it contains a name.
        if text.contains(|mark: char| mark.is_ascii_punctuation() && !"-_./()+".contains(mark)) {
            return found;
        }
        for whole in [true, false] {
            for gpu in &self.gpus.gpus {
                let is = |name: &str| {
                    let own = words(name);
                    if whole { own.replace(' ', "") == joined } else { own.starts_with(&wanted) }
                };
                if !wanted.is_empty() && (is(&gpu.id) || is(&gpu.name)) {
                    found.push(gpu);
                }
            }
            if !found.is_empty() {
                break;
            }
        }
        found
    }
}

/// The words of `text` in lower case, each followed by a space, without brands. All generations of a socket have the
/// same name.
fn words(text: &str) -> String {
    let mut all = String::new();
    for word in text.to_ascii_lowercase().split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric()) {
        let word = if word.starts_with("sxm") { "sxm" } else { word.strip_prefix("rtx").unwrap_or(word) };
        if !word.is_empty() && !BRANDS.contains(&word) {
            all += word;
            all.push(' ');
        }
    }
    all
}

/// The catalog id for a GPU's name; the text itself if it names none, or several.
pub fn gpu_id(text: &str) -> &str {
    catalog().gpu_named(text).map_or(text, |gpu| &gpu.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_found_by_every_way_to_write_it() {
        for (text, id) in [
            ("h200-sxm", "h200-sxm"),
            ("H200 SXM", "h200-sxm"),
            ("h200", "h200-sxm"),
            ("B200", "b200"),
            ("NVIDIA B200", "b200"),
            ("RTX 4090", "rtx-4090"),
            ("GeForce RTX 4090", "rtx-4090"),
            ("rtx4090", "rtx-4090"),
            ("RTX 4080 Super", "rtx-4080-super"),
            ("RTX 4080", "rtx-4080"),
            ("A6000", "rtx-a6000"),
            ("RTX A6000", "rtx-a6000"),
            ("NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"),
            ("H100 SXM5", "h100-sxm"),
            ("H100_PCIe", "h100-pcie"),
            ("AMD Instinct MI300X", "mi300x"),
            ("L40S", "l40s"),
            ("DGX Spark", "gb10"),
            ("RTX 6000 Ada", "rtx-6000-ada"),
        ] {
            assert_eq!(gpu_id(text), id, "{text}");
        }
    }

    #[test]
    fn every_id_and_name_of_the_catalog_is_its_own() {
        for gpu in &catalog().gpus.gpus {
            for text in [gpu.id.to_uppercase(), gpu.name.clone()] {
                assert_eq!(gpu_id(&text), gpu.id, "{text}");
            }
        }
    }

    #[test]
    fn a_name_of_several_or_of_none_stays_as_it_is() {
        for (text, several) in [
            ("H100", &["h100-pcie", "h100-nvl", "h100-sxm"][..]),
            ("RTX PRO 6000", &["rtx-pro-6000-server", "rtx-pro-6000-workstation", "rtx-pro-6000-max-q"]),
            ("H100 SXM 40GB", &[]),
            ("H10", &[]),
            ("NVIDIA", &[]),
            ("() => 'l4'", &[]),
            ("", &[]),
        ] {
            assert_eq!(gpu_id(text), text);
            let ids: Vec<&str> = catalog().gpus_named(text).into_iter().map(|gpu| &*gpu.id).collect();
            assert_eq!(ids, several, "{text}");
        }
    }
}
