//! Device memory by part, and whether it fits.

use leptos::prelude::*;

use crate::serving::report::Memory;
use crate::ui::inputs::issue_list;
use crate::ui::state::{Answer, State};
use crate::units::{Bytes, count, fixed};

#[component]
pub fn MemoryView() -> impl IntoView {
    let state = State::get();
    let memory = move || state.of_answer(|answer| Some(answer.report.memory.clone()));
    let fitting = move || state.of_answer(|answer| Some(fits(answer).to_string())).unwrap_or_default();
    let verdict = move || state.of_answer(|answer| Some(verdict(answer))).unwrap_or_default();
    let words = move || memory().as_ref().map(in_words).unwrap_or_default();
    let bar = move || memory().as_ref().map(bar).into_any();
    let legend = move || memory().as_ref().map(legend).into_any();
    // The reasons stand beside their inputs as well; here they explain the missing numbers.
    let reasons = move || {
        let of = |answer: &Answer| answer.report.headline.is_none().then(|| answer.report.issues.clone());
        let mut issues = state.of_answer(of).unwrap_or_default();
        issues.retain(|issue| issue.is_error());
        issues
    };
    view! {
        <section class="panel memory" aria-label="Memory">
            <header>
                <h2>"Memory of the fullest GPU"</h2>
                <p class="verdict" data-testid="fit" aria-live="polite" data-fits=fitting>{verdict}</p>
            </header>
            <div class="bar" data-testid="memory-bar" role="img" aria-label=words>{bar}</div>
            <dl class="facts legend">{legend}</dl>
            {issue_list("memory-issues".into(), reasons)}
        </section>
    }
}

/// A part of the bar: its class, its name, its size.
type MemoryPart = (&'static str, &'static str, Bytes);

/// KV cache beyond its room counts as needed, not as free.
fn parts(memory: &Memory) -> [MemoryPart; 6] {
    let free = Bytes((memory.kv_room - memory.kv_needed).0.max(0.0));
    [
        ("weights", "weights", memory.weights),
        ("activations", "activations", memory.activations),
        ("reserve", "CUDA and buffers", memory.reserve),
        ("kv", "KV cache needed", memory.kv_needed),
        ("free", "KV cache free", free),
        ("outside", "not for the engine", memory.unused()),
    ]
}

/// Widths are shares of device memory, or of the need where that is more; a mark shows the end of memory.
fn bar(memory: &Memory) -> AnyView {
    let parts = parts(memory);
    let whole = memory.total.max(parts.iter().map(|(_, _, size)| *size).sum());
    let percent = |size: Bytes| fixed((size / whole * 100.0).clamp(0.0, 100.0), 3) + "%";
    let segment = |(class, name, size): MemoryPart| {
        let title = format!("{name}: {}", size.print());
        view! { <span class=class style:width=percent(size) title=title></span> }.into_any()
    };
    let mut segments = Vec::from(parts.map(segment));
    if whole.0 > memory.total.0 * 1.0001 {
        segments.push(view! { <i class="end" style:left=percent(memory.total)></i> }.into_any());
    }
    segments.into_any()
}

fn legend(memory: &Memory) -> AnyView {
    let entry = |(class, name, size): MemoryPart| {
        let swatch = format!("swatch {class}");
        view! {
            <div><dt><i class=swatch aria-hidden="true"></i>{name}</dt><dd>{size.print().to_string()}</dd></div>
        }
        .into_any()
    };
    Vec::from(parts(memory).map(entry)).into_any()
}

/// What fits has steps; their numbers may still be missing, where requests come faster than they are served.
fn fits(answer: &Answer) -> bool {
    !answer.report.passes.is_empty()
}

fn verdict(answer: &Answer) -> String {
    let memory = &answer.report.memory;
    if !fits(answer) {
        return "Does not fit".into();
    }
    let (tokens, sequences) = (memory.kv_tokens.floor(), memory.max_concurrency.floor());
    let plural = if sequences == 1.0 { "sequence" } else { "sequences" };
    format!(
        "Fits: room for {} tokens of KV cache, {} {plural} of full length",
        count(tokens),
        count(sequences)
    )
}

fn in_words(memory: &Memory) -> String {
    let mut words = format!("Of {}", memory.total.print());
    for (_, name, size) in parts(memory) {
        words += &format!(", {name} {}", size.print());
    }
    words
}
