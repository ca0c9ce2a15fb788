//! Headroom: which kernel to tune first, and what the hardware would serve if nothing waited for anything.

use super::{Block, Row, Span, Study, refused};
use crate::chart::not_shown;
use crate::config::Setup;
use crate::graph::Phase;
use crate::kernels::Schedule;
use crate::latency::Resource;
use crate::serving::report::{KernelLine, LEAST_SAVING, PassReport};
use crate::serving::{Alternative, Report};
use crate::study::words;
use crate::units::{Bytes, Flops, Order, Seconds, count, counted, percent};

pub fn blocks(study: &Study) -> Vec<Block> {
    let own = study.own();
    let (Some(setup), Some(report)) = (own.setup(), own.report().filter(|report| !report.passes.is_empty()))
    else {
        return refused(own.issues());
    };
    let mut blocks = optimum(setup, report);
    // Most of a request's time is decode.
    for (place, pass) in report.passes.iter().enumerate().rev() {
        let ranked = ranked(pass, own.elsewhere(place));
        blocks.push(Block::heading(format!("{}: {} per step", pass.phase.name(), pass.time.print())));
        blocks.push(Block::text(first(pass, &ranked)));
        blocks.push(table(pass, &ranked));
        blocks.extend(fastest(pass, &ranked).map(Block::text));
        blocks.extend(tiles(pass, &ranked));
        blocks.extend(not_shown(pass).map(Block::text));
    }
    blocks
}

/// A kernel, its index in the report, and the saving per step if it ran at its ceiling.
struct Gain<'a> {
    index: usize,
    kernel: &'a KernelLine,
    saved: Seconds,
    other: &'a Alternative,
}

impl Gain<'_> {
    /// The saving with the fastest of other engines' kernels, if any were measured.
    fn saved_elsewhere(&self) -> Option<Seconds> {
        let (_, time) = self.other.engine.as_ref()?;
        Some((self.kernel.time - *time).max(Seconds::ZERO) * self.kernel.count as f64)
    }
}

/// Kernels with a saving, largest first.
fn ranked<'a>(pass: &'a PassReport, others: &'a [Alternative]) -> Vec<Gain<'a>> {
    const NOTHING: &Alternative = &Alternative { engine: None, tile: None };
    let gain = |(index, kernel)| {
        let other = others.get(index).unwrap_or(NOTHING);
        Gain { index, kernel, saved: kernel.saved(), other }
    };
    let all = pass.kernels.iter().enumerate().map(gain);
    let mut all: Vec<Gain<'_>> = all.filter(|gain| gain.saved.0 >= LEAST_SAVING * pass.time.0).collect();
    all.order_by(|a, b| b.saved.0.total_cmp(&a.saved.0));
    all
}

