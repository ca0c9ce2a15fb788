//! Tabulated step times of one setup: kernels are planned at grid points once, the models answer all of them
//! together, and a simulation interpolates any step in between.
//!
//! Calls are grouped by what their time depends on ([`Scope`]): tokens of a rank, tokens of all ranks together,
//! positions with logits, drafting sequences, or the lengths of prompts or of decoding sequences. Each group has
//! its own grid, so a mixed step costs six lookups.

mod copies;
mod extent;
mod grid;
mod hosted;
mod lengths;
mod memo;
mod points;
mod rows;
mod work;

use std::sync::Arc;

use super::replica::{largest_graph, mixed_graph};
use super::sim::Spent;
use super::step::PlannedStep;
use crate::config::model::Attention;
use crate::config::{HostTime, MissingFigure, Setup};
use crate::efficiency::{Efficiencies, Rows};
use crate::graph::{Batch, Phase, Scope, Sequences};
use crate::latency::PowerModel;
use crate::units::{Seconds, larger};

use copies::Copies;
pub use extent::{Extent, Phases};
use grid::Grid;
pub use grid::octaves;
pub use hosted::Hosted;
use hosted::{Recent, once};
pub use lengths::Prompts;
pub use memo::{PlannedTable, Tables};
use points::Points;
use rows::numbers;
use work::RankMaximum;
pub use work::Work;

/// Points per octave of sequences and lengths.
const SEQUENCES: u32 = 4;
const LENGTHS: u32 = 3;
/// Shortest prompt chunk and decoding sequence on the grids: below, a launch costs the same.
const SHORTEST: u64 = 16;

/// One for each group of calls.
#[derive(Debug, Clone)]
struct Parts<T> {
    tokens: T,
    experts: T,
    logits: T,
    drafts: T,
    prompts: T,
    decodes: T,
}

/// A table's counted steps, before the models answer.
#[derive(Debug, Clone)]
pub struct TablePlan {
    setup: Setup,
    parts: Arc<Parts<Points>>,
    rows: Rows,
    /// The images of a prompt.
    images: PlannedStep,
    launches: [f64; 2],
    copies: Copies,
}

/// Step times of one setup.
#[derive(Debug, Clone)]
pub struct StepTable {
    parts: Parts<Grid>,
    /// Kernels launched in a step with prompts: without a graph, and between the pieces of one.
    launches: [f64; 2],
    /// Encoding the images of a prompt that begins, on one GPU, and the kernels launched for it.
    images: Spent,
    image_launches: f64,
    copies: Copies,
    /// Tokens of the largest prefill step that replays a CUDA graph ([`mixed_graph`]).
    mixed_graph: f64,
    /// Sequences of the largest decode step that replays a CUDA graph ([`largest_graph`]).
    largest_graph: f64,
    /// Whether the host waits for the GPU in steps with prompts.
    waits: bool,
    /// GPUs of a stage, and their maximum total power beyond idle.
    gpus: f64,
    room: f64,
}

impl TablePlan {
    /// # Errors
    /// If a catalog record lacks a figure needed for counting.
    pub fn new(setup: &Setup, extent: &Extent) -> Result<Self, MissingFigure> {
        Self::onto(setup, extent, Rows::default(), None)
    }

