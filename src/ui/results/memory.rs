//! Device memory by part, and whether it fits.

use leptos::prelude::*;

use crate::ui::state::State;
use crate::units::fixed;
use crate::worker::protocol::{MemoryShown, Part};

#[component]
pub fn MemoryView() -> impl IntoView {
    let state = State::get();
    let memory = Memo::new(move |_| state.of_answer(|answer| Some(answer.memory.clone())));
    let fitting = move || state.of_answer(|answer| Some(answer.fits.to_string())).unwrap_or_default();
    let show = move |part: fn(&MemoryShown) -> String| {
        move || memory.with(|memory| memory.as_ref().map(part)).unwrap_or_default()
    };
    let words = show(|memory| memory.words.clone());
    let bar = move || memory.get().map(bar).into_any();
    let legend =
        move || memory.get().map(|memory| memory.parts.into_iter().map(entry).collect_view()).into_any();
    view! {
        <section class="panel memory" aria-label="Memory">
            <header>
                <h2>"Memory of the fullest GPU"</h2>
                <p class="fit" data-testid="fit" data-fits=fitting>{show(|memory| memory.verdict.clone())}</p>
            </header>
            <div class="bar" data-testid="memory-bar" role="img" aria-label=move || format!("Memory: {}", words())>{bar}</div>
            <dl class="facts legend">{legend}</dl>
        </section>
    }
}

/// A mark shows the end of memory if more is needed.
fn bar(memory: MemoryShown) -> AnyView {
    let percent = |share: f64| fixed(share, 3) + "%";
    let segment = |Part { class, name, size, width }: Part| {
        view! { <span class=class style:width=percent(width) title=format!("{name}: {size}")></span> }
            .into_any()
    };
    let end = memory.end.map(|end| view! { <i class="end" style:left=percent(end)></i> }.into_any());
    memory.parts.into_iter().map(segment).chain(end).collect_view().into_any()
}

fn entry(Part { class, name, size, .. }: Part) -> AnyView {
    let swatch = format!("swatch {class}");
    view! { <div><dt><i class=swatch aria-hidden="true"></i>{name}</dt><dd>{size}</dd></div> }.into_any()
}
