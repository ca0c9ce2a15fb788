//! The kernels of each phase: the chart's twin, and more.

use leptos::prelude::*;

use super::roofline::phase_mark;
use crate::graph::Phase;
use crate::serving::report::{KernelLine, PassReport};
use crate::ui::state::State;
use crate::ui::words;
use crate::units::{Seconds, count, percent};

#[component]
pub fn Kernels() -> impl IntoView {
    view! {
        <KernelTable phase=Phase::Prefill id="kernels-prefill" />
        <KernelTable phase=Phase::Decode id="kernels-decode" />
    }
}

/// Head, meaning, whether numbers stand below it.
const COLUMNS: [(&str, &str, bool); 12] = [
    ("Kernel", "What a profile of the engine calls it", false),
    ("Time", "All launches together", true),
    ("Share", "Of the step's time", true),
    ("Limit", "The resource that bounds its ideal time", false),
    ("Efficiency", "Share of the textbook roofline's speed reached", true),
    ("Launches", "Launches in the step, and the time of one", true),
    ("FLOPs", "One launch", true),
    ("Bytes", "Device-memory traffic of one launch, every operand once", true),
    ("FLOP/B", "Arithmetic intensity", true),
    ("From", "Where its time comes from", false),
    ("Part", "Part of the model", false),
    ("Shape", "Size of one launch", false),
];

#[component]
fn KernelTable(phase: Phase, id: &'static str) -> impl IntoView {
    let state = State::get();
    let pass = Memo::new(move |_| {
        state.answer.with(|answer| {
            answer
                .as_ref()
                .and_then(|answer| answer.report.passes.iter().find(|pass| pass.phase == phase).cloned())
        })
    });
    let heads =
        COLUMNS.map(|(name, help, number)| view! { <th scope="col" title=help class:n=number>{name}</th> });
    let rows = move || pass.with(|pass| pass.as_ref().map(rows));
    let name = format!("Kernels of {}", words::phase(phase).to_ascii_lowercase());
    view! {
        <section class="panel kernels">
            <h2 id=format!("{id}-title")>{phase_mark(phase)}{name}</h2>
            <div class="scroll" tabindex="0" role="region" aria-labelledby=format!("{id}-title")>
                <table data-testid=id aria-labelledby=format!("{id}-title")>
                    <thead><tr>{heads.collect_view()}</tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}

/// The kernels by time, then the host and the sum.
fn rows(pass: &PassReport) -> impl IntoView + use<> {
    let mut kernels: Vec<&KernelLine> = pass.kernels.iter().collect();
    kernels.sort_by(|a, b| b.share.total_cmp(&a.share));
    let kernels = kernels.into_iter().map(row).collect_view();
    let host_share = if pass.time.0 > 0.0 { pass.host / pass.time } else { 0.0 };
    (
        kernels,
        plain_row("host", "Host time not hidden", pass.host, host_share),
        plain_row("step", "Step", pass.time, 1.0),
    )
}

fn row(kernel: &KernelLine) -> impl IntoView + use<> {
    let total = kernel.time * kernel.count as f64;
    let multiplies = kernel.flops.0 > 0.0;
    let flops = if multiplies { kernel.flops.print().to_string() } else { "–".into() };
    view! {
        <tr data-kernel=kernel.name>
            <th scope="row">{kernel.name}</th>
            <td class="n">{total.print().to_string()}</td>
            <td class="n share">{share_bar(kernel.share)}</td>
            <td>{words::resource(kernel.limit)}</td>
            <td class="n">{percent(kernel.efficiency).to_string()}</td>
            <td class="n">{format!("{} × {}", count(kernel.count as f64), kernel.time.print())}</td>
            <td class="n">{flops}</td>
            <td class="n">{kernel.bytes.print().to_string()}</td>
            <td class="n">{kernel.intensity.map_or("–".into(), count)}</td>
            <td title=words::provenance_help(kernel.provenance)>{words::provenance(kernel.provenance)}</td>
            <td>{words::block(kernel.block)}</td>
            <td>{kernel.shape.clone()}</td>
        </tr>
    }
}

fn plain_row(id: &'static str, name: &'static str, time: Seconds, share: f64) -> impl IntoView + use<> {
    view! {
        <tr class="plain" data-kernel=id>
            <th scope="row">{name}</th>
            <td class="n">{time.print().to_string()}</td>
            <td class="n share">{share_bar(share)}</td>
            <td colspan=COLUMNS.len() - 3></td>
        </tr>
    }
}

/// A share as a bar and in figures.
fn share_bar(share: f64) -> impl IntoView + use<> {
    let width = format!("{:.1}%", share.clamp(0.0, 1.0) * 100.0);
    (
        view! { <span class="track" aria-hidden="true"><i style:width=width></i></span> },
        percent(share).to_string(),
    )
}