    /// Plans a table, adding its rows to `rows`. Points of a learned table `before` of the same setup are reused.
    ///
    /// # Errors
    /// If a catalog record lacks a figure needed for counting.
    pub fn onto(
        setup: &Setup,
        extent: &Extent,
        mut rows: Rows,
        before: Option<&StepTable>,
    ) -> Result<Self, MissingFigure> {
        type Of = fn(&Parts<Grid>) -> &Grid;
        let mut points = |scope, of: Of, axes: &[Vec<u64>], batch: &dyn Fn(&[u64]) -> Batch| {
            let step = |at: &[u64]| PlannedStep::of_scope(setup, batch(at), &mut rows, scope);
            Points::new(axes, before.map(|table| of(&table.parts)), step)
        };
        let (longest, newest) = (extent.length.max(SHORTEST), extent.prompt.max(SHORTEST));
        let drafted = setup.workload.drafts.drafted;
        let verified = 1 + u64::from(drafted);
        let decoding = octaves(1, extent.sequences, SEQUENCES);
        let of_all = numbers(extent.tokens * u64::from(setup.parallel.dp));
        let verifying = octaves(1, extent.sequences * verified, SEQUENCES);
        let (lengths, news) = (octaves(SHORTEST, longest, LENGTHS), octaves(SHORTEST, newest, LENGTHS));
        let (pasts, counts) = (lengths::pasts(extent), octaves(1, lengths::most_prompts(extent), 1));
        // A phase that never occurs has one point.
        let one = || vec![1];
        let (decoding, contexts) = match extent.phases {
            Phases::Prefill => (one(), one()),
            Phases::Both | Phases::Decode => (decoding, lengths),
        };
        let (news, pasts, counts) = match extent.phases {
            Phases::Decode => (one(), vec![0], one()),
            Phases::Both | Phases::Prefill => (news, pasts, counts),
        };
        let parts = Parts {
            tokens: points(Scope::Tokens, |of| &of.tokens, &[numbers(extent.tokens)], &|at| {
                alike(1, at[0], 0)
            })?,
            experts: points(Scope::Experts, |of| &of.experts, &[of_all], &|at| {
                Batch::default().pooling(at[0])
            })?,
            logits: points(Scope::Logits, |of| &of.logits, &[verifying], &|at| alike(at[0], 1, 1))?,
            drafts: points(Scope::Drafts, |of| &of.drafts, &[numbers(extent.sequences)], &|at| {
                alike(at[0], 1, 1)
            })?,
            decodes: points(Scope::Lengths(Phase::Decode), |of| &of.decodes, &[decoding, contexts], &|at| {
                alike(at[0], 1, at[1]).verifying(drafted)
            })?,
            prompts: points(
                Scope::Lengths(Phase::Prefill),
                |of| &of.prompts,
                &[news, pasts, counts],
                &|at| alike(at[2], at[0], at[1]),
            )?,
        };
        let launches = [PlannedStep::launches(setup), PlannedStep::launches_between(setup)];
        let copies = Copies::of(setup)?;
        let images = PlannedStep::of_images(setup, &mut rows)?;
        let parts = Arc::new(parts);
        Ok(Self { setup: setup.clone(), parts, rows, images, launches, copies })
    }

    /// The rows for the models.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Takes the rows, so that more can be added after them.
    pub fn take_rows(&mut self) -> Rows {
        std::mem::take(&mut self.rows)
    }

    /// The table. `None` if `efficiencies` does not answer every row of the plan, or if ideals are requested from a
    /// plan that reuses learned times.
    pub fn finish(&self, efficiencies: &Efficiencies) -> Option<StepTable> {
        let grid = |points: &Points| points.finish(&self.setup, efficiencies);
        let Parts { tokens, experts, logits, drafts, prompts, decodes } = &*self.parts;
        let parts = Parts {
            tokens: grid(tokens)?,
            experts: grid(experts)?,
            logits: grid(logits)?,
            drafts: grid(drafts)?,
            prompts: grid(prompts)?,
            decodes: grid(decodes)?,
        };
        let gpus = f64::from(self.setup.parallel.gpus_per_stage());
        let room = PowerModel::of(&self.setup).map_or(0.0, |draw| draw.room().0 * gpus);
        let mixed_graph = mixed_graph(&self.setup) as f64;
        let copies = match efficiencies {
            Efficiencies::Roofline => Copies::default(),
            Efficiencies::Learned(_) => self.copies,
        };
        let images = self.images.spent(&self.setup, efficiencies)?;
        let delta = self.setup.model.attentions().any(|of| matches!(of, Attention::Delta(_)));
        let (launches, image_launches) = (self.launches, self.images.own_launches(&self.setup));
        Some(StepTable {
            parts,
            launches,
            images,
            image_launches,
            copies,
            mixed_graph,
            largest_graph: f64::from(largest_graph(&self.setup)),
            waits: self.setup.engine.waits_for_delta_rules && delta,
            gpus,
            room,
        })
    }
}

fn alike(count: u64, new: u64, past: u64) -> Batch {
    Batch::of(Sequences { count, new, past })
}

