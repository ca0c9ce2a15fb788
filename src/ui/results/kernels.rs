//! The kernels of each phase: the chart's twin, and more.

use leptos::prelude::*;

use super::roofline::phase_mark;
use crate::graph::Phase;
use crate::serving::report::{KernelLine, PassReport};
use crate::study::Topic;
use crate::study::words;
use crate::ui::state::State;
use crate::units::{Seconds, count, fixed, percent};

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
    ("Share of time", "Of the step's time", true),
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
    let heads = COLUMNS.map(|(name, help, number)| {
        view! { <th scope="col" title=help class=if number { "n" } else { "" }>{name}</th> }
    });
    let rows = move || state.of_pass(phase, |pass| Some(rows(pass))).into_any();
    let name = format!("Kernels of {}", words::phase(phase).to_ascii_lowercase());
    let title = format!("{id}-title");
    view! {
        <section class="panel kernels">
            <h2 id=title.clone()>{phase_mark(phase)}{name}</h2>
            <div class="scroll" tabindex="0" role="region" aria-labelledby=title.clone()>
                <table data-testid=id aria-labelledby=title.clone()>
                    <thead><tr>{Vec::from(heads)}</tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}

/// The kernels by time, then the host and the sum.
fn rows(pass: &PassReport) -> AnyView {
    let mut kernels: Vec<(usize, &KernelLine)> = pass.kernels.iter().enumerate().collect();
    kernels.sort_by(|(_, a), (_, b)| b.share.total_cmp(&a.share));
    let phase = words::phase(pass.phase).to_ascii_lowercase();
    let row_of = |(index, kernel)| kernel_row(kernel, format!("kernel-{phase}-{index}"));
    let mut rows: Vec<AnyView> = kernels.into_iter().map(row_of).collect();
    let host_share = if pass.time.0 > 0.0 { pass.host / pass.time } else { 0.0 };
    let plain = |name: &'static str| name.into_any();
    rows.push(row("host", plain("Host time not hidden"), pass.host, host_share, Vec::new()));
    rows.push(row("step", plain("Step"), pass.time, 1.0, Vec::new()));
    rows.into_any()
}

/// `fold` explains the kernel.
fn kernel_row(kernel: &KernelLine, fold: String) -> AnyView {
    let flops = if kernel.flops.0 > 0.0 { kernel.flops.print().to_string() } else { "–".into() };
    let launches = format!("{} × {}", count(kernel.count as f64), kernel.time.print());
    let intensity = kernel.intensity.map_or("–".into(), count);
    let cells = vec![
        cell("", words::resource(kernel.limit).into(), ""),
        cell("n", percent(kernel.efficiency).to_string(), ""),
        cell("n", launches, ""),
        cell("n", flops, ""),
        cell("n", kernel.bytes.print().to_string(), ""),
        cell("n", intensity, ""),
        cell("", words::provenance(kernel.provenance).into(), words::provenance_help(kernel.provenance)),
        cell("", words::block(kernel.block).into(), ""),
        cell("", kernel.shape.clone(), ""),
    ];
    let state = State::get();
    let explain = move |_| state.show(Some(Topic::Explain), &fold);
    let name = view! { <button type="button" class="why" on:click=explain>{kernel.name}</button> }.into_any();
    row(kernel.name, name, kernel.time * kernel.count as f64, kernel.share, cells)
}

fn cell(class: &'static str, text: String, title: &'static str) -> AnyView {
    view! { <td class=class title=title>{text}</td> }.into_any()
}

/// Name, time and share, then what is known of a kernel only.
fn row(id: &'static str, name: AnyView, time: Seconds, share: f64, cells: Vec<AnyView>) -> AnyView {
    let class = if cells.is_empty() { "plain" } else { "" };
    let width = fixed(share.clamp(0.0, 1.0) * 100.0, 1) + "%";
    view! {
        <tr class=class data-kernel=id>
            <th scope="row">{name}</th>
            {cell("n", time.print().to_string(), "")}
            <td class="n share">
                <span class="track" aria-hidden="true"><i style:width=width></i></span>
                {percent(share).to_string()}
            </td>
            {cells}
        </tr>
    }
    .into_any()
}
