//! The views of the results, and the panels of the open one.

use leptos::prelude::*;

use crate::study::Topic;
use crate::study::panel::{Panel, TABS, View};
use crate::ui::parts::renewed;
use crate::ui::parts::{labelled, segments};
use crate::ui::state::State;

#[component]
pub fn Views() -> impl IntoView {
    let state = State::get();
    let shown = move || state.study.with(|study| study.panel);
    let button = |group: &'static str, id: String, label: AnyView, view: Option<&'static View>, to: Panel| {
        let checked = move || view.map_or(shown() == to, |view| view.holds(shown()));
        labelled(group, id, label, Box::new(checked), Box::new(move || state.show(to, "")))
    };
    let view = |view: &'static View| {
        let first = view.panels.first().map_or(Panel::Overview, |(panel, _)| *panel);
        let label = match first {
            Panel::Study(Topic::Compare) => view! { {view.name}{compared(state)} }.into_any(),
            _ => view.name.into_any(),
        };
        button("view", format!("view-{}", view.id), label, Some(view), first)
    };
    let panels = |view: &'static View| {
        let one = |&(panel, name): &(Panel, &'static str)| {
            button(view.id, format!("tab-{}", panel.id()), name.into_any(), None, panel)
        };
        let panels = segments("panels", view.name, view.panels.iter().map(one).collect());
        view! { <div prop:hidden=move || !view.holds(shown())>{panels}</div> }.into_any()
    };
    let several = TABS.iter().filter(|view| view.panels.len() > 1);
    view! {
        <div class="views">
            {segments("tabs", "View", TABS.iter().map(view).collect())}
            {several.map(panels).collect::<Vec<_>>()}
        </div>
    }
}

/// How many configurations the link compares, the form's included; nothing if it holds no other.
fn compared(state: State) -> AnyView {
    let count = Memo::new(move |_| state.form.with(|form| form.compared().len()));
    renewed(move || match count.get() {
        0 => ().into_any(),
        others => view! { " " {others + 1} <span class="unseen">" configurations"</span> }.into_any(),
    })
}