fn first(pass: &PassReport, ranked: &[Gain<'_>]) -> String {
    let Some(Gain { kernel, saved, .. }) = ranked.first() else {
        return "No kernel is slower than its ceiling.".into();
    };
    let saved = pass.saving(*saved);
    if saved.0 < LEAST_SAVING * pass.time.0 {
        return format!(
            "The host sets the length of this step: its work beside the kernels takes {}, so a faster kernel would not \
            shorten it.",
            pass.beside.print()
        );
    }
    format!(
        "Tune first: {}. With this kernel at its ceiling, a step would take {} \
        instead of {}: {} less.",
        kernel.name,
        (pass.time - saved).print(),
        pass.time.print(),
        percent(saved / pass.time),
    )
}

/// One row per kernel with a saving, then the others together and the host.
fn table(pass: &PassReport, ranked: &[Gain<'_>]) -> Block {
    const HEAD: [&str; 9] = [
        "Kernel",
        "Now",
        "At its ceiling",
        "Saves",
        "Of the step",
        "Fastest elsewhere",
        "Of the step",
        "Bound by",
        "Source",
    ];
    let phase = pass.phase.id();
    let cells = |now: Seconds, saved: Seconds, of_step: Seconds| {
        [now, now - saved, saved]
            .map(|time| time.print().to_string())
            .into_iter()
            .chain([percent(of_step / pass.time).to_string()])
            .map(Span::plain)
            .collect::<Vec<_>>()
    };
    let row = |gain: &Gain<'_>| {
        let Gain { index, kernel, saved, .. } = gain;
        let name = explained(pass, *index);
        let known = [words::bound(kernel), words::provenance(kernel.provenance)].map(Span::plain);
        Row::new(
            std::iter::once(name)
                .chain(cells(kernel.total(), *saved, pass.saving(*saved)))
                .chain(elsewhere(pass, gain))
                .chain(known)
                .collect(),
        )
    };
    let plain = |name: String, now: Seconds, saved: Seconds, of_step: Seconds| {
        let none = ["–"; 4].map(Span::plain);
        Row::new(std::iter::once(Span::plain(name)).chain(cells(now, saved, of_step)).chain(none).collect())
    };
    let mut rows: Vec<Row> = ranked.iter().map(row).collect();
    let is_ranked = |index: usize| ranked.iter().any(|gain| gain.index == index);
    let others = pass.kernels.iter().enumerate().filter(|(index, _)| !is_ranked(*index));
    let (mut number, mut now, mut less) = (0, Seconds::ZERO, Seconds::ZERO);
    for (_, kernel) in others {
        (number, now, less) = (number + 1, now + kernel.total(), less + kernel.saved());
    }
    if number > 0 {
        rows.push(plain(format!("{number} more"), now, less, pass.saving(less)));
    }
    if pass.host.0 > 0.0 {
        rows.push(plain("Host time not hidden".into(), pass.host, pass.host, pass.host));
    }
    let name = format!("Headroom of {}", pass.phase.name().to_ascii_lowercase());
    Block::table(name, &HEAD, rows).called(format!("headroom-{phase}"))
}

/// The kernel's name, linked to its explanation.
fn explained(pass: &PassReport, line: usize) -> Span {
    Span::link(pass.kernels[line].name, format!("view:explain/{}", pass.kernel_id(line)))
}

/// The engine with the fastest kernel, its time over all launches, and the saving with it.
fn elsewhere(pass: &PassReport, gain: &Gain<'_>) -> [Span; 2] {
    let cells = match (&gain.other.engine, gain.saved_elsewhere()) {
        (Some((name, time)), Some(saved)) if saved.0 >= LEAST_SAVING * pass.time.0 => {
            let time = *time * gain.kernel.count as f64;
            [format!("{name}, {}", time.print()), percent(pass.saving(saved) / pass.time).to_string()]
        }
        (Some(_), _) => ["none faster".into(), "–".into()],
        (None, _) => ["–".into(), "–".into()],
    };
    cells.map(Span::plain)
}

/// Explains "elsewhere", and gives the largest gain there, if other engines' kernels were measured.
fn fastest(pass: &PassReport, ranked: &[Gain<'_>]) -> Option<String> {
    let measured = || ranked.iter().filter_map(|gain| Some((gain, gain.saved_elsewhere()?)));
    let (gain, saved) = measured().max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    let mut text = "Elsewhere: the other engines' default kernels, where measured on this GPU. Their times for the same call are \
                    predicted, not measured."
        .to_owned();
    let saved = pass.saving(saved);
    if let Some((name, _)) = gain.other.engine.as_ref().filter(|_| saved.0 >= LEAST_SAVING * pass.time.0) {
        text += &format!(
            " The largest gain: with the {} of {name}, a step would take {} less.",
            gain.kernel.name,
            percent(saved / pass.time)
        );
    }
    Some(text)
}

/// Tiles and waves of the kernels with known tiles, next to the tile that would waste least.
fn tiles(pass: &PassReport, ranked: &[Gain<'_>]) -> Option<Block> {
    const HEAD: [&str; 6] = ["Kernel", "Tile", "Waves", "Last wave idle", "Wasted", "Least waste"];
    /// Shares within half a percent print the same.
    const DISTINCT: f64 = 5e-3;
    let side = |schedule: &Schedule| {
        let [rows, columns, depth] = schedule.tile;
        format!("{rows} × {columns} × {depth}")
    };
    let wasted = |schedule: &Schedule| 1.0 - 1.0 / schedule.stretch();
    let row = |gain: &Gain<'_>| {
        let taken = gain.kernel.schedule.as_ref()?;
        let better = match &gain.other.tile {
            Some(tile) if wasted(taken) - wasted(tile) >= DISTINCT => {
                format!("{}: {}", side(tile), percent(wasted(tile)))
            }
            Some(_) => "this tile".into(),
            None => "–".into(),
        };
        let cells = [
            side(taken),
            count(taken.waves as f64),
            percent(taken.idle_at_last()).to_string(),
            percent(wasted(taken)).to_string(),
            better,
        ];
        let name = explained(pass, gain.index);
        Some(Row::new(std::iter::once(name).chain(cells.map(Span::plain)).collect()))
    };
    let rows: Vec<Row> = ranked.iter().filter_map(row).collect();
    let phase = pass.phase.name().to_ascii_lowercase();
    let name = format!("Tiles and waves of {phase}");
    let text = "Tiles in rows, columns and depth, chosen by a rule fitted to published launches. A wave is the tiles \
        that run at once. Waste is the work lost to padding and idle SMs: it costs time only where compute sets the ceiling.";
    let blocks = vec![Block::table(name.clone(), &HEAD, rows.clone()), Block::text(text)];
    (!rows.is_empty()).then(|| Block::fold(format!("tiles-{phase}"), name, blocks))
}

/// The time that each resource alone would need for a step.
struct ResourceTimes([(Resource, Seconds); 3]);

impl ResourceTimes {
    /// `None` if the GPU's record lacks a rate.
    fn of(setup: &Setup, pass: &PassReport) -> Option<Self> {
        let bandwidth = setup.gpu.bandwidth().ok()?;
        let [mut compute, mut memory, mut links] = [Seconds::ZERO; 3];
        for kernel in &pass.kernels {
            let launches = kernel.count as f64;
            if let Some(math) = kernel.math {
                compute += Flops(kernel.flops.0 * launches) / setup.gpu.peak(math).ok()?;
            }
            if kernel.limit == Resource::Network {
                links += kernel.roofline * launches;
            } else {
                memory += Bytes(kernel.traffic.0 * launches) / bandwidth;
            }
        }
        Some(Self([(Resource::Compute, compute), (Resource::Memory, memory), (Resource::Network, links)]))
    }

    /// The bottleneck, behind which the others could hide.
    fn most(&self) -> (Resource, Seconds) {
        self.0.into_iter().fold(self.0[0], |most, one| if one.1.0 > most.1.0 { one } else { most })
    }
}

/// Steps and decode rate as predicted, with every kernel at its ceiling, and with perfect overlap of compute,
/// memory and links (NanoFlow's bound, arXiv 2408.12757, at this load's batch size).
fn optimum(setup: &Setup, report: &Report) -> Vec<Block> {
    let (Some(prefill), Some(decode)) = (report.pass(Phase::Prefill), report.pass(Phase::Decode)) else {
        return Vec::new();
    };
    let needs = (ResourceTimes::of(setup.prefill_setup(), prefill), ResourceTimes::of(setup, decode));
    let (Some(of_prefill), Some(of_decode)) = needs else {
        return Vec::new();
    };
    let ceilings = |pass: &PassReport| {
        pass.kernels.iter().fold(pass.time - pass.host, |time, kernel| time - kernel.saved())
    };
    let rows = [
        // Calibration is of whole runs, not of one kernel or another.
        (
            if report.calibrated.is_some() { "Uncalibrated prediction" } else { "Predicted" },
            prefill.time,
            decode.time,
        ),
        ("Every kernel at its ceiling, no host time", ceilings(prefill), ceilings(decode)),
        ("Compute, memory and links overlapped perfectly", of_prefill.most().1, of_decode.most().1),
    ];
    let row = |(name, prompt, step): (&str, Seconds, Seconds)| {
        let rate = count(decoded_per_s(setup, decode, step).round());
        Row::texts([
            name.to_owned(),
            prompt.print().to_string(),
            step.print().to_string(),
            format!("{rate} tok/s"),
        ])
    };
    let (limit, least) = of_decode.most();
    let (name, uses) = match limit {
        // Its capacity is another matter.
        Resource::Memory => ("memory bandwidth", "it (MBU leaves out activations beyond the L2 cache)"),
        Resource::Network => ("links", "their bandwidth"),
        _ => ("compute", "its peak"),
    };
    let text = format!(
        "Overlapped perfectly, {name} would limit decode: now decoding {} at once uses {} of {uses}. Output is that of all \
        replicas, between prefills; larger batches raise it.",
        counted(decode.sequences as f64, "sequence"),
        percent(least / decode.time),
    );
    let head = ["", "Prefill step", "Decode step", "Output while decoding"];
    vec![
        Block::heading("How far from the optimum"),
        Block::table("How far from the optimum", &head, rows.map(row)).called("optimum"),
        Block::text(text),
    ]
}

/// Tokens per second of all replicas decoding batches like `pass`, one per rank and stage, in steps of `step`; of no
/// more sequences than the load has.
fn decoded_per_s(setup: &Setup, pass: &PassReport, step: Seconds) -> f64 {
    let batches = f64::from(setup.replicas * setup.parallel.batches());
    let load = setup.workload.load;
    let most = if load.is_rate() { f64::INFINITY } else { load.amount() };
    (pass.sequences as f64 * batches).min(most) * setup.tokens_per_step() / step.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{catalog, check, link};
    use crate::efficiency::Efficiencies;
    use crate::serving::{finish, plan};

    #[test]
    fn no_step_is_shorter_than_its_longest_resource() {
        for link in [
            "v=1&m=qwen3-32b&tp=2&c=64",
            "v=1&m=qwen3-30b-a3b&tp=4&c=64",
            "v=1&m=llama-3.1-8b&b=8&osl=16",
            "v=1&m=llama-3.1-8b&b=64&isl=512&osl=64",
            "v=1&m=qwen3-8b&c=1&tp=2&pp=4",
            "v=1&m=qwen3-8b&b=8&tp=2&pp=2",
            "v=1&m=qwen3-8b&c=1&n=4",
        ] {
            let setup = check(&link::decode(link).0.scenario, catalog()).0.expect(link);
            let (plan, _) = plan(&setup).expect(link);
            let report = finish(&plan, &Efficiencies::Roofline).expect(link);
            for pass in &report.passes {
                let needs = ResourceTimes::of(&setup, pass).expect(link);
                assert!(needs.most().1.0 > 0.0 && needs.most().1.0 <= pass.time.0 * (1.0 + 1e-9), "{link}");
            }
            let decode = report.passes.last().expect(link);
            let now = decoded_per_s(&setup, decode, decode.time);
            let output = report.headline.as_ref().expect(link).output_per_s;
            assert!(now >= output, "{link}: {output} tok/s, {now} between prefills");
            let workload = &setup.workload;
            let mostly_decodes = workload.osl > 64 && workload.load.amount() < 16.0;
            assert!(!mostly_decodes || now < 1.5 * output, "{link}: {output} tok/s, {now} between prefills");
            assert_eq!(tables(&report, &setup), 3);
        }
    }

    fn tables(report: &Report, setup: &Setup) -> usize {
        let mut blocks = optimum(setup, report);
        blocks.extend(report.passes.iter().map(|pass| table(pass, &ranked(pass, &[]))));
        blocks.iter().filter_map(Block::as_table).filter(|table| !table.rows.is_empty()).count()
    }
}
