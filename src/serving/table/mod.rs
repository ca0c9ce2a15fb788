//! Step times of one setup, tabulated: kernels are planned at grid points once, the models answer them all
//! together, and a simulation then asks for any step in between.
//!
//! A step's calls fall apart by what their time depends on ([`Scope`]): the number of tokens of a rank, that of all
//! ranks together, the number of tokens chosen, the number of sequences that draft, or the lengths of prompts or of decoding sequences. Each part has a
//! grid of its own, so a step that mixes all costs six lookups.

mod cost;
mod grid;
mod lengths;
mod rows;

use super::step::PlannedStep;
use crate::config::catalog::Physics;
use crate::config::{HostTime, MissingFigure, Setup};
use crate::efficiency::{Efficiencies, Rows};
use crate::graph::{Batch, Phase, Scope, Sequences};
use crate::latency::{Launches, host_time};
use crate::units::Seconds;

use grid::{Axis, Grid, octaves};
pub use lengths::Prompts;
use rows::numbers;

/// The largest steps a table has to answer, per rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Tokens of a step.
    pub tokens: u64,
    /// Sequences that decode.
    pub sequences: u64,
    /// Tokens of one sequence, prompt and output.
    pub length: u64,
    /// New tokens of one prompt in one step.
    pub prompt: u64,
}

impl Extent {
    /// The least that holds both.
    pub fn joined(&self, other: &Self) -> Self {
        Self {
            tokens: self.tokens.max(other.tokens),
            sequences: self.sequences.max(other.sequences),
            length: self.length.max(other.length),
            prompt: self.prompt.max(other.prompt),
        }
    }
}

/// Points per octave of sequences and of lengths.
const SEQUENCES: u32 = 4;
const LENGTHS: u32 = 3;
/// Shortest prompt chunk and shortest decoding sequence of the grids: below, a launch costs the same.
const SHORTEST: u64 = 16;

/// A table's steps, counted; the models have not answered yet.
#[derive(Debug, Clone)]
pub struct TablePlan {
    setup: Setup,
    physics: Physics,
    tokens: Points,
    experts: Points,
    logits: Points,
    drafts: Points,
    prompts: Points,
    decodes: Points,
    rows: Rows,
    launches: Launches,
}

#[derive(Debug, Clone)]
struct Points {
    axes: Vec<Axis>,
    steps: Vec<PlannedStep>,
}

/// Step times of one setup.
#[derive(Debug, Clone)]
pub struct StepTable {
    tokens: Grid,
    experts: Grid,
    logits: Grid,
    drafts: Grid,
    prompts: Grid,
    decodes: Grid,
    launches: Launches,
    /// As [`Setup::mixed_graph`].
    mixed_graph: f64,
}

/// A table with the host times of an engine.
#[derive(Debug, Clone, Copy)]
pub struct Hosted<'a> {
    table: &'a StepTable,
    host: &'a HostTime,
}

/// What one rank does in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Work {
    pub prompts: Option<Prompts>,
    /// Sequences that decode, and the tokens of KV cache they attend to, together.
    pub decoding: f64,
    pub decoding_kv: f64,
    /// Tokens of each decoding sequence that are verified beside the newest (speculative decoding).
    pub drafted: f64,
}

impl TablePlan {
    /// # Errors
    /// Where a catalog record lacks a figure the counting needs.
    pub fn new(setup: &Setup, physics: &Physics, extent: &Extent) -> Result<Self, MissingFigure> {
        let mut rows = Rows::default();
        let mut plan = |scope, batch| PlannedStep::of_scope(setup, physics, batch, &mut rows, scope);
        let one = |count: u64, new: u64, past: u64| Batch::of(Sequences { count, new, past });

        let axis = numbers(extent.tokens);
        let steps = axis.iter().map(|&tokens| plan(Scope::Tokens, one(1, tokens, 0)));
        let tokens = Points::new(vec![axis.clone()], steps.collect::<Result<_, _>>()?);

        let axis = numbers(extent.tokens * u64::from(setup.dp));
        let steps = axis.iter().map(|&tokens| plan(Scope::Experts, Batch::default().pooling(tokens)));
        let experts = Points::new(vec![axis.clone()], steps.collect::<Result<_, _>>()?);

        let verified = 1 + u64::from(setup.drafts.drafted);
        let axis = octaves(1, extent.sequences * verified, SEQUENCES);
        let steps = axis.iter().map(|&count| plan(Scope::Logits, one(count, 1, 1)));
        let logits = Points::new(vec![axis.clone()], steps.collect::<Result<_, _>>()?);

        let axis = numbers(extent.sequences);
        let steps = axis.iter().map(|&count| plan(Scope::Drafts, one(count, 1, 1)));
        let drafts = Points::new(vec![axis.clone()], steps.collect::<Result<_, _>>()?);

        let axis = octaves(1, extent.sequences, SEQUENCES);
        let lengths = octaves(SHORTEST, extent.length.max(SHORTEST), LENGTHS);
        let scope = Scope::Lengths(Phase::Decode);
        let mut steps = Vec::new();
        for &count in &axis {
            for &length in &lengths {
                steps.push(plan(scope, one(count, 1, length))?);
            }
        }
        let decodes = Points::new(vec![axis, lengths], steps);

        let scope = Scope::Lengths(Phase::Prefill);
        let news = octaves(SHORTEST, extent.prompt.max(SHORTEST), LENGTHS);
        let pasts = lengths::pasts(extent);
        let counts = octaves(1, lengths::most_prompts(extent), 1);
        let mut steps = Vec::new();
        for &new in &news {
            for &past in &pasts {
                for &count in &counts {
                    steps.push(plan(scope, one(count, new, past))?);
                }
            }
        }
        let prompts = Points::new(vec![news, pasts, counts], steps);
        let launches = PlannedStep::launches(setup, physics);
        Ok(Self {
            setup: setup.clone(),
            physics: *physics,
            tokens,
            experts,
            logits,
            drafts,
            prompts,
            decodes,
            rows,
            launches,
        })
    }

