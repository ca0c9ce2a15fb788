//! Samples of measured calls that keep points whole.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::measured_calls::{FeatureRow, visit};
use super::tables::TableError;
use crate::kernels::Family;
use crate::kernels::measured::{MeasuredCall, REFERENCE_SOURCE, SUSPECT};
use crate::units::random::SplitMix64;

/// A secondary source's share, when sampling, of the rows that a GPU of the reference source gets.
const SECOND_SOURCE_SHARE: f64 = 0.25;

/// How many rows to take.
#[derive(Debug, Clone, Copy)]
pub struct Selection {
    /// Approximate maximum number of rows.
    pub sample: Option<usize>,
    pub seed: u64,
    /// Includes suspect rows, in addition to the sample, which is drawn without them.
    pub suspects: bool,
}

/// Passes every call of `family` under `data` that is `wanted`, covered by a model and kept by the sample to `take`,
/// with its features. Returns how many rows no model covers, by reason.
pub fn visit_sample(
    family: Family,
    data: &Path,
    selection: Selection,
    wanted: &dyn Fn(&MeasuredCall) -> bool,
    take: &mut dyn FnMut(MeasuredCall, FeatureRow),
) -> Result<BTreeMap<String, usize>, TableError> {
    let mut covered = Covered::default();
    let mut groups: HashMap<(String, String), f64> = HashMap::new();
    if selection.sample.is_some() {
        visit(family, data, &mut |measured| {
            if let Ok(measured) = measured
                && !measured.suspect
                && wanted(&measured)
                && covered.check(&measured, || measured.row()).is_ok()
            {
                *groups.entry((measured.gpu, measured.source)).or_default() += 1.0;
            }
        })?;
    }
    let shares = selection.sample.map(|sample| Shares::new(&groups, sample));
    let mut skipped: BTreeMap<String, usize> = BTreeMap::new();
    visit(family, data, &mut |measured| {
        let row = measured.and_then(|measured| {
            if !wanted(&measured) {
                return Ok(None);
            }
            if measured.suspect && !selection.suspects {
                return Err(format!("{SUSPECT} ({} on {})", measured.engine, measured.gpu));
            }
            covered.check(&measured, || measured.row())?;
            let kept = shares.as_ref().is_none_or(|shares| shares.keeps(&measured, selection.seed));
            if !kept {
                return Ok(None);
            }
            let row = measured.row()?;
            Ok(Some((measured, row)))
        });
        match row {
            Ok(Some((measured, row))) => take(measured, row),
            Ok(None) => {}
            Err(reason) => *skipped.entry(reason).or_default() += 1,
        }
    })?;
    Ok(skipped)
}

/// The combinations of GPU, engine, kernel and formats of which some call was covered. Computing features is expensive,
/// and whether a model covers a call seldom depends on its size.
#[derive(Default)]
struct Covered {
    known: HashSet<String>,
    key: String,
}

impl Covered {
    fn check(
        &mut self,
        measured: &MeasuredCall,
        row: impl FnOnce() -> Result<FeatureRow, String>,
    ) -> Result<(), String> {
        self.key.clear();
        for part in [&measured.gpu, &measured.engine, &measured.kernel, &measured.formats()] {
            self.key.push_str(part);
            self.key.push('|');
        }
        if !self.known.contains(&self.key) {
            row()?;
            self.known.insert(self.key.clone());
        }
        Ok(())
    }
}

/// The share of its points that each GPU and source keeps. A point is a shape at a size on one GPU: either all of its
/// engines and formats are kept, or none. Every GPU of the reference source keeps about the same number of rows, if it
/// has that many; secondary sources keep a quarter of that.
#[derive(Debug)]
struct Shares(HashMap<(String, String), f64>);

impl Shares {
    /// The shares that keep about `sample` of the `rows`, which are counted by GPU and source.
    fn new(rows: &HashMap<(String, String), f64>, sample: usize) -> Self {
        let weight = |source: &str| if source == REFERENCE_SOURCE { 1.0 } else { SECOND_SOURCE_SHARE };
        let kept = |quota: f64| -> f64 {
            rows.iter().map(|((_, source), &count)| count.min(quota * weight(source))).sum()
        };
        // The quota at which all groups together keep the sample, by bisection.
        let (mut low, mut high) = (0.0, rows.values().sum::<f64>() / SECOND_SOURCE_SHARE);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if kept(middle) < sample as f64 { low = middle } else { high = middle }
        }
        let share =
            |(key, count): (&(String, String), &f64)| (key.clone(), (high * weight(&key.1) / count).min(1.0));
        Self(rows.iter().map(share).collect())
    }

    fn keeps(&self, measured: &MeasuredCall, seed: u64) -> bool {
        let key = (measured.gpu.clone(), measured.source.clone());
        let share = self.0.get(&key).copied().unwrap_or(0.0);
        let point = measured.point();
        let numbers = point.shape.into_iter().chain(point.size);
        let hash = key.0.bytes().map(u64::from).chain(numbers).fold(mix(seed), |hash, part| mix(hash ^ part));
        (hash >> 11) as f64 / (1u64 << 53) as f64 <= share
    }
}

/// A hash: every bit of the input moves half of the output's.
fn mix(value: u64) -> u64 {
    SplitMix64::new(value).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampling_keeps_points_whole_and_about_the_share() {
        let key = ("l40s".to_owned(), REFERENCE_SOURCE.to_owned());
        let shares = Shares(HashMap::from([(key, 0.25)]));
        let kept = (1..4001).filter(|&m| shares.keeps(&MeasuredCall::example_gemm(m), 7)).count();
        assert!((900..1100).contains(&kept), "{kept}");
        for m in 1..100 {
            let other = MeasuredCall { engine: "vllm".into(), micros: 20.0, ..MeasuredCall::example_gemm(m) };
            assert_eq!(shares.keeps(&MeasuredCall::example_gemm(m), 7), shares.keeps(&other, 7));
        }
    }
}
