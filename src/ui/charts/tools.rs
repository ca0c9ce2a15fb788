//! Below a canvas: the legend, whose names switch parts of the chart off, and buttons that save the chart.

use gloo::timers::callback::Timeout;
use gloo::utils::document;
use js_sys::Array;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, Url};

use super::ZOOM;
use super::drawing::Drawing;
use crate::chart::legend::LegendKey;
use crate::chart::svg;
use crate::chart::{Chart, Theme};
use crate::ui::inputs;
use crate::ui::state::State;

/// Time after which a browser has started reading a file to be saved.
const BEGUN_AFTER_MS: u32 = 2_000;

#[component]
pub fn Tools(drawing: Drawing, label: String, id: String) -> impl IntoView {
    let keys =
        Memo::new(move |_| drawing.chart.with(|chart| chart.as_ref().map(Chart::legend)).unwrap_or_default());
    let entry = move |LegendKey { name, swatch }: LegendKey| {
        let (of, own) = (name.clone(), name.clone());
        let shown = move || (!drawing.hidden.with(|hidden| hidden.contains(&of))).to_string();
        let toggle = move |_| toggle(drawing, &own, &keys.get_untracked());
        view! {
            <button type="button" data-key=name.clone() aria-pressed=shown on:click=toggle>
                <i class=format!("swatch {}", swatch.class()) aria-hidden="true"></i>
                <span>{name.clone()}</span>
            </button>
        }
    };
    let files = ["SVG", "PNG", "CSV"].map(|format| {
        let (label, id) = (label.clone(), id.clone());
        view! {
            <button type="button" data-save=format aria-label=format!("Save the chart as {format}")
                on:click=move |_| save_as(drawing, format, &label, &id)>{format}</button>
        }
    });
    let zoom = move || {
        let button = |(text, name, factor): (&'static str, &'static str, f64)| {
            let press = move |_| drawing.zoom(factor);
            view! { <button type="button" aria-label=name on:click=press>{text}</button> }
        };
        let buttons = [("+", "Zoom in", ZOOM), ("−", "Zoom out", 1.0 / ZOOM), ("All", "Show all", 0.0)];
        drawing.zooms().then(|| buttons.map(button).into_iter().collect_view())
    };
    view! {
        <div class="chart-tools" role="group" aria-label=format!("{label}: tools")>
            <span class="chart-legend">{move || keys.get().into_iter().map(entry).collect_view()}</span>
            <span class="chart-zoom">{zoom}</span>
            <span class="chart-save">{files.into_iter().collect_view()}</span>
        </div>
    }
}

/// Switches a part of the chart off or on. Switching off the last of `all` shows everything.
fn toggle(drawing: Drawing, key: &str, all: &[LegendKey]) {
    drawing.hidden.update(|hidden| {
        hidden.retain(|hidden| all.iter().any(|key| key.name == *hidden));
        match hidden.iter().position(|name| name == key) {
            Some(at) => drop(hidden.remove(at)),
            None => hidden.push(key.to_owned()),
        }
        if hidden.len() == all.len() {
            hidden.clear();
        }
    });
    drawing.read_out(None);
    drawing.draw();
}

/// Saves the chart as it is shown; a picture with its `label` and the configuration above it.
fn save_as(drawing: Drawing, format: &str, label: &str, id: &str) {
    let Some(chart) = drawing.shown.get_untracked() else { return };
    let kind = match chart {
        Chart::Roofline(_) => "roofline",
        Chart::Curves(_) => "curves",
        Chart::Bars(_) => "bars",
    };
    let name = if id.is_empty() { kind } else { id };
    let file = format!("rooflight-{name}.{}", format.to_ascii_lowercase());
    let configured = inputs::in_words(State::get());
    let captions = [label, &configured];
    match format {
        "SVG" => {
            let Some(size) = drawing.css_size() else { return };
            if let Ok(picture) = svg(&chart, &captions, size, Theme::new(drawing.palette(), 1.0)) {
                save_text(&file, &picture, "image/svg+xml");
            }
        }
        "CSV" => save_text(&file, &chart.to_csv(), "text/csv"),
        _ => {
            let done = Closure::once_into_js(move |blob: Option<Blob>| {
                if let Some(blob) = blob {
                    save(&file, &blob);
                }
            });
            // If the canvas refuses, use SVG.
            if let Some(canvas) = drawing.picture(&chart, &captions) {
                let _ = canvas.to_blob(done.unchecked_ref());
            }
        }
    }
}

fn save_text(file: &str, text: &str, media: &str) {
    let options = BlobPropertyBag::new();
    options.set_type(media);
    // Spreadsheets need a mark to read a table as UTF-8.
    let mark = if media == "text/csv" && !text.is_ascii() { "\u{feff}" } else { "" };
    let parts = Array::of2(&mark.into(), &text.into());
    if let Ok(blob) = Blob::new_with_str_sequence_and_options(&parts, &options) {
        save(file, &blob);
    }
}

/// Saves `content` under this file name; does nothing if the page may not.
fn save(file: &str, content: &Blob) {
    let Ok(url) = Url::create_object_url_with_blob(content) else { return };
    let link = document().create_element("a").ok().and_then(|link| link.dyn_into::<HtmlAnchorElement>().ok());
    if let Some(link) = link {
        link.set_href(&url);
        link.set_download(file);
        link.click();
    }
    let revoke = move || {
        let _ = Url::revoke_object_url(&url);
    };
    Timeout::new(BEGUN_AFTER_MS, revoke).forget();
}
