//! The reference, PipeWeave's kernel calculators (arXiv 2601.14910), against vectors computed with their published code.
//!
//! The numbers agree to 1e-6, so their quirks stay:
//!
//! * bandwidths are read as GiB/s, so memory cycles are 6.9 % low (`counts`);
//! * attention counts one of K and V, no output, and special-function work of a fixed tile;
//! * FlashAttention-2 records a schedule that no hardware follows (`fa2`);
//! * FlashAttention-3 counts a single head of very long batches (`fa3`);
//! * SiLU-and-mul loops over twice the width that its kernel does.
//!
//! Causal attention and bf16 operands unless a name says otherwise.
//!
//! Some vectors are in `tests/data/reference_vectors.json`, a few of them only the first features. All published ones and
//! their hardware records are read from the data folder (`ROOFLIGHT_DATA`, by default `../shared/data`); without it that
//! test says so and passes.

mod attention;
mod counts;
mod elementwise;
mod fa2;
mod fa3;
mod gemm_fp8;

use std::collections::BTreeMap;
use std::path::PathBuf;

use attention::KvLayout;
use counts::{AttentionCounts, of_tensor};
use elementwise::{rmsnorm, silu_mul};
use fa2::fa2;
use fa3::fa3;
use gemm_fp8::gemm_fp8;

use rooflight::config::Dtype;
use rooflight::config::catalog::catalog;
use rooflight::kernels::reference::{Record, TileChoice, gemm};
use rooflight::kernels::{Attention, Phase, Sequences};
use serde::Deserialize;

/// Vectors are given in f32.
const TOLERANCE: f64 = 1e-6;

#[derive(Deserialize)]
struct Vector {
    hw: String,
    #[serde(flatten)]
    operator: Operator,
    features: Vec<f64>,
    sum_cycle: Option<f64>,
}

#[derive(Deserialize)]
#[serde(tag = "op", content = "problem", rename_all = "lowercase")]
enum Operator {
    Gemm {
        m: u64,
        n: u64,
        k: u64,
        tile: [u32; 3],
        cta: u64,
        is_split_k: bool,
    },
    #[serde(rename = "gemm_fp8")]
    GemmFp8 {
        m: u64,
        n: u64,
        k: u64,
    },
    #[serde(rename = "attn")]
    Attention(AttentionProblem),
    RmsNorm {
        rows: u64,
        dim: u64,
    },
    SiluAndMul {
        rows: u64,
        dim: u64,
    },
}

#[derive(Deserialize)]
struct AttentionProblem {
    kind: String,
    q: Vec<u64>,
    kv: Vec<u64>,
    nh: u64,
    nkv: u64,
    hd: u64,
    causal: bool,
}

impl Operator {
    /// Features and main-pipe cycles.
    fn count(&self, record: &Record) -> (Vec<f64>, f64) {
        match *self {
            Self::Gemm { m, n, k, tile, cta, is_split_k } => {
                let persistent = record.hopper() && !is_split_k;
                of_tensor(&gemm([m, n, k], &TileChoice { tile, cta, persistent }, record), record)
            }
            Self::GemmFp8 { m, n, k } => {
                of_tensor(&gemm_fp8([m, n, k], record).expect("the record has an FP8 rate"), record)
            }
            Self::Attention(ref problem) => {
                let counts = problem.count(record);
                (counts.features(record), counts.sum_cycle(record))
            }
            Self::RmsNorm { rows, dim } => {
                let counts = rmsnorm(rows, dim, record);
                (counts.features(record), counts.sum_cycle(record))
            }
            Self::SiluAndMul { rows, dim } => {
                let counts = silu_mul(rows, dim, record);
                (counts.features(record), counts.sum_cycle(record))
            }
        }
    }
}

impl AttentionProblem {
    fn count(&self, record: &Record) -> AttentionCounts {
        assert!(self.causal, "every vector is causal");
        let lengths = self.q.iter().zip(&self.kv);
        let attention = Attention {
            phase: Phase::Prefill,
            sequences: lengths.map(|(&new, &kv)| Sequences { count: 1, new, past: kv - new }).collect(),
            heads: self.nh,
            kv_heads: self.nkv,
            head_dim: self.hd,
            kv: Dtype::Bf16,
            window: None,
        };
        match self.kind.as_str() {
            "fa2_ragged" => fa2(&attention, KvLayout::Ragged, record),
            "fa2_paged" => fa2(&attention, KvLayout::Paged, record),
            "fa3_ragged" => fa3(&attention, KvLayout::Ragged, record),
            "fa3_paged" => fa3(&attention, KvLayout::Paged, record),
            other => panic!("no calculator for {other}"),
        }
    }
}

/// The vectors' names of GPUs, as ids of the hardware table.
fn id(hw: &str) -> &str {
    match hw {
        "A100" => "a100-sxm-80gb",
        "A40" => "a40",
        "H20" => "h20",
        "H100" => "h100-sxm",
        "H800" => "h800",
        "L20" => "l20",
        "L40" => "l40",
        "RTX 6000 Ada" => "rtx-6000-ada",
        "RTX PRO 6000 S" => "rtx-pro-6000-server",
        other => panic!("no id for {other}"),
    }
}

/// The record of one GPU in `microarchitecture.csv` (no value holds a comma).
fn record(table: &str, id: &str) -> Record {
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let columns = rows.next().expect("a header");
    let row = rows.find(|row| row[0] == id).unwrap_or_else(|| panic!("no record of {id}"));
    let figure = |name: &str| {
        let column = columns.iter().position(|column| *column == name)?;
        row[column].parse::<f64>().ok()
    };
    let known = |name: &str| figure(name).unwrap_or_else(|| panic!("{id} has no {name}"));
    Record {
        sm: (10.0 * known("computeMajor") + known("computeMinor")) as u32,
        sms: known("numSms") as u32,
        clock_mhz: known("smFreq"),
        mem_gb_per_s: known("memBandwidth"),
        l2_gb_per_s: known("l2CacheBandwidth"),
        smem_kib: known("sharedMemorySize"),
        tensor_bf16: known("tcBf16"),
        tensor_fp8: figure("tcFp8"),
        fma: known("FmaFp32"),
        xu: known("xuFp32"),
    }
}

