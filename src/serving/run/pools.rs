//! Separate prefill workers: their step times, and the transfer of KV cache to the decode replicas.

use std::sync::OnceLock;

use super::Runner;
use crate::config::catalog::numbers::pools::constants;
use crate::config::catalog::physics;
use crate::config::{HandOver, Issue, MissingFigure, PrefillPool, Setup};
use crate::efficiency::{Efficiencies, Rows};
use crate::kernels::{Collective, collective};
use crate::serving::replica;
use crate::serving::report::Memory;
use crate::serving::sim::{HostCache, Policy, Preempt, Transfer};
use crate::serving::table::{Extent, Phases, StepTable, TablePlan};
use crate::units::{Bytes, Seconds};

/// Counted prefill workers, before the models answer.
#[derive(Debug, Clone)]
pub(super) struct PrefillPlan {
    setup: Setup,
    policy: Policy,
    kv_per_token: Bytes,
    transfer: Transfer,
    table: TablePlan,
}

/// Prefill workers with known step times.
#[derive(Debug, Clone)]
pub(super) struct PrefillRunner {
    pub setup: Setup,
    pub policy: Policy,
    /// The KV cache transfer.
    kv_per_token: Bytes,
    pub transfer: Transfer,
    pub table: StepTable,
}

impl Runner {
    /// Uses these numbers of prefill workers and of decode replicas from here on; step times do not change.
    ///
    /// # Errors
    /// If a GPU's record lacks a figure that a link between more of them needs.
    pub fn resize(&mut self, [workers, replicas]: [u32; 2]) -> Result<(), Issue> {
        self.setup.replicas = replicas;
        self.capacity = OnceLock::new();
        let Some((mut pool, own)) = self.setup.prefill.take().zip(self.prefill.as_mut()) else {
            return Ok(());
        };
        (pool.setup.replicas, own.setup.replicas) = (workers, workers);
        let setup = Setup { prefill: Some(pool.clone()), ..self.setup.clone() };
        let way = transfer(&setup, &pool, own.kv_per_token);
        own.transfer = way.map_err(|missing| setup.lacks(&missing))?;
        self.setup.prefill = Some(pool);
        Ok(())
    }
}

impl PrefillPlan {
    /// # Errors
    /// If a catalog record lacks a figure.
    pub fn new(
        (decode, of_decode): (&Setup, &Memory),
        (pool, of_prefill): (&PrefillPool, &Memory),
        extent: Extent,
        rows: Rows,
    ) -> Result<Self, MissingFigure> {
        let policy = replica::policy(&pool.setup, of_prefill);
        let kv_per_token = of_prefill.kv_per_token.max(of_decode.kv_per_token);
        let transfer = transfer(decode, pool, kv_per_token)?;
        let table = TablePlan::onto(&pool.setup, &extent, rows, None)?;
        Ok(Self { setup: pool.setup.clone(), policy, kv_per_token, transfer, table })
    }

    /// Takes the table's rows, to be answered together with others.
    pub fn take_rows(&mut self) -> Rows {
        self.table.take_rows()
    }

    /// `None` if `efficiencies` does not answer every row.
    pub fn finish(&self, efficiencies: &Efficiencies) -> Option<PrefillRunner> {
        let Self { setup, policy, kv_per_token, transfer, table } = self.clone();
        Some(PrefillRunner { setup, policy, kv_per_token, transfer, table: table.finish(efficiencies)? })
    }
}

/// The scheduler of a decode-only replica. It reads no prompts, and gets requests from another server.
pub fn decode_policy(setup: &Setup, memory: &Memory) -> Policy {
    Policy {
        cached_share: 0.0,
        history_cached: 0.0,
        host: HostCache::default(),
        admission_delay: 0.0,
        admission_per_token: 0.0,
        admission_interval: 0.0,
        stream_interval: 0.0,
        batch_wait: None,
        balance_wait: None,
        ..replica::policy(setup, memory)
    }
}

/// The phases needed in a decode-only replica's table: prefill too, if prompts are recomputed after preemption.
pub fn decode_phases(policy: &Policy) -> Phases {
    match policy.preempt {
        Preempt::Never | Preempt::LookAhead => Phases::Decode,
        Preempt::Recompute | Preempt::Retract { .. } => Phases::Both,
    }
}

/// The transfer of a KV cache. Each GPU of a rank sends its part, so the slower of sending and receiving decides:
/// over a link that joins all workers if there is one, else over NICs, as between pipeline stages. Each transfer
/// also has a fixed handover time.
///
/// # Errors
/// If a GPU's record lacks both.
pub fn transfer(decode: &Setup, pool: &PrefillPool, kv_per_token: Bytes) -> Result<Transfer, MissingFigure> {
    let prompt = pool.setup.mean_prompt().max(1.0);
    let across = pool.setup.gpu.id != decode.gpu.id || decode.gpus() > decode.gpu.link.domain;
    let send = |bytes: Bytes| -> Result<Seconds, MissingFigure> {
        let message = Collective::SendRecv { bytes, across };
        let on = |gpu| Ok(collective::time(&message, gpu, &decode.engine.id)?.seconds);
        Ok(on(&pool.setup.gpu)?.max(on(&decode.gpu)?))
    };
    let seconds = match (pool.send_us, pool.send_gb_per_s) {
        (Some(micros), _) => Seconds::from_micros(micros),
        // The rate stands in for the network's, whose latency stays.
        (None, Some(_)) if across => physics().network_latency + Seconds(constants().hand_over_ms * 1e-3),
        (None, _) => send(Bytes(1.0))? + Seconds(constants().hand_over_ms * 1e-3),
    };
    let seconds_per_token = match pool.send_gb_per_s {
        Some(rate) => kv_per_token.0 / (rate * 1e9),
        None => ((send(kv_per_token * prompt)?.0 - send(Bytes(1.0))?.0) / prompt).max(0.0),
    };
    let HandOver { by_chunk, first_token, .. } = decode.engine.hand_over;
    Ok(Transfer { seconds: seconds.0, seconds_per_token, by_chunk, first_token })
}
