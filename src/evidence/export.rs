//! Training rows: features of measured calls, and what is learned about them.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::measured::{Key, Measured, REFERENCE_SOURCE, visit};
use super::tables::TableError;
use crate::config::MissingFigure;
use crate::config::catalog::{Catalog, Physics};
use crate::features::{self, Cache, Family, Launching, Schema};
use crate::kernels;
use crate::latency::Ideal;

/// Columns that follow the features in every row. All are f32; codes index the header's lists.
const EXTRA: [&str; 8] =
    ["ln_ideal_us", "ln_measured_us", "gpu", "engine", "kernel", "dtype", "source", "shape"];

/// A second source's share of the rows a GPU of the reference source gets, when sampling.
const SECOND_SOURCE_SHARE: f64 = 0.25;

/// What to export.
#[derive(Debug, Clone, Copy)]
pub struct Selection {
    /// Rows at most, about.
    pub sample: Option<usize>,
    pub seed: u64,
}

/// Codes of the texts seen, in the order seen.
#[derive(Debug, Default)]
struct Codes<K> {
    codes: HashMap<K, usize>,
}

impl<K: std::hash::Hash + Eq + Clone + Ord> Codes<K> {
    fn code(&mut self, key: &K) -> usize {
        let next = self.codes.len();
        *self.codes.entry(key.clone()).or_insert(next)
    }

    fn list(&self) -> Vec<K> {
        let mut all: Vec<_> = self.codes.iter().collect();
        all.sort_by_key(|(_, code)| **code);
        all.into_iter().map(|(key, _)| key.clone()).collect()
    }
}

/// What stands before the rows of a file.
#[derive(Debug, Serialize)]
pub struct Header {
    #[serde(flatten)]
    pub schema: Schema,
    /// Every column of a row: the features, then the extra ones.
    pub columns: Vec<String>,
    pub rows: usize,
    pub gpus: Vec<String>,
    pub engines: Vec<String>,
    pub kernels: Vec<String>,
    pub dtypes: Vec<String>,
    /// The first is the reference.
    pub sources: Vec<String>,
    /// Shapes held out together, as `Measured::shape` gives them.
    pub shapes: Vec<Key>,
    /// Rows of the tables that are not here for another reason than sampling, by reason.
    pub skipped: BTreeMap<String, usize>,
}

/// A call's row, and its place in the header's lists.
struct Training {
    features: Vec<f32>,
    ln_ideal: f64,
}