    /// The rows the models are asked for.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The table. None where `efficiencies` does not answer every row of the plan.
    pub fn finish(&self, efficiencies: &Efficiencies) -> Option<StepTable> {
        let grid = |points: &Points| points.finish(&self.setup, &self.physics, efficiencies);
        Some(StepTable {
            tokens: grid(&self.tokens)?,
            experts: grid(&self.experts)?,
            logits: grid(&self.logits)?,
            drafts: grid(&self.drafts)?,
            prompts: grid(&self.prompts)?,
            decodes: grid(&self.decodes)?,
            launches: self.launches,
            mixed_graph: self.setup.mixed_graph() as f64,
        })
    }
}

impl Points {
    fn new(axes: Vec<Vec<u64>>, steps: Vec<PlannedStep>) -> Self {
        let axis = |points: Vec<u64>| {
            let offset = if points.first() == Some(&0) { lengths::PAST_OFFSET } else { 0.0 };
            Axis::new(points.into_iter().map(|point| point as f64), offset)
        };
        Self { axes: axes.into_iter().map(axis).collect(), steps }
    }

    fn finish(&self, setup: &Setup, physics: &Physics, efficiencies: &Efficiencies) -> Option<Grid> {
        let times = self.steps.iter().map(|step| Some(step.kernels(setup, physics, efficiencies)?.0));
        Grid::new(self.axes.clone(), times.collect::<Option<_>>()?)
    }
}

impl StepTable {
    /// The steps of an engine with these host times.
    pub fn under<'a>(&'a self, host: &'a HostTime) -> Hosted<'a> {
        Hosted { table: self, host }
    }

    /// The shortest decode step: one sequence, and no host.
    pub fn least_decode_step(&self) -> Option<Seconds> {
        let kernels = self.kernels(&[Work { decoding: 1.0, decoding_kv: 1.0, ..Work::default() }]);
        (kernels > Seconds::ZERO).then_some(kernels)
    }

    /// The time of a step's kernels. Ranks wait for the slowest wherever they meet; the experts take the tokens of
    /// all, so `ranks` are all that share them.
    pub fn kernels(&self, ranks: &[Work]) -> Seconds {
        let most = |of: &dyn Fn(&Work) -> f64| ranks.iter().map(of).fold(0.0, f64::max);
        let tokens = most(&Work::tokens);
        if tokens <= 0.0 {
            return Seconds::ZERO;
        }
        // A graph is replayed by all ranks or by none, each padded to the busiest.
        let replayed = tokens <= self.mixed_graph || ranks.iter().all(|work| work.prompts.is_none());
        let each = |work: &Work| if replayed { tokens } else { work.tokens() };
        let pooled: f64 = ranks.iter().map(each).sum();
        let logits = most(&Work::logits);
        let attention = most(&|work| self.attention(work));
        let of_ranks = self.tokens.at(&[tokens]) + self.logits.at(&[logits]) + attention;
        let decoding = most(&|work| work.decoding);
        let drafts = if decoding > 0.0 { self.drafts.at(&[decoding]) } else { 0.0 };
        Seconds(of_ranks + self.experts.at(&[pooled]) + drafts)
    }

    fn attention(&self, work: &Work) -> f64 {
        let prompts = work.prompts.map_or(0.0, |prompts| {
            self.prompts.at(&[prompts.new.max(SHORTEST as f64), prompts.past, prompts.count])
        });
        if work.decoding <= 0.0 {
            return prompts;
        }
        // A verified token attends to the whole sequence as the newest does, and reads it no second time.
        let length = (work.decoding_kv / work.decoding).max(SHORTEST as f64);
        prompts + self.decodes.at(&[work.decoding, length])
    }
}

impl Hosted<'_> {
    /// The time of a step: of its kernels, and of the host where kernels do not hide it. None where the
    /// engine's record lacks its host times.
    pub fn step(&self, ranks: &[Work]) -> Option<Seconds> {
        let kernels = self.table.kernels(ranks);
        let prefill = ranks.iter().any(|work| work.prompts.is_some());
        let host = host_time(self.host, prefill, self.table.launches, kernels)?;
        Some(kernels + host)
    }
}

impl Work {
    fn logits(&self) -> f64 {
        self.prompts.map_or(0.0, |prompts| prompts.count) + self.decoding * (1.0 + self.drafted)
    }

    fn tokens(&self) -> f64 {
        let prompts = self.prompts.map_or(0.0, |prompts| prompts.new * prompts.count);
        prompts + self.decoding * (1.0 + self.drafted)
    }
}
