//! Where the time of a prefill step and of a decode step goes.

use super::{Block, Row, Study, refused};
use crate::chart::{Bar, Bars, ChartUnit, Hues};
use crate::graph;
use crate::latency::Resource;
use crate::serving::report::{KernelLine, PassReport};
use crate::study::words;
use crate::units::{Seconds, percent};

/// Number of kernels with their own bar; the others share one.
const KERNELS: usize = 9;
/// Times with a ratio below this print the same.
const DISTINCT: f64 = 1.005;

const RESOURCES: [Resource; 4] = [Resource::Compute, Resource::Memory, Resource::Network, Resource::Launch];
const PARTS: [graph::Block; 9] = [
    graph::Block::Encoder,
    graph::Block::Embedding,
    graph::Block::Attention,
    graph::Block::Recurrence,
    graph::Block::Mlp,
    graph::Block::Experts,
    graph::Block::Head,
    graph::Block::Drafting,
    graph::Block::Communication,
];

pub fn blocks(study: &Study) -> Vec<Block> {
    let own = study.own();
    let Some(report) = own.report().filter(|report| !report.passes.is_empty()) else {
        return refused(own.issues());
    };
    let mut blocks = Vec::new();
    for pass in &report.passes {
        blocks.push(Block::heading(format!(
            "{}: {} per step, uncalibrated",
            pass.phase.name(),
            pass.time.print()
        )));
        blocks.push(Block::text(&pass.sentence));
        blocks.extend(by_part(pass));
        blocks.extend(by_kernel(pass));
        blocks.push(Block::text(headroom(pass)));
    }
    blocks
}

/// Parts of the model by the resource that limits their kernels.
fn by_part(pass: &PassReport) -> [Block; 2] {
    let sum = |part: graph::Block, limit: Resource| {
        let kernels = pass.kernels.iter().filter(|kernel| kernel.block == part && kernel.limit == limit);
        kernels.map(KernelLine::total).sum::<Seconds>().0
    };
    let bar = |part: graph::Block| Bar {
        name: words::block(part).into(),
        parts: RESOURCES.map(|limit| sum(part, limit)).into(),
    };
    let mut bars: Vec<Bar> = PARTS.into_iter().map(bar).collect();
    bars.push(Bar { name: "Host".into(), parts: vec![0.0, 0.0, 0.0, pass.host.0] });
    bars.retain(|bar| bar.sum() > 0.0);
    let [compute, memory, links, launch] = pass.by_resource().map(|(_, share)| percent(share));
    let words = format!(
        "Bound by compute {compute}, by memory bandwidth {memory}, by links {links}, by launches and the host {launch}."
    );
    let name = format!("{} by part and resource", pass.phase.name());
    drawn(&name, &["Compute", "Memory", "Links", "Launch and host"], Hues::Resources, bars, &words)
}

/// The longest kernels: textbook roofline, tile and wave quantisation, and the rest.
fn by_kernel(pass: &PassReport) -> [Block; 2] {
    let kernels: Vec<&KernelLine> = pass.by_share().into_iter().map(|(_, kernel)| kernel).collect();
    let parts = |kernel: &KernelLine| {
        let launches = kernel.count as f64;
        let (roofline, time) = (kernel.roofline.0, kernel.time.0);
        let ceiling = kernel.ceiling.0.min(time);
        [roofline, ceiling - roofline, time - ceiling].map(|part| part.max(0.0) * launches)
    };
    let (shown, rest) = kernels.split_at(kernels.len().min(KERNELS));
    let bar = |kernel: &&KernelLine| Bar { name: kernel.name.into(), parts: parts(kernel).into() };
    let mut bars: Vec<Bar> = shown.iter().map(bar).collect();
    if !rest.is_empty() {
        let sum = |part: usize| rest.iter().map(|kernel| parts(kernel)[part]).sum();
        bars.push(Bar { name: format!("{} more", rest.len()), parts: [0, 1, 2].map(sum).into() });
    }
    let words = kernels.first().map_or_else(String::new, |first| {
        let (time, reached) = (first.total().print(), percent(first.efficiency));
        format!("{} takes {time} and reaches {reached} of its roofline.", first.name)
    });
    let name = format!("{} by kernel", pass.phase.name());
    let legend = ["Roofline", "Tile and wave quantisation", "Other losses"];
    drawn(&name, &legend, Hues::Parts, bars, &words)
}

/// A bar chart, and the same as a table.
fn drawn(name: &str, legend: &[&str], hues: Hues, bars: Vec<Bar>, words: &str) -> [Block; 2] {
    let row = |bar: &Bar| {
        let times = std::iter::once(bar.sum()).chain(bar.parts.iter().copied());
        Row::texts(std::iter::once(bar.name.clone()).chain(times.map(|time| ChartUnit::Seconds.print(time))))
    };
    let head: Vec<&str> = ["", "Time"].into_iter().chain(legend.iter().copied()).collect();
    let table = Block::table(name, &head, bars.iter().map(row));
    let legend = legend.iter().map(|&name| name.into()).collect();
    let chart = Bars { unit: ChartUnit::Seconds, hues, legend, bars };
    let fold = format!("table-{}", name.replace(' ', "-").to_ascii_lowercase());
    [Block::bars(name, chart, words), Block::fold(fold, format!("{name}, as a table"), vec![table])]
}

/// The step with every kernel at its ceiling, and at the textbook roofline where that differs.
fn headroom(pass: &PassReport) -> String {
    let saved: Seconds = pass.kernels.iter().map(KernelLine::saved).sum();
    let losses: Seconds =
        pass.kernels.iter().map(|kernel| (kernel.time - kernel.roofline) * kernel.count as f64).sum();
    let [at_ceiling, at_roofline] = [saved, losses].map(|less| pass.time - pass.saving(less));
    let phase = pass.phase.name().to_ascii_lowercase();
    let mut text =
        format!("With every kernel at its ceiling, a {phase} step would take {}", at_ceiling.print());
    if saved.0 > pass.saving(saved).0 * DISTINCT {
        text += ", as long as the host takes to launch it";
    } else if at_ceiling.0 > at_roofline.0 * DISTINCT {
        text += &format!("; at the roofline, {}", at_roofline.print());
    }
    text + "."
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{catalog, check, link};
    use crate::efficiency::Efficiencies;
    use crate::serving::{finish, plan};

    #[test]
    fn a_step_that_the_host_bounds_is_as_long_with_kernels_at_their_ceiling() {
        let setup = check(&link::decode("v=1&m=qwen3-8b&c=4").0.scenario, catalog()).0.expect("checked");
        let report = finish(&plan(&setup).expect("planned").0, &Efficiencies::Roofline).expect("finished");
        let mut pass = report.passes[0].clone();
        pass.kernels.iter_mut().for_each(|kernel| kernel.ceiling = kernel.time * 0.5);
        pass.kernels.iter_mut().for_each(|kernel| kernel.roofline = kernel.ceiling);
        let kernels = pass.time;
        assert_eq!(
            headroom(&pass),
            format!(
                "With every kernel at its ceiling, a prefill step would take {}.",
                (kernels * 0.5).print()
            )
        );
        // The host takes twice as long as the kernels, then three quarters.
        for (beside, least) in [(2.0, 2.0), (0.75, 0.75)] {
            pass.beside = kernels * beside;
            pass.host = (pass.beside - kernels).max(Seconds::ZERO);
            pass.time = kernels + pass.host;
            assert!(headroom(&pass).contains(&(kernels * least).print().to_string()), "{}", headroom(&pass));
        }
    }
}