/// Writes the rows of `family` found under `data`: the header's length as little-endian u32, the header
/// as JSON, then the rows as little-endian f32, row-major.
///
/// Sampling keeps points (a shape at a size on one GPU) whole: all engines and formats, or none. Every
/// GPU of the reference source gets an equal share, as far as it has rows; second sources a quarter.
///
/// # Errors
/// Where a table cannot be read or the output not be written.
pub fn export(
    family: Family,
    data: &Path,
    selection: Selection,
    catalog: &Catalog,
    physics: &Physics,
    out: &mut impl Write,
) -> Result<Header, ExportError> {
    let kept = shares(family, data, selection, |measured| training(measured, catalog, physics).is_ok())?;
    let mut rows: Vec<f32> = Vec::new();
    let mut skipped: BTreeMap<String, usize> = BTreeMap::new();
    let (mut gpus, mut engines, mut kernels) = (Codes::default(), Codes::default(), Codes::default());
    let (mut dtypes, mut sources, mut shapes) = (Codes::default(), Codes::default(), Codes::default());
    sources.code(&REFERENCE_SOURCE.to_owned());
    let mut count = 0;
    visit(family, data, &mut |measured| {
        let training = match &measured {
            Ok(measured) => match training(measured, catalog, physics) {
                Ok(_) if !kept.keeps(measured, selection.seed) => return,
                training => training,
            },
            Err(reason) => Err(reason.clone()),
        };
        match (measured, training) {
            (Ok(measured), Ok(training)) => {
                count += 1;
                rows.extend(training.features);
                rows.extend([training.ln_ideal as f32, measured.micros.ln() as f32]);
                let codes = [
                    gpus.code(&measured.gpu),
                    engines.code(&measured.engine),
                    kernels.code(&measured.kernel),
                    dtypes.code(&measured.format()),
                    sources.code(&measured.source),
                    shapes.code(&measured.shape()),
                ];
                rows.extend(codes.map(|code| code as f32));
            }
            (_, Err(reason)) => *skipped.entry(reason).or_default() += 1,
            (Err(reason), Ok(_)) => *skipped.entry(reason).or_default() += 1,
        }
    })?;
    let schema = family.schema();
    let columns = schema.names.iter().copied().chain(EXTRA).map(str::to_owned).collect();
    let header = Header {
        schema,
        columns,
        rows: count,
        gpus: gpus.list(),
        engines: engines.list(),
        kernels: kernels.list(),
        dtypes: dtypes.list(),
        sources: sources.list(),
        shapes: shapes.list(),
        skipped,
    };
    write(&header, &rows, out)?;
    Ok(header)
}

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Table(#[from] TableError),
    #[error("the header: {0}")]
    Header(#[from] serde_json::Error),
    #[error("the output: {0}")]
    Output(#[from] io::Error),
}

fn write(header: &Header, rows: &[f32], out: &mut impl Write) -> Result<(), ExportError> {
    let json = serde_json::to_vec(header)?;
    out.write_all(&(json.len() as u32).to_le_bytes())?;
    out.write_all(&json)?;
    for value in rows {
        out.write_all(&value.to_le_bytes())?;
    }
    Ok(out.flush()?)
}

fn training(measured: &Measured, catalog: &Catalog, physics: &Physics) -> Result<Training, String> {
    let gpu = catalog.gpu(&measured.gpu).ok_or_else(|| format!("no record of {}", measured.gpu))?;
    let launching = Launching {
        gpu,
        engine: &measured.engine,
        kernel: &measured.kernel,
        math: measured.dtype,
        cache: Cache::Repeated,
        floor: physics.launch_floor,
    };
    let missing = |error: MissingFigure| error.to_string();
    let row = features::row_in(&measured.op, &launching).map_err(missing)?;
    let (_, features) =
        row.ok_or_else(|| format!("no model for {} by {}", measured.format(), measured.kernel))?;
    let count = kernels::count(&measured.op, gpu).map_err(missing)?;
    let ideal = Ideal::of(&count, gpu, physics).map_err(missing)?;
    Ok(Training { features, ln_ideal: ideal.time.micros().ln() })
}

/// The share of its points that each GPU and source keeps.
struct Shares(HashMap<(String, String), f64>);

fn shares(
    family: Family,
    data: &Path,
    selection: Selection,
    usable: impl Fn(&Measured) -> bool,
) -> Result<Shares, TableError> {
    let Some(sample) = selection.sample else { return Ok(Shares(HashMap::new())) };
    let mut rows: HashMap<(String, String), f64> = HashMap::new();
    visit(family, data, &mut |measured| {
        if let Ok(measured) = measured
            && usable(&measured)
        {
            *rows.entry((measured.gpu, measured.source)).or_default() += 1.0;
        }
    })?;
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
    let share = |((gpu, source), count): ((String, String), f64)| {
        let share = (high * weight(&source) / count).min(1.0);
        ((gpu, source), share)
    };
    Ok(Shares(rows.into_iter().map(share).collect()))
}

impl Shares {
    fn keeps(&self, measured: &Measured, seed: u64) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let key = (measured.gpu.clone(), measured.source.clone());
        let share = self.0.get(&key).copied().unwrap_or(0.0);
        let (shape, size) = (measured.shape(), measured.size());
        let numbers = shape.into_iter().chain(size);
        let hash = key.0.bytes().map(u64::from).chain(numbers).fold(mix(seed), |hash, part| mix(hash ^ part));
        (hash >> 11) as f64 / (1u64 << 53) as f64 <= share
    }
}

/// The finaliser of SplitMix64: every bit of the input moves half of the output's.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Dtype;
    use crate::config::catalog::catalog;
    use crate::graph::{Attention, Gemm, Op, Phase, Sequences};

    fn physics() -> Physics {
        catalog().constants.physics().expect("complete")
    }

    fn measured(op: Op) -> Measured {
        Measured {
            source: REFERENCE_SOURCE.into(),
            gpu: "l40s".into(),
            engine: "sglang".into(),
            kernel: "flashinfer".into(),
            dtype: Dtype::Bf16,
            op,
            micros: 10.0,
        }
    }

    fn gemm(m: u64) -> Measured {
        measured(Op::Gemm(Gemm { m, n: 4096, k: 4096, weights: Dtype::Bf16 }))
    }

    fn attention(phase: Phase, count: u64, new: u64, past: u64) -> Measured {
        let sequences = vec![Sequences { count, new, past }];
        let attention =
            Attention { phase, sequences, heads: 32, kv_heads: 8, head_dim: 128, kv: Dtype::Bf16 };
        measured(Op::Attention(attention))
    }

    #[test]
    fn features_and_efficiencies_mean_the_same_ideal() {
        let calls = [
            (Family::Gemm, gemm(1)),
            (Family::Gemm, gemm(8192)),
            (Family::AttentionPrefill, attention(Phase::Prefill, 8, 4096, 0)),
            (Family::AttentionPrefill, attention(Phase::Prefill, 1, 16, 0)),
            (Family::AttentionDecode, attention(Phase::Decode, 64, 1, 4000)),
        ];
        for (family, call) in calls {
            let row = training(&call, catalog(), &physics()).expect("a row");
            let names = family.schema().names;
            let of = |name: &str| {
                f64::from(row.features[names.iter().position(|column| *column == name).expect("a column")])
            };
            let ideal = of("ln_reference") - of("reference_over_ideal");
            assert!((ideal - row.ln_ideal).abs() < 1e-5, "{family:?}: {ideal} {}", row.ln_ideal);
        }
    }

    #[test]
    fn sampling_keeps_points_whole_and_about_the_share() {
        let key = ("l40s".to_owned(), REFERENCE_SOURCE.to_owned());
        let shares = Shares(HashMap::from([(key, 0.25)]));
        let kept = (1..4001).filter(|&m| shares.keeps(&gemm(m), 7)).count();
        assert!((900..1100).contains(&kept), "{kept}");
        for m in 1..100 {
            let other = Measured { engine: "vllm".into(), micros: 20.0, ..gemm(m) };
            assert_eq!(shares.keeps(&gemm(m), 7), shares.keeps(&other, 7));
        }
    }

    #[test]
    fn the_header_says_how_to_read_the_rows() {
        let header = Header {
            schema: Family::Gemm.schema(),
            columns: vec!["a".into(), "b".into()],
            rows: 1,
            gpus: vec![],
            engines: vec![],
            kernels: vec![],
            dtypes: vec![],
            sources: vec![],
            shapes: vec![],
            skipped: BTreeMap::new(),
        };
        let mut file = Vec::new();
        write(&header, &[1.0, 2.5], &mut file).expect("memory");
        let length = u32::from_le_bytes(file[..4].try_into().expect("four bytes")) as usize;
        let json: serde_json::Value = serde_json::from_slice(&file[4..4 + length]).expect("JSON");
        assert_eq!((&json["family"], &json["rows"]), (&"gemm".into(), &1.into()));
        assert_eq!(file.len(), 4 + length + 8);
        assert_eq!(file[file.len() - 4..], 2.5f32.to_le_bytes());
    }
}