impl StepTable {
    /// The steps with these host times, scheduled `ahead` (asynchronously) or not, without calibration.
    pub fn under<'a>(&'a self, host: &'a HostTime, ahead: bool) -> Hosted<'a> {
        Hosted::new(self, host, ahead)
    }

    /// The shortest decode step: one sequence, and no host time.
    pub fn least_decode_step(&self) -> Option<Seconds> {
        let kernels = self.kernels(&[Work { decoding: 1.0, decoding_kv: 1.0, ..Work::default() }]);
        (kernels > Seconds::ZERO).then_some(kernels)
    }

    /// The time of a step's kernels. Ranks wait for the slowest at every synchronisation; the experts process
    /// everyone's tokens, so `ranks` are all that share them.
    pub fn kernels(&self, ranks: &[Work]) -> Seconds {
        Seconds(self.spent(ranks, &RankMaximum::of(ranks), &Recent::default()).seconds)
    }

    /// Time of a step's kernels, and the energy of all GPUs beyond idle power. Ranks with fewer tokens are assumed
    /// padded to the busiest.
    fn spent(&self, ranks: &[Work], all: &RankMaximum, recent: &Recent) -> Spent {
        let &RankMaximum { tokens, logits, decoding, begun, .. } = all;
        if tokens <= 0.0 {
            return Spent::default();
        }
        // A graph is replayed by all ranks or none, each padded to the busiest.
        let replayed = self.replays(all);
        let each = |work: &Work| if replayed { tokens } else { work.tokens() };
        let pooled: f64 = ranks.iter().map(each).sum();
        let (mut slowest, mut attention) = (0.0_f64, 0.0);
        for one in ranks.iter().map(|work| self.attention(work, recent)) {
            slowest = larger(slowest, one.seconds);
            attention += one.joules / ranks.len() as f64;
        }
        let alike = self.alike([tokens, logits, pooled, decoding], recent);
        let each = ranks.iter().map(|work| work.begun).sum::<f64>() / ranks.len() as f64;
        Spent {
            seconds: alike.seconds + slowest + self.images.seconds * begun,
            joules: (alike.joules + attention + self.images.joules * each) * self.gpus,
        }
    }

    /// Whether a step replays a CUDA graph, that of a step with prompts but for its attention.
    fn replays(&self, all: &RankMaximum) -> bool {
        if all.prompts { all.tokens <= self.mixed_graph } else { all.sequences <= self.largest_graph }
    }

    /// Everything but attention, by the number of tokens, of positions with logits, of tokens that reach the experts,
    /// and of decoding sequences.
    fn alike(&self, at: [f64; 4], recent: &Recent) -> Spent {
        once(&recent.alike, at, || {
            let (parts, [tokens, logits, pooled, decoding]) = (&self.parts, at);
            let drafts = |at: f64| if at > 0.0 { parts.drafts.at(&[at]) } else { Spent::default() };
            let alike = [
                recent.tokens.at(tokens, |at| parts.tokens.at(&[at])),
                recent.logits.at(logits, |at| parts.logits.at(&[at])),
                recent.experts.at(pooled, |at| parts.experts.at(&[at])),
                recent.drafts.at(decoding, drafts),
            ];
            let of = |what: fn(&Spent) -> f64| alike.iter().map(what).sum::<f64>();
            Spent { seconds: of(|one| one.seconds), joules: of(|one| one.joules) }
        })
    }

    fn attention(&self, work: &Work, recent: &Recent) -> Spent {
        let prompts = work.prompts.map_or(Spent::default(), |prompts| {
            let at = [prompts.new.max(SHORTEST as f64), prompts.past, prompts.count];
            once(&recent.prompts, at, || self.parts.prompts.at(&at))
        });
        if work.decoding <= 0.0 {
            return prompts;
        }
        // A verified token attends to the whole sequence like the newest one, without another read.
        let length = larger(work.decoding_kv / work.decoding, SHORTEST as f64);
        let [plain, mixed] = &mut *recent.decodes.borrow_mut();
        let near = if work.prompts.is_some() || mixed.is_at(work.decoding) { mixed } else { plain };
        let decodes = self.parts.decodes.at_near(work.decoding, length, near);
        let seconds = prompts.seconds + decodes.seconds + self.copies.in_step(work).0;
        Spent { seconds, joules: prompts.joules + decodes.joules }
    }
}
