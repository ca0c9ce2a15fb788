//! Measured latent attention: the kernel, the batched GEMMs around it, and dense and sparse blocks.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::config::catalog::numbers::tables::constants;
use crate::config::model::{Attention, Mla};
use crate::config::{Dtype, Model, catalog};
use crate::kernels::Phase::{Decode, Prefill};
use crate::kernels::attention::measured::past;
use crate::kernels::measured::{
    RowSource, Table, TableReader, Tie, UnreadRow, Visitor, point, visit, visit_siblings,
};
use crate::kernels::{
    BatchedGemm, Family, LatentAttention, LatentHeads, LatentModule, Op, Phase, Sequences, SparseModule,
};

pub const READERS: &[TableReader] = &[
    (Family::Mla, "mla_prefill", |table, visitor| visit_phase(table, Prefill, visitor)),
    (Family::Mla, "mla_decode", |table, visitor| visit_phase(table, Decode, visitor)),
    (Family::MlaBmm, "mla_bmm", visit_bmm),
    (Family::MlaModule, "mla_module_prefill", |table, visitor| visit_blocks(table, Prefill, visitor)),
    (Family::MlaModule, "mla_module_decode", |table, visitor| visit_blocks(table, Decode, visitor)),
    (Family::DsaModule, "dsa_module_prefill", |table, visitor| visit_blocks(table, Prefill, visitor)),
    (Family::DsaModule, "dsa_module_decode", |table, visitor| visit_blocks(table, Decode, visitor)),
];

/// The latent attention of the catalog's models and their hidden size, by published name.
static MODELS: LazyLock<HashMap<&str, (&Mla, u64)>> = LazyLock::new(|| {
    let of = |model: &'static Model| {
        let mla = model.attentions().find_map(|attention| match attention {
            Attention::Mla(mla) => Some(mla),
            _ => None,
        })?;
        Some((model.name.as_str(), (mla, u64::from(model.hidden))))
    };
    catalog().models.models.iter().filter_map(of).collect()
});

/// The tables of kernels without a model are of this one.
const DEEPSEEK: &str = "deepseek-ai/DeepSeek-V3";

#[derive(Deserialize)]
struct LatentRow<'t> {
    dtype: &'t str,
    kv_dtype: &'t str,
    batch: u64,
    #[serde(alias = "isl")]
    q_len: u64,
    kv_len: Option<u64>,
    step: Option<u64>,
    heads: u64,
}

/// Visits the rows of one phase of the attention kernel, except for engines that were timed launch by launch:
/// their times include the host's.
fn visit_phase(table: &Table, phase: Phase, visitor: &mut Visitor<'_>) -> Result<(), UnreadRow> {
    let mut shortest: HashMap<&str, HashMap<&str, f64>> = HashMap::new();
    for row in table.rows::<RowSource, LatentRow>() {
        let (run, _) = row?;
        let least = shortest.entry(run.gpu).or_default().entry(run.engine).or_insert(run.latency_us);
        *least = least.min(run.latency_us);
    }
    let eager = |run: &RowSource| {
        let engines = &shortest[run.gpu];
        let least = engines.values().copied().fold(f64::INFINITY, f64::min);
        engines[run.engine] > constants().eager * least
    };
    visit(table.rows(), visitor, |run, row| {
        let LatentRow { dtype, kv_dtype, batch, q_len, kv_len, step, heads } = row;
        if eager(&run) {
            return Err(format!("timed launch by launch ({} on {})", run.engine, run.gpu));
        }
        let (Some(math), Some(kv)) = (Dtype::from_id(dtype), Dtype::from_id(kv_dtype)) else {
            return Err(format!("latent attention in {dtype} over {kv_dtype}"));
        };
        let sequences = vec![Sequences { count: batch, new: q_len, past: past(q_len, kv_len, step)? }];
        let heads = LatentHeads::of(MODELS[DEEPSEEK].0, heads);
        Ok((math, Op::LatentAttention(LatentAttention { phase, sequences, heads, kv, reach: None }), run))
    })
}

