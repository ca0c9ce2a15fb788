//! Device memory by part, and whether it fits.

use leptos::prelude::*;

use crate::serving::report::Memory;
use crate::ui::state::{Answer, State};
use crate::units::{Bytes, count};

/// A part of the bar: its class, its name, its size.
type Part = (&'static str, &'static str, Bytes);

#[component]
pub fn MemoryView() -> impl IntoView {
    let state = State::get();
    let memory = Memo::new(move |_| {
        state.answer.with(|answer| answer.as_ref().map(|answer| answer.report.memory.clone()))
    });
    let fits =
        Memo::new(move |_| state.answer.with(|answer| answer.as_ref().map(|a| a.report.headline.is_some())));
    let verdict = move || state.answer.with(|answer| answer.as_ref().map(verdict));
    let reasons = move || state.answer.with(|answer| answer.as_ref().map(reasons)).unwrap_or_default();
    let parts = move || memory.with(|memory| memory.as_ref().map(parts)).unwrap_or_default();
    let bar = move || memory.with(|memory| memory.as_ref().map(|memory| bar(memory, &parts())));
    let legend = move || {
        parts().into_iter().map(|(class, name, size)| view! {
        <div><dt><i class=format!("swatch {class}") aria-hidden="true"></i>{name}</dt><dd>{size.print().to_string()}</dd></div>
    }).collect_view()
    };
    view! {
        <section class="panel memory" aria-label="Memory">
            <header>
                <h2>"Memory of the fullest GPU"</h2>
                <p class="verdict" data-testid="fit" aria-live="polite" data-fits=move || fits.get().map(|fits| fits.to_string())>
                    {verdict}
                </p>
            </header>
            <div class="bar" data-testid="memory-bar" role="img" aria-label=move || memory.with(|m| m.as_ref().map(in_words))>
                {bar}
            </div>
            <dl class="facts legend">{legend}</dl>
            <ul class="issues">{move || reasons().into_iter().map(|text| view! {
                <li class="issue" data-severity="error"><span class="mark" aria-hidden="true">"✕"</span><span>{text}</span></li>
            }).collect_view()}</ul>
        </section>
    }
}

/// KV cache beyond its room counts as needed, not as free: the bar then runs over the engine's share.
fn parts(memory: &Memory) -> Vec<Part> {
    let free = Bytes((memory.kv_room - memory.kv_needed).0.max(0.0));
    let outside = Bytes((memory.total - memory.usable).0.max(0.0));
    vec![
        ("weights", "weights", memory.weights),
        ("activations", "activations", memory.activations),
        ("reserve", "CUDA and buffers", memory.reserve),
        ("kv", "KV cache needed", memory.kv_needed),
        ("free", "KV cache free", free),
        ("outside", "not for the engine", outside),
    ]
}

/// Widths are shares of device memory, or of the need where that is more; a mark shows the end of memory.
fn bar(memory: &Memory, parts: &[Part]) -> impl IntoView + use<> {
    let sum = parts.iter().map(|(_, _, size)| *size).sum::<Bytes>();
    let whole = memory.total.max(sum);
    let percent = |size: Bytes| format!("{:.3}%", (size / whole * 100.0).clamp(0.0, 100.0));
    let segments = parts.iter().map(|(class, name, size)| {
        view! { <span class=*class style:width=percent(*size) title=format!("{name}: {}", size.print())></span> }
    });
    let segments = segments.collect_view();
    let end = (whole.0 > memory.total.0 * 1.0001)
        .then(|| view! { <i class="end" style:left=percent(memory.total)></i> });
    (segments, end)
}

fn verdict(answer: &Answer) -> String {
    let memory = &answer.report.memory;
    if answer.report.headline.is_none() {
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

/// Why there is no prediction.
fn reasons(answer: &Answer) -> Vec<String> {
    if answer.report.headline.is_some() {
        return Vec::new();
    }
    answer.report.issues.iter().filter(|issue| issue.is_error()).map(|issue| issue.text.clone()).collect()
}

fn in_words(memory: &Memory) -> String {
    let parts = parts(memory).into_iter().map(|(_, name, size)| format!("{name} {}", size.print()));
    format!("Of {}: {}", memory.total.print(), parts.collect::<Vec<_>>().join(", "))
}
