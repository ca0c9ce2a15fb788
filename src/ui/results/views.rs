//! The views of the results, and the panels of the open one.

use leptos::prelude::*;

use crate::study::panel::{Panel, TABS, View};
use crate::ui::radio::{radio, segments};
use crate::ui::state::State;

#[component]
pub fn Views() -> impl IntoView {
    let state = State::get();
    let shown = move || state.study.with(|study| study.panel);
    let button =
        |group: &'static str, id: String, name: &'static str, view: Option<&'static View>, to: Panel| {
            let checked = move || view.map_or(shown() == to, |view| view.holds(shown()));
            radio(group, id, name, checked, move || state.show(to, ""))
        };
    let view = |view: &'static View| {
        let first = view.panels.first().map_or(Panel::Overview, |(panel, _)| *panel);
        button("view", format!("view-{}", view.id), view.name, Some(view), first)
    };
    let panels = |view: &'static View| {
        let one = |&(panel, name): &(Panel, &'static str)| {
            button(view.id, format!("tab-{}", panel.id()), name, None, panel)
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