fn data() -> PathBuf {
    let folder = std::env::var_os("ROOFLIGHT_DATA").unwrap_or_else(|| "../shared/data".into());
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder)
}

#[test]
fn every_vector_agrees() {
    let (vectors, table) =
        (data().join("golden/pipeweave_vectors.json"), data().join("specs/microarchitecture.csv"));
    let (Ok(vectors), Ok(table)) = (std::fs::read_to_string(&vectors), std::fs::read_to_string(&table))
    else {
        println!("skipped: no {} or no {}", vectors.display(), table.display());
        return;
    };
    let vectors: Vec<Vector> = serde_json::from_str(&vectors).expect("the vectors parse");
    assert_eq!(vectors.len(), 25);
    let worst = vectors.iter().map(|vector| error(vector, &record(&table, id(&vector.hw))));
    println!("{} vectors agree; largest relative error {:.1e}", vectors.len(), worst.fold(0.0, f64::max));
}

#[derive(Deserialize)]
struct Own {
    gpus: BTreeMap<String, Figures>,
    vectors: Vec<Vector>,
}

/// The reference's own hardware table: the catalog may come to differ.
#[derive(Deserialize)]
#[serde(remote = "Record")]
struct RecordFigures {
    sm: u32,
    sms: u32,
    clock_mhz: f64,
    mem_gb_per_s: f64,
    l2_gb_per_s: f64,
    smem_kib: f64,
    tensor_bf16: f64,
    tensor_fp8: Option<f64>,
    fma: f64,
    xu: f64,
}

#[derive(Deserialize)]
struct Figures(#[serde(with = "RecordFigures")] Record);

#[test]
fn vectors_of_this_repository_agree() {
    let own: Own =
        serde_json::from_str(include_str!("../data/reference_vectors.json")).expect("the vectors parse");
    for vector in &own.vectors {
        error(vector, &own.gpus[&vector.hw].0);
    }
}

#[test]
fn the_catalog_holds_the_references_figures() {
    let own: Own =
        serde_json::from_str(include_str!("../data/reference_vectors.json")).expect("the vectors parse");
    for (id, name) in [("a100-sxm-80gb", "A100"), ("h800", "H800"), ("h100-sxm", "H800")] {
        let (ours, theirs) = (Record::of(catalog().gpu(id).expect(id)).expect(id), own.gpus[name].0);
        assert_eq!((ours.sms, ours.hopper()), (theirs.sms, theirs.hopper()), "{id}");
        assert_eq!(ours.tensor_fp8, theirs.tensor_fp8, "{id}");
        let figures = |record: &Record| {
            let Record { clock_mhz, mem_gb_per_s, l2_gb_per_s, smem_kib, tensor_bf16, fma, xu, .. } = *record;
            [clock_mhz, mem_gb_per_s, l2_gb_per_s, smem_kib, tensor_bf16, fma, xu]
        };
        for (ours, theirs) in figures(&ours).into_iter().zip(figures(&theirs)) {
            assert!((ours - theirs).abs() <= TOLERANCE * theirs, "{id}: {ours}, not {theirs}");
        }
    }
}

/// The largest relative error of a vector's features, no more than the tolerance.
fn error(vector: &Vector, record: &Record) -> f64 {
    let (features, sum_cycle) = vector.operator.count(record);
    let got = features.iter().map(|&feature| f64::from(feature as f32)).zip(&vector.features);
    let cycles = vector.sum_cycle.iter().map(|expected| (sum_cycle, expected));
    let errors = got.chain(cycles).map(|(got, expected)| {
        let error = if got == *expected { 0.0 } else { (got - expected).abs() / expected.abs() };
        assert!(error <= TOLERANCE, "{} {:?}: {got}, not {expected}", vector.hw, features);
        error
    });
    errors.fold(0.0, f64::max)
}

#[test]
fn nothing_to_do_counts_nothing() {
    let record = Record::of(catalog().gpu("h800").expect("in the catalog")).expect("complete");
    for shape in [[0, 8, 8], [8, 0, 8], [8, 8, 0]] {
        let choice = TileChoice { tile: [64; 3], cta: 0, persistent: false };
        assert_eq!(of_tensor(&gemm(shape, &choice, &record), &record).0, [0.0; 11]);
    }
    let nothing = gemm_fp8([0, 128, 128], &record).expect("multiplies FP8");
    assert_eq!(of_tensor(&nothing, &record).0, [0.0; 11]);
    assert_eq!(rmsnorm(0, 5120, &record).features(&record), [0.0; 15]);
    assert_eq!(silu_mul(8, 0, &record).features(&record), [0.0; 15]);
    let problem = |q: Vec<u64>, nh| AttentionProblem {
        kind: String::new(),
        kv: q.clone(),
        q,
        nh,
        nkv: 1,
        hd: 128,
        causal: true,
    };
    for kind in ["fa2_ragged", "fa2_paged", "fa3_ragged", "fa3_paged"] {
        for problem in [problem(vec![], 8), problem(vec![0], 8), problem(vec![9], 0)] {
            let counts = AttentionProblem { kind: kind.into(), ..problem }.count(&record);
            assert_eq!(counts.features(&record), [0.0; 15], "{kind}");
        }
    }
}