#[derive(Deserialize)]
struct BmmRow<'t> {
    #[serde(alias = "op_name")]
    stage: &'t str,
    dtype: &'t str,
    tokens: u64,
    heads: u64,
}

/// Visits the batched GEMMs: `pre` into the latents, `post` out of them.
fn visit_bmm(table: &Table, visitor: &mut Visitor<'_>) -> Result<(), UnreadRow> {
    visit(table.rows(), visitor, |run, BmmRow { stage, dtype, tokens, heads }| {
        let weights = Dtype::from_id(dtype).ok_or_else(|| format!("weights in {dtype}"))?;
        let LatentHeads { latent, nope, value, .. } = LatentHeads::of(MODELS[DEEPSEEK].0, heads);
        let (n, k) = match stage {
            "pre" | "mla_gen_pre" => (latent, nope),
            "post" | "mla_gen_post" => (value, latent),
            other => return Err(format!("batched products of stage {other}")),
        };
        let bmm = BatchedGemm { count: heads, m: tokens, n, k, weights };
        Ok((weights, Op::BatchedGemm(bmm), run))
    })
}

/// A whole block: dense with the lengths of all tokens, sparse with those before the new ones.
#[derive(Deserialize)]
struct BlockRow<'t> {
    model: &'t str,
    dtype: &'t str,
    kv_dtype: &'t str,
    gemm_dtype: &'t str,
    batch: u64,
    heads: u64,
    #[serde(alias = "isl")]
    q_len: u64,
    kv_len: Option<u64>,
    past_kv: Option<u64>,
    /// Tables of power name the operator, and the tokens before the new ones alike for both blocks.
    op_name: Option<&'t str>,
    step: Option<u64>,
}

impl BlockRow<'_> {
    fn is_sparse(&self) -> bool {
        self.past_kv.is_some() || self.op_name.is_some_and(|name| name.starts_with("dsa"))
    }
}

/// Visits the rows of one phase of dense or sparse blocks.
fn visit_blocks(table: &Table, phase: Phase, visitor: &mut Visitor<'_>) -> Result<(), UnreadRow> {
    // Models of the same shape count as one point.
    let shared = |run: &RowSource, row: &BlockRow| {
        let formats = [row.dtype, row.kv_dtype, row.gemm_dtype];
        let sizes = [row.batch, row.heads, row.q_len];
        let hidden = MODELS.get(row.model).map(|(_, hidden)| hidden);
        point((run.engine, &run.kernel, formats, sizes, row.kv_len, row.past_kv, row.step, hidden))
    };
    visit_siblings(table, visitor, Tie::Faster, shared, |run, row| {
        let formats = [row.dtype, row.kv_dtype, row.gemm_dtype].map(Dtype::from_id);
        let [Some(math), Some(kv), Some(weights)] = formats else {
            return Err(format!("a block in {} over {}", row.gemm_dtype, row.kv_dtype));
        };
        let (mla, hidden) = MODELS.get(row.model).ok_or_else(|| format!("no shape of {}", row.model))?;
        let past = past(row.q_len, row.kv_len, row.past_kv.or(row.step))?;
        let module = LatentModule {
            phase,
            sequences: vec![Sequences { count: row.batch, new: row.q_len, past }],
            heads: LatentHeads::of(mla, row.heads),
            hidden: *hidden,
            query_rank: mla.query_rank.map(u64::from),
            weights,
            kv,
        };
        let op = if row.is_sparse() {
            let indexer = mla.indexer.ok_or_else(|| format!("no indexer of {}", row.model))?.into();
            Op::SparseModule(SparseModule { module, indexer, indexes: indexes(&run.kernel) })
        } else {
            Op::LatentModule(module)
        };
        Ok((math, op, run))
    })
}

/// Whether a sparse block ran its indexer. SGLang's dense blocks take the same time in layers with one and
/// without.
fn indexes(kernel: &str) -> bool {
    !kernel.contains("skip_indexer") && !kernel.contains("dense_mha")
}
