//! Training rows: features of measured calls, and what is learned about them.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::measured_calls::reference_sources;
use super::sample::{Selection, visit_sample};
use super::tables::TableError;
use crate::kernels::{Family, Schema};

/// Columns that follow the features in every row. All are f32; codes index the header's lists.
const EXTRA: [&str; 8] =
    ["ln_ideal_us", "ln_measured_us", "gpu", "engine", "kernel", "dtype", "source", "shape"];

/// Codes of the texts seen, in the order seen.
#[derive(Debug, Default)]
pub(super) struct Codes<K> {
    codes: HashMap<K, usize>,
}

impl<K: std::hash::Hash + Eq + Clone + Ord> Codes<K> {
    pub fn code(&mut self, key: &K) -> usize {
        let next = self.codes.len();
        *self.codes.entry(key.clone()).or_insert(next)
    }

    pub fn list(&self) -> Vec<K> {
        let mut all: Vec<_> = self.codes.iter().collect();
        all.sort_by_key(|(_, code)| **code);
        all.into_iter().map(|(key, _)| key.clone()).collect()
    }
}

/// The header of a file, before its rows.
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
    /// The reference comes first; it may be one source or several.
    pub sources: Vec<String>,
    /// Shapes held out together, as `MeasuredCall::point` gives them.
    pub shapes: Vec<[u64; 4]>,
    /// Rows of the tables left out for reasons other than sampling, counted by reason.
    pub skipped: BTreeMap<String, usize>,
}

/// Writes the rows of `family` found under `data`: the header's length as little-endian u32, the header
/// as JSON, then the rows as little-endian f32, row-major.
pub fn export(
    family: Family,
    data: &Path,
    selection: Selection,
    out: &mut impl Write,
) -> Result<Header, ExportError> {
    let mut rows: Vec<f32> = Vec::new();
    let (mut gpus, mut engines, mut kernels) = (Codes::default(), Codes::default(), Codes::default());
    let (mut dtypes, mut sources, mut shapes) = (Codes::default(), Codes::default(), Codes::default());
    let reference = reference_sources(family);
    sources.code(&reference.join(", "));
    let mut count = 0;
    let skipped = visit_sample(family, data, selection, &|_| true, &mut |measured, row| {
        count += 1;
        rows.extend(row.features);
        rows.extend([row.ideal.micros().ln() as f32, measured.micros.ln() as f32]);
        let codes = [
            gpus.code(&measured.gpu),
            engines.code(&measured.engine),
            kernels.code(&measured.kernel),
            dtypes.code(&measured.formats()),
            if reference.contains(&measured.source.as_str()) { 0 } else { sources.code(&measured.source) },
            shapes.code(&measured.point().shape),
        ];
        rows.extend(codes.map(|code| code as f32));
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

pub(super) fn write(header: &impl Serialize, rows: &[f32], out: &mut impl Write) -> Result<(), ExportError> {
    let json = serde_json::to_vec(header)?;
    out.write_all(&(json.len() as u32).to_le_bytes())?;
    out.write_all(&json)?;
    for value in rows {
        out.write_all(&value.to_le_bytes())?;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Dtype;
    use crate::kernels::measured::MeasuredCall;
    use crate::kernels::{
        Attention, Elementwise, ElementwiseKind, Moe, MoePart, Op, Phase, Pool, Routing, Sequences,
    };

    fn attention(phase: Phase, count: u64, new: u64, past: u64) -> MeasuredCall {
        let sequences = vec![Sequences { count, new, past }];
        let attention = Attention {
            phase,
            sequences,
            heads: 32,
            kv_heads: 8,
            head_dim: 128,
            kv: Dtype::Bf16,
            window: None,
        };
        MeasuredCall { kernel: "flashinfer".into(), ..MeasuredCall::example(Op::Attention(attention)) }
    }

    fn add_norm() -> MeasuredCall {
        let kind = ElementwiseKind::AddNorm;
        MeasuredCall::example(Op::Elementwise(Elementwise { kind, rows: 9, width: 4096 }))
    }

    fn moe(tokens: u64, kernel: &str, weights: Dtype) -> MeasuredCall {
        let (experts, topk, ep) = (128, 8, 4);
        let load = Routing::PowerLaw(1.2).load(&Pool { tokens, experts, topk, ep });
        let (hidden, inter, tp, gated, part) = (4096, 1536, 2, true, MoePart::Whole);
        let moe = Moe { tokens, hidden, inter, experts, topk, tp, ep, gated, weights, part, load };
        MeasuredCall { kernel: kernel.into(), ..MeasuredCall::example(Op::Moe(moe)) }
    }

    #[test]
    fn features_and_efficiencies_mean_the_same_ideal() {
        let calls = [
            (Family::Gemm, MeasuredCall::example_gemm(1)),
            (Family::Gemm, MeasuredCall::example_gemm(8192)),
            (Family::AttentionPrefill, attention(Phase::Prefill, 8, 4096, 0)),
            (Family::AttentionPrefill, attention(Phase::Prefill, 1, 16, 0)),
            (Family::AttentionDecode, attention(Phase::Decode, 64, 1, 4000)),
            (Family::Elementwise, add_norm()),
            (Family::Moe, moe(1, "moe_torch_flow_cutlass", Dtype::Fp8)),
            (Family::Moe, moe(8192, "sglang_fused_moe_triton", Dtype::Mxfp4)),
            (Family::Elementwise, add_norm()),
        ];
        for (family, call) in calls {
            let row = call.row().expect("a row");
            let names = family.schema().names;
            let of = |name: &str| {
                f64::from(row.features[names.iter().position(|column| *column == name).expect("a column")])
            };
            let ideal = of("ln_reference") - of("reference_over_ideal");
            let expected = row.ideal.micros().ln();
            assert!((ideal - expected).abs() < 1e-5, "{family:?}: {ideal} {expected}");
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
