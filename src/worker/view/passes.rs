//! What limits each phase, and its kernels as rows.

use crate::calibration::Factors;
use crate::latency::Resource;
use crate::serving::report::{KernelLine, PassReport};
use crate::study::words;
use crate::units::{Seconds, count, fixed, percent};
use crate::worker::protocol::{KernelRow, Part, Pass};

pub fn shown(pass: &PassReport, factors: Option<Factors>) -> Pass {
    Pass {
        sentence: words::limits(pass, factors),
        facts: vec![
            pass.time.print().to_string(),
            count(pass.tokens as f64),
            sequences(pass),
            percent(pass.mfu).to_string(),
            percent(pass.mbu).to_string(),
        ],
        times: times(pass),
        kernels: rows(pass),
    }
}

fn sequences(pass: &PassReport) -> String {
    let own = count(pass.sequences as f64);
    match pass.padding {
        0 => own,
        padding => format!("{own} + {} padding", count(padding as f64)),
    }
}

/// Resources by the page's colour names. Zeros are omitted. The host can limit a step although
/// its own share is smaller than that of the kernels.
fn times(pass: &PassReport) -> Vec<Part> {
    const LEAST: f64 = 0.005;
    let shares = pass.by_resource();
    let most = shares.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    let part = |(resource, share): (Resource, f64)| {
        let name = match resource {
            Resource::Launch if pass.limit == resource && share < most => {
                "launch and host (limits the step)".into()
            }
            Resource::Launch => "launch and host".into(),
            _ => words::resource(resource).to_ascii_lowercase(),
        };
        let size = format!("{}\u{a0}%", fixed(share * 100.0, 0));
        Part { class: words::colour(resource).into(), name, size, width: share * 100.0 }
    };
    shares.into_iter().filter(|(_, share)| *share >= LEAST).map(part).collect()
}

/// The kernels by time, then the host and the total.
fn rows(pass: &PassReport) -> Vec<KernelRow> {
    let row = |(index, kernel): (usize, &KernelLine)| KernelRow {
        fold: pass.kernel_id(index),
        class: words::colour(kernel.limit).into(),
        cells: cells(kernel),
        help: words::provenance_help(kernel.provenance).into(),
        ..plain(kernel.name, kernel.name, kernel.total(), kernel.share)
    };
    let host = plain("host", "Host time not hidden", pass.host, pass.host_share());
    pass.by_share()
        .into_iter()
        .map(row)
        .chain([host, plain("step", "Uncalibrated step", pass.time, 1.0)])
        .collect()
}

fn plain(id: &str, name: &str, time: Seconds, share: f64) -> KernelRow {
    KernelRow {
        id: id.into(),
        name: name.into(),
        time: time.print().to_string(),
        share,
        percent: percent(share).to_string(),
        ..KernelRow::default()
    }
}

fn cells(kernel: &KernelLine) -> Vec<String> {
    let flops = if kernel.flops.0 > 0.0 { kernel.flops.print().to_string() } else { "–".into() };
    vec![
        words::bound(kernel).into(),
        percent(kernel.efficiency).to_string(),
        format!("{} × {}", count(kernel.count as f64), kernel.time.print()),
        flops,
        kernel.bytes.print().to_string(),
        kernel.intensity.map_or("–".into(), count),
        words::provenance(kernel.provenance).into(),
        words::block(kernel.block).into(),
        kernel.shape.clone(),
    ]
}
