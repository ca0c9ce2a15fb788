//! The kernels of each phase: the chart as a table, with more columns.

use gloo::utils::document;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{EventTarget, HtmlElement};

use super::roofline::phase_mark;
use crate::graph::Phase;
use crate::study::Topic;
use crate::study::panel::Panel;
use crate::ui::parts::{closest, term};
use crate::ui::state::State;
use crate::units::fixed;
use crate::worker::protocol::KernelRow;

#[component]
pub fn Kernels() -> impl IntoView {
    view! {
        <KernelTable phase=Phase::Prefill id="kernels-prefill" />
        <KernelTable phase=Phase::Decode id="kernels-decode" />
    }
}

/// Header, meaning, and whether the column is numeric.
const COLUMNS: [(&str, &str, bool); 12] = [
    ("Kernel", "Name in a profile of the engine", false),
    ("Time", "All launches together", true),
    ("Share of time", "Share of the step's time", true),
    ("Bound by", "The resource that bounds its ideal time", false),
    ("Efficiency", "Share of the roofline's speed reached", true),
    ("Launches", "Launches per step, and the time of each", true),
    ("FLOPs", "One launch", true),
    ("Bytes", "Operands and results of one launch, each once", true),
    ("Intensity, FLOP/B", "Arithmetic intensity: FLOPs per byte of minimum device-memory traffic", true),
    ("Source", "Source of the time", false),
    ("Part", "Part of the model", false),
    ("Shape", "Shape of one launch", false),
];

#[component]
fn KernelTable(phase: Phase, id: &'static str) -> impl IntoView {
    let state = State::get();
    let heads = COLUMNS.map(|(name, help, number)| {
        view! { <th scope="col" class=if number { "n" } else { "" }>{term(name.into(), help.into())}</th> }
    });
    let rows = move || state.of_pass(phase, |pass| Some(rows(&pass.kernels))).into_any();
    let name = format!("Kernels of {}", phase.name().to_ascii_lowercase());
    let title = format!("{id}-title");
    view! {
        <section class="panel kernels">
            <h2 id=title.clone()>{phase_mark(phase)}{name}</h2>
            <div class="scroll" tabindex="0" role="region" aria-labelledby=title.clone()>
                <table
                    data-testid=id aria-labelledby=title.clone()
                    on:pointerover=move |event| state.pointed.set(kernel_of(event.target()))
                    on:pointerleave=move |_| state.pointed.set(String::new())
                    on:focusin=move |event| state.pointed.set(kernel_of(event.target()))
                    on:focusout=move |_| state.pointed.set(String::new())
                >
                    <thead><tr>{Vec::from(heads)}</tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}

/// Prefix of row ids, followed by the kernel point's id.
const ROW: &str = "row-";

/// The kernel of the row containing `target`; empty if none.
fn kernel_of(target: Option<EventTarget>) -> String {
    let row = closest(target, "tr");
    row.and_then(|row| Some(row.id().strip_prefix(ROW)?.to_owned())).unwrap_or_default()
}

/// Scrolls to a kernel's row and focuses it.
pub fn show(kernel: &str) {
    let Some(row) = document().get_element_by_id(&format!("{ROW}{kernel}")) else { return };
    row.scroll_into_view();
    let button =
        row.query_selector("button").ok().flatten().and_then(|button| button.dyn_into::<HtmlElement>().ok());
    if let Some(button) = button {
        let _ = button.focus();
    }
}

fn rows(kernels: &[KernelRow]) -> AnyView {
    kernels.iter().cloned().map(row).collect_view().into_any()
}

/// Name, time and share, then columns for kernels only.
fn row(kernel: KernelRow) -> AnyView {
    let KernelRow { id, name, fold, time, share, percent, class: colour, cells, help } = kernel;
    let class = if cells.is_empty() { "plain" } else { "" };
    let row = (!fold.is_empty()).then(|| format!("{ROW}{fold}"));
    let width = fixed(share.clamp(0.0, 1.0) * 100.0, 1) + "%";
    let name = if fold.is_empty() {
        name.into_any()
    } else {
        let state = State::get();
        let explain = move |_| state.show(Panel::Study(Topic::Explain), &fold);
        view! { <button type="button" class="why" on:click=explain>{name}</button> }.into_any()
    };
    // The columns after time and share.
    let cells = cells.into_iter().zip(&COLUMNS[3..]).map(|(text, (column, _, number))| {
        let title = (*column == "Source").then(|| help.clone());
        let swatch = (*column == "Bound by").then(|| {
            view! { <i class=format!("swatch {colour}") aria-hidden="true"></i> }
        });
        view! { <td class=if *number { "n" } else { "" } title=title>{swatch}{text}</td> }
    });
    view! {
        <tr class=class id=row data-kernel=id>
            <th scope="row">{name}</th>
            <td class="n">{time}</td>
            <td class="n share">
                <span class="track" aria-hidden="true"><i style:width=width></i></span>
                {percent}
            </td>
            {cells.collect_view()}
        </tr>
    }
    .into_any()
}
