//! What the time of a prefill and of a decode step goes to.

use super::{Block, Row, Study, print, refused};
use crate::chart::{Bar, Bars, Unit};
use crate::graph::{self, Phase};
use crate::latency::Resource;
use crate::serving::report::{KernelLine, PassReport};
use crate::serving::words;
use crate::units::{Seconds, percent};

/// Kernels that have a bar of their own; the others share one.
const KERNELS: usize = 9;
/// Times nearer to each other than this are one.
const TOLD_APART: f64 = 1.005;

const RESOURCES: [Resource; 4] = [Resource::Compute, Resource::Memory, Resource::Network, Resource::Launch];
const PARTS: [graph::Block; 7] = [
    graph::Block::Embedding,
    graph::Block::Attention,
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
        let phase = words::phase(pass.phase);
        blocks.push(Block::heading(format!("{phase}: a step of {}", pass.time.print())));
        blocks.push(Block::text(&pass.sentence));
        blocks.extend(by_part(pass));
        blocks.extend(by_kernel(pass));
        blocks.push(Block::text(gaps(pass)));
    }
    blocks
}

/// Parts of the model by the resource that bounds their kernels.
fn by_part(pass: &PassReport) -> [Block; 2] {
    let of = |part: graph::Block, limit: Resource| {
        let kernels = pass.kernels.iter().filter(|kernel| kernel.block == part && kernel.limit == limit);
        kernels.map(total).sum::<Seconds>().0
    };
    let mut bars: Vec<Bar> = Vec::new();
    for part in PARTS {
        let parts = RESOURCES.map(|limit| of(part, limit));
        if parts.iter().sum::<f64>() > 0.0 {
            bars.push(Bar { name: words::block(part).into(), parts: parts.into() });
        }
    }
    if pass.host.0 > 0.0 {
        bars.push(Bar { name: "Host".into(), parts: vec![0.0, 0.0, 0.0, pass.host.0] });
    }
    let name = format!("{} by part and resource", words::phase(pass.phase));
    let legend = ["Tensor cores", "Device memory", "Links", "Launches and host"];
    drawn(&name, &legend, bars, &shares(pass))
}

/// The longest kernels: the textbook roofline, what tiles and waves add, and what is left to the kernel.
fn by_kernel(pass: &PassReport) -> [Block; 2] {
    let mut kernels: Vec<&KernelLine> = pass.kernels.iter().collect();
    kernels.sort_by(|a, b| b.share.total_cmp(&a.share));
    let three = |kernel: &KernelLine| {
        let launches = kernel.count as f64;
        let (roofline, ceiling, time) = (kernel.roofline.0, kernel.ceiling.0, kernel.time.0);
        // The ceiling may lie above what was measured, where a kernel is cut otherwise than counted.
        let ceiling = ceiling.min(time);
        [roofline, (ceiling - roofline).max(0.0), (time - ceiling.max(roofline)).max(0.0)]
            .map(|part| part * launches)
    };
    let (shown, rest) = kernels.split_at(kernels.len().min(KERNELS));
    let bar = |kernel: &&KernelLine| Bar { name: kernel.name.into(), parts: three(kernel).into() };
    let mut bars: Vec<Bar> = shown.iter().map(bar).collect();
    if !rest.is_empty() {
        let sum = rest
            .iter()
            .map(|kernel| three(kernel))
            .fold([0.0; 3], |sum, parts| [sum[0] + parts[0], sum[1] + parts[1], sum[2] + parts[2]]);
        bars.push(Bar { name: format!("{} others", rest.len()), parts: sum.into() });
    }
    let name = format!("{} by kernel", words::phase(pass.phase));
    drawn(&name, &["Textbook roofline", "Tiles and waves", "Beyond both"], bars, &longest(&kernels))
}

/// A chart of bars, and the same as a table.
fn drawn(name: &str, legend: &[&str], bars: Vec<Bar>, words: &str) -> [Block; 2] {
    let time = |seconds: f64| Seconds(seconds).print().to_string();
    let row = |bar: &Bar| {
        let sum = time(bar.parts.iter().sum());
        Row::texts([bar.name.clone(), sum].into_iter().chain(bar.parts.iter().copied().map(time)))
    };
    let head: Vec<&str> = ["", "Time"].into_iter().chain(legend.iter().copied()).collect();
    let table = Block::table(name, &head, bars.iter().map(row).collect());
    let legend = legend.iter().map(|&name| name.into()).collect();
    let chart = Bars { unit: Unit::Seconds, legend, bars };
    let fold = format!("table-{}", name.replace(' ', "-").to_ascii_lowercase());
    [print::bars(name, chart, words), Block::fold(fold, "As a table", vec![table])]
}

fn shares(pass: &PassReport) -> String {
    let of = |limit: Resource| {
        let kernels = pass.kernels.iter().filter(|kernel| kernel.limit == limit);
        kernels.map(|kernel| kernel.share).sum::<f64>()
    };
    let host = if pass.time.0 > 0.0 { pass.host / pass.time } else { 0.0 };
    format!(
        "Bound by the tensor cores {}, by device memory {}, by links {}, by launches and the host {}.",
        percent(of(Resource::Compute)),
        percent(of(Resource::Memory)),
        percent(of(Resource::Network)),
        percent(of(Resource::Launch) + host),
    )
}

fn longest(kernels: &[&KernelLine]) -> String {
    let Some(first) = kernels.first() else { return String::new() };
    format!(
        "{} takes {} and reaches {} of its textbook roofline.",
        first.name,
        total(first).print(),
        percent(first.efficiency)
    )
}

/// What the step would take without each of the two gaps.
fn gaps(pass: &PassReport) -> String {
    let sum = |of: fn(&KernelLine) -> Seconds| {
        let times = pass.kernels.iter().map(|kernel| of(kernel) * kernel.count as f64);
        times.sum::<Seconds>() + pass.host
    };
    let ceiling = sum(|kernel| Seconds(kernel.ceiling.0.min(kernel.time.0).max(kernel.roofline.0)));
    let name = match pass.phase {
        Phase::Prefill => "prefill",
        Phase::Decode => "decode",
    };
    let roofline = sum(|kernel| kernel.roofline);
    let also = match ceiling.0 > roofline.0 * TOLD_APART {
        true => format!("; at the textbook roofline, {}", roofline.print()),
        false => String::new(),
    };
    let ceiling = ceiling.print();
    format!(
        "Were every kernel at the ceiling of its tiles and waves, a {name} step would take {ceiling}{also}."
    )
}

/// All launches together.
fn total(kernel: &KernelLine) -> Seconds {
    kernel.time * kernel.count as f64
}
