//! One engine step: planned as counted calls, finished as times.

mod images;
#[cfg(test)]
mod tests;
mod unedited;

use crate::config::catalog::physics;
use crate::config::kernels::{ExpertKernel, KernelName, LatentKernel};
use crate::config::model::Attention;
use crate::config::{MissingFigure, Setup};
use crate::efficiency::{Efficiencies, Rows};
use crate::graph::{self, Batch, Block, Call, Layout, Phase, Scope, pass, pass_of};
use crate::kernels::{Collective, Count, Op, Routing, collective};
use crate::latency::{HostWork, Ideal, KernelTime, PowerModel, Provenance, Resource, StepTime};
use crate::units::{Joules, Seconds, Watts};

use unedited::Unedited;

use super::replica::{decides_ahead, largest_graph, mixed_graph};
use super::sim::Spent;

/// How a planned call is timed.
#[derive(Debug, Clone, PartialEq)]
enum Timing {
    /// Timed by the answer at this place, or by its bytes if no model covers it.
    Learned { ideal: Ideal, place: usize, unedited: Option<Box<Unedited>> },
    /// Already timed: collectives, which have no efficiency.
    Timed(KernelTime),
}

/// A call with its counted work.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCall {
    pub call: Call,
    pub count: Count,
    timing: Timing,
}

/// A step with its calls.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedStep {
    pub batch: Batch,
    pub calls: Vec<PlannedCall>,
}

/// A finished step: one time per call, in the plan's order.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedStep {
    pub times: Vec<KernelTime>,
    pub time: StepTime,
    /// Energy of one GPU per stage beyond idle power, over all stages; zero if unknown.
    pub joules: Joules,
}

impl PlannedStep {
    /// Counts every call of one pass of `batch` and adds their rows.
    pub fn new(setup: &Setup, batch: Batch, rows: &mut Rows) -> Result<Self, MissingFigure> {
        let calls = pass(&setup.model, &layout(setup), &batch);
        Self::of_calls(calls, setup, batch, rows)
    }

    /// The calls of one pass of `batch` whose time depends on `scope`.
    pub fn of_scope(
        setup: &Setup,
        batch: Batch,
        rows: &mut Rows,
        scope: Scope,
    ) -> Result<Self, MissingFigure> {
        let calls = pass_of(&setup.model, &layout(setup), &batch, scope);
        Self::of_calls(calls, setup, batch, rows)
    }

    fn of_calls(
        calls: Vec<Call>,
        setup: &Setup,
        batch: Batch,
        rows: &mut Rows,
    ) -> Result<Self, MissingFigure> {
        let plan = |call| PlannedCall::new(call, setup, rows);
        Ok(Self { batch, calls: calls.into_iter().map(plan).collect::<Result<_, _>>()? })
    }

    /// Kernels that this step launches without a CUDA graph.
    pub fn own_launches(&self, setup: &Setup) -> f64 {
        launches(self.calls.iter().map(|call| &call.call), setup)
    }

    /// Kernels that a pass launches without a CUDA graph, for any batch.
    pub fn launches(setup: &Setup) -> f64 {
        launches(&pass(&setup.model, &layout(setup), &Batch::prefill(&[1])), setup)
    }

    /// Kernels that the CUDA graph of a step with prompts leaves out: attention, and what else depends on lengths.
    pub fn launches_between(setup: &Setup) -> f64 {
        let scope = Scope::Lengths(Phase::Prefill);
        launches(&pass_of(&setup.model, &layout(setup), &Batch::prefill(&[1]), scope), setup)
    }

    /// Kernel time of the step: all calls in sequence. `None` if `efficiencies` does not answer some of them.
    pub fn kernels(&self, setup: &Setup, efficiencies: &Efficiencies) -> Option<Seconds> {
        Some(Seconds(self.spent(setup, efficiencies)?.seconds))
    }

    /// Kernel time of the step, and the energy of one GPU per stage beyond idle power.
    pub fn spent(&self, setup: &Setup, efficiencies: &Efficiencies) -> Option<Spent> {
        // Power that is not known is not shown.
        let draw = PowerModel::of(setup).ok();
        let mut all = Spent::default();
        for call in &self.calls {
            let time = call.time(setup, efficiencies)?.time;
            let count = call.call.count as f64;
            all.seconds += time.0 * count;
            all.joules += call.joules(draw.as_ref(), time).0 * count;
        }
        Some(all)
    }

