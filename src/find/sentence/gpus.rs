//! Names of GPUs that have several words: `RTX 4090`, `H200 SXM`.

use std::cmp::Reverse;

use crate::config::catalog::catalog;
use crate::units::Order;

/// The text with these GPUs' names replaced by their ids.
pub fn by_id(text: &str) -> String {
    let gpus = catalog().gpus.gpus.iter();
    let names = gpus.flat_map(|gpu| {
        let name = gpu.name.to_ascii_lowercase();
        let short = name.split(" (").next().unwrap_or_default().to_owned();
        // `RTX PRO 6000`, of which there are several.
        let series = gpu.id.rsplit_once('-').map_or("", |(series, _)| series);
        let is_series = series.ends_with(|letter: char| letter.is_ascii_digit());
        let series = Some((series.replace('-', " "), series)).filter(|_| is_series);
        [(gpu.id.replace('-', " "), &*gpu.id), (name, &*gpu.id), (short, &*gpu.id)].into_iter().chain(series)
    });
    let mut names: Vec<(String, &str)> = names.filter(|(name, _)| name.contains(' ')).collect();
    // One name may be the beginning of another: `RTX 4080`, `RTX 4080 SUPER`.
    names.order_by_key(|(name, _)| Reverse(name.len()));
    names.into_iter().fold(text.to_owned(), |text, (name, id)| replaced(&text, &name, id))
}

/// Whole words only, in any case.
pub fn replaced(text: &str, name: &str, id: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let (mut all, mut done) = (String::new(), 0);
    for (at, _) in lower.match_indices(name) {
        let is_part =
            |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '-');
        let end = at + name.len();
        if !is_part(lower[..at].chars().next_back()) && !is_part(lower[end..].chars().next()) {
            all += &text[done..at];
            all += id;
            done = end;
        }
    }
    all + &text[done..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_several_words_become_ids() {
        for (text, wanted) in [
            ("5 rps on RTX 4090", "5 rps on rtx-4090"),
            ("8 x GeForce RTX 4080 SUPER, H200 SXM", "8 x rtx-4080-super, h200-sxm"),
            ("A100 SXM4 80GB or a100 pcie 80gb", "a100-sxm-80gb or a100-pcie-80gb"),
            ("h100 b200, RTX 40900, H100 SXM5", "h100 b200, RTX 40900, H100 SXM5"),
            ("İ H200 SXM", "İ h200-sxm"),
            ("RTX PRO 6000, 4 x rtx pro 6000 server", "rtx-pro-6000, 4 x rtx-pro-6000-server"),
            ("DGX Spark", "gb10"),
        ] {
            assert_eq!(by_id(text), wanted);
        }
    }
}