    /// Times every call. `None` if `efficiencies` does not answer some of them, or the engine's record lacks its
    /// host times.
    pub fn finish(&self, setup: &Setup, efficiencies: &Efficiencies) -> Option<FinishedStep> {
        let times =
            self.calls.iter().map(|call| call.time(setup, efficiencies)).collect::<Option<Vec<_>>>()?;
        let draw = PowerModel::of(setup).ok();
        let launched = self.calls.iter().zip(&times);
        let spent = |(call, time): (&PlannedCall, &KernelTime)| {
            call.joules(draw.as_ref(), time.time) * call.call.count as f64
        };
        let joules: Joules = launched.clone().map(spent).sum();
        let kernels: Seconds = launched.map(|(call, time)| time.time * call.call.count as f64).sum();
        let time = match efficiencies {
            Efficiencies::Roofline => StepTime::of_kernels(kernels),
            Efficiencies::Learned(_) => {
                let prefill = self.batch.sequences.iter().any(|group| !group.decodes());
                let tokens: u64 = self.batch.sequences.iter().map(|group| group.count * group.new).sum();
                let replayed = prefill && tokens <= mixed_graph(setup);
                let own = |call: &&Call| !replayed || call.scope == Scope::Lengths(Phase::Prefill);
                let own = self.calls.iter().map(|call| &call.call).filter(own);
                let sequences = self.batch.count() + self.batch.padding;
                let eager = prefill || sequences > u64::from(largest_graph(setup));
                let work = HostWork {
                    launches: eager.then(|| launches(own, setup)),
                    sequences: sequences as f64,
                    ahead: decides_ahead(setup),
                };
                StepTime::of(&setup.engine.host, work, kernels)?
            }
        };
        let room = draw.map_or(Watts::ZERO, |draw| draw.room());
        Some(FinishedStep { times, time, joules: joules.min(Joules(room.0 * time.total.0)) })
    }
}

/// Physical lower bound for one pass of `batch`: every call at its ideal, in sequence.
pub fn ideal(setup: &Setup, batch: &Batch) -> Result<Seconds, MissingFigure> {
    let mut time = Seconds::ZERO;
    for call in pass(&setup.model, &layout(setup), batch).iter().filter(|call| !call.overlapped) {
        let one = match &call.op {
            Op::Collective(collective) => collective::least(collective, &setup.gpu)?,
            op => op.count(&setup.gpu)?.at_roofs(&setup.gpu)?,
        };
        time += one * call.count as f64;
    }
    Ok(time)
}

fn launches<'a>(calls: impl IntoIterator<Item = &'a Call>, setup: &Setup) -> f64 {
    let one = |call: &Call| call.op.launches(&setup.gpu, &setup.engine);
    calls.into_iter().map(|call| call.count as f64 * one(call)).sum()
}

/// The calls of each kind of layer in a pass of `batch`, in the order of the model's kinds.
pub fn layers(setup: &Setup, batch: &Batch) -> Vec<Vec<Call>> {
    graph::layers(&setup.model, &layout(setup), batch)
}

/// The layout of `setup` over its GPUs, and its engine's choices.
fn layout(setup: &Setup) -> Layout {
    let variants = setup.engine.variants_on(setup.gpu.arch);
    let latent = variants.map(|choice| &choice.latent_prefill).filter(|named| !named.is_empty());
    let choice = setup.engine.kernels_on(setup.gpu.arch);
    let ranks = u64::from(setup.parallel.ep);
    let experts = choice.and_then(|choice| choice.moe(setup.formats.weights, 1, ranks));
    let block = variants.is_some_and(|choice| !choice.block_decode.is_empty());
    Layout {
        parallel: setup.parallel,
        crossings: setup.crossings(),
        formats: setup.formats,
        kv: setup.kv,
        rope_in_attention: setup.engine.rope_in_attention,
        shared_beside_routed: setup.engine.shared_beside_routed,
        head_ranks: setup.head_ranks(),
        shards_states: setup.engine.shards_states,
        norm_in_all_reduce: setup.engine.norm_in_all_reduce.of(&setup.model),
        older_delta_rules: setup.engine.computes_older_delta_rules,
        latent_blocks: latent.is_none() && block,
        absorbed_prompts: latent.and_then(KernelName::id).is_some_and(LatentKernel::absorbs_prompts),
        drafted: setup.workload.drafts.drafted,
        chosen_inside: experts
            .and_then(KernelName::id)
            .is_some_and(|kernel: ExpertKernel| kernel.chooses(ranks)),
        routing: Routing::Independent(physics().expert_popularity),
    }
}

impl PlannedCall {
    fn new(call: Call, setup: &Setup, rows: &mut Rows) -> Result<Self, MissingFigure> {
        let gpu = &setup.gpu;
        if let Op::Collective(collective) = &call.op {
            let timed = collective_time(collective, setup)?;
            return Ok(Self { call, count: Count::default(), timing: Timing::Timed(timed) });
        }
        let count = call.op.count(gpu)?;
        let ideal = Ideal::of(&count, gpu)?;
        // A figure that only the time lacks is missing now, not when the step is finished.
        unlearned(&call.op, &count, &ideal, setup)?;
        let place = rows.ask(&call.op, count.stored, gpu, &setup.engine)?;
        let unedited = Unedited::plan(&call, setup, rows)?.map(Box::new);
        Ok(Self { call, count, timing: Timing::Learned { ideal, place, unedited } })
    }

    /// This call planned for another setup, with its engine's kernel.
    pub fn on(&self, setup: &Setup, rows: &mut Rows) -> Result<Self, MissingFigure> {
        Self::new(self.call.clone(), setup, rows)
    }

    /// Timed by the model of another kind of attention: latent for compressed keys, windowed for selected blocks of
    /// keys, causal for an encoder's.
    fn unmeasured(&self, setup: &Setup) -> bool {
        let chosen = |attention: &Attention| match attention {
            Attention::Gqa(gqa) => gqa.blocks.map(|blocks| u64::from(blocks.keys())),
            _ => None,
        };
        match &self.call.op {
            Op::LatentAttention(call) => call.reach.is_some(),
            Op::Attention(_) if self.call.block == Block::Encoder => true,
            Op::Attention(call) => {
                call.window.is_some() && setup.model.attentions().any(|one| chosen(one) == call.window)
            }
            _ => false,
        }
    }

    /// `None` for links: their power is unknown, and no cap slows them.
    fn ideal(&self) -> Option<&Ideal> {
        match &self.timing {
            Timing::Learned { ideal, .. } => Some(ideal),
            Timing::Timed(_) => None,
        }
    }

    /// Energy of a launch beyond idle power: zero without the GPU's power model, and for links.
    fn joules(&self, draw: Option<&PowerModel>, time: Seconds) -> Joules {
        let both = draw.zip(self.ideal());
        both.map_or(Joules::ZERO, |(draw, ideal)| draw.launch(ideal, self.call.op.family(), time))
    }

    /// `None` if `efficiencies` does not answer it.
    pub fn time(&self, setup: &Setup, efficiencies: &Efficiencies) -> Option<KernelTime> {
        let time = self.uncapped(setup, efficiencies)?;
        // `check` refuses a cap where a figure of the power model is missing.
        let capped = setup.power_cap.and_then(|_| Some(PowerModel::of(setup).ok()?.least(self.ideal()?)));
        Some(match capped {
            Some(least) if least > time.time => time.lasting(least),
            _ => time,
        })
    }

    /// The time, with a power cap affecting only the clock.
    fn uncapped(&self, setup: &Setup, efficiencies: &Efficiencies) -> Option<KernelTime> {
        let (ideal, place, unedited) = match &self.timing {
            Timing::Timed(timed) => return Some(timed.of_basis(efficiencies == &Efficiencies::Roofline)),
            Timing::Learned { ideal, place, unedited } => (ideal, *place, unedited),
        };
        let Efficiencies::Learned(learned) = efficiencies else {
            return Some(KernelTime::roofline(&self.count, ideal));
        };
        if self.call.overlapped {
            return Some(KernelTime {
                provenance: Provenance::Overlapped,
                ..KernelTime::roofline(&self.count, ideal)
            });
        }
        let call = learned.calls.get(place)?;
        match call.answer {
            Some(answer) => {
                // The sustained clock behind the efficiencies over the requested one. Without a sustained clock the
                // call would have no vector, and no answer.
                let clock_ratio = setup.gpu.sustained_clock.0? / setup.sustained;
                let seen = call.seen && !self.unmeasured(setup);
                let time =
                    KernelTime::learned(&self.count, ideal, answer, (clock_ratio, call.in_service), seen);
                let time = match unedited {
                    Some(unedited) => unedited.hold(time, learned, clock_ratio)?,
                    None => time,
                };
                let limit = if call.waits_for_host { Resource::Launch } else { time.limit };
                Some(KernelTime { limit, ..time })
            }
            // `new` has found all figures.
            None => unlearned(&self.call.op, &self.count, ideal, setup).ok(),
        }
    }
}

/// The time of a call that no model covers.
fn unlearned(op: &Op, count: &Count, ideal: &Ideal, setup: &Setup) -> Result<KernelTime, MissingFigure> {
    let gpu = &setup.gpu;
    if matches!(op, Op::Scores(_)) {
        return KernelTime::scores(count, ideal, gpu);
    }
    match op.closed_form(gpu, &setup.engine)? {
        Some(time) => Ok(KernelTime::closed_form(count, ideal, time)),
        None => KernelTime::streaming(count, ideal, gpu),
    }
}

/// A collective's time. Its ideal is the bytes each GPU must send over its links, unless a reducing switch was
/// measured to need less.
fn collective_time(collective: &Collective, setup: &Setup) -> Result<KernelTime, MissingFigure> {
    let found = collective::time(collective, &setup.gpu, &setup.engine.id)?;
    let time = found.seconds.max(physics().launch_floor);
    let sent = collective::least(collective, &setup.gpu)?;
    let ideal = sent.max(physics().launch_floor).min(time);
    let provenance = if found.measured { Provenance::Measured } else { Provenance::Fixed };
    Ok(KernelTime {
        ideal,
        ceiling: ideal,
        time,
        limit: Resource::Network,
        provenance,
        bounds: None,
        outside: false,
    })
}
