//! Below a canvas: the legend, whose names leave their part of the chart out, and the chart as a file.

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{Blob, BlobPropertyBag, Element, Event, HtmlCanvasElement};

use super::Painted;
use super::element::{append, new, put, save, with};
use crate::chart::legend::Key;
use crate::chart::svg::svg;
use crate::chart::{Chart, Palette, Theme};

/// Formats that a chart is saved in, and their media types.
const FORMATS: [(&str, &str); 3] = [("SVG", "image/svg+xml"), ("PNG", "image/png"), ("CSV", "text/csv")];

/// The row of tools of a canvas, its legend still empty.
pub fn beside(canvas: &HtmlCanvasElement) -> Element {
    let name = canvas.get_attribute("aria-label").unwrap_or_default();
    let row =
        with(new("div", "chart-tools"), &[("role", "group"), ("aria-label", &format!("{name}: tools"))]);
    append(&row, &new("span", "chart-legend"));
    let formats = new("span", "chart-save");
    for (format, _) in FORMATS {
        let label = format!("Save the chart as {format}");
        let attributes = [("type", "button"), ("data-save", format), ("aria-label", &label)];
        append(&formats, &put(with(new("button", ""), &attributes), format));
    }
    append(&row, &formats);
    row
}

/// Writes the legend, if its names are others; says which are left out.
pub fn legend(row: &Element, keys: &[Key], hidden: &[String]) {
    let Some(legend) = row.first_element_child() else { return };
    let children = legend.children();
    let same = children.length() as usize == keys.len()
        && keys.iter().enumerate().all(|(index, key)| {
            let held = children.item(index as u32).and_then(|held| held.get_attribute("data-key"));
            held.as_deref() == Some(&key.name)
        });
    if !same {
        legend.set_text_content(None);
        for key in keys {
            let button = with(new("button", ""), &[("type", "button"), ("data-key", &key.name)]);
            let swatch =
                with(new("i", &format!("swatch {}", key.swatch.class())), &[("aria-hidden", "true")]);
            append(&button, &swatch);
            append(&button, &put(new("span", ""), &key.name));
            append(&legend, &button);
        }
    }
    for (index, key) in keys.iter().enumerate() {
        if let Some(button) = children.item(index as u32) {
            let shown = !hidden.contains(&key.name);
            with(button, &[("aria-pressed", if shown { "true" } else { "false" })]);
        }
    }
}

impl Painted {
    pub(super) fn tool(&mut self, event: &Event) {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let Some(Ok(Some(button))) = target.map(|target| target.closest("button")) else { return };
        if let Some(key) = button.get_attribute("data-key") {
            self.leave_out(key);
        } else if let Some(format) = button.get_attribute("data-save") {
            self.save_as(&format);
        }
    }

    /// Or takes it in again. Who leaves everything out begins anew.
    fn leave_out(&mut self, key: String) {
        match self.hidden.iter().position(|hidden| *hidden == key) {
            Some(at) => drop(self.hidden.remove(at)),
            None => self.hidden.push(key),
        }
        if self.hidden.len() == self.chart.legend().len() {
            self.hidden.clear();
        }
        self.read = None;
        self.renew();
    }

    fn save_as(&mut self, format: &str) {
        let file = format!("{}.{}", self.file(), format.to_ascii_lowercase());
        let media = FORMATS.iter().find(|(name, _)| *name == format).map_or("", |(_, media)| media);
        let text = match format {
            "SVG" => {
                let size =
                    (self.canvas.client_width().max(1) as u32, self.canvas.client_height().max(1) as u32);
                let picture = svg(&self.shown, size, Theme::new(Palette::of(self.dark), 1.0));
                picture.ok()
            }
            "CSV" => Some(marked(self.shown.to_csv())),
            _ => return self.save_png(file),
        };
        let options = BlobPropertyBag::new();
        options.set_type(media);
        let parts = text.map(|text| js_sys::Array::of1(&text.into()));
        if let Some(Ok(blob)) = parts.map(|parts| Blob::new_with_str_sequence_and_options(&parts, &options)) {
            save(&file, &blob);
        }
    }

    /// At the pixels it has on the screen, without what is read out, but with the legend, which stands beside it there.
    fn save_png(&mut self, file: String) {
        self.read = None;
        self.draw_with(Theme { keyed: true, ..self.theme() });
        let done = Closure::once_into_js(move |blob: Option<Blob>| {
            if let Some(blob) = blob {
                save(&file, &blob);
            }
        });
        // A canvas that refuses leaves SVG.
        let _ = self.canvas.to_blob(done.unchecked_ref());
        // The picture is that of the moment it was asked for.
        self.draw();
    }

    /// What it is called without its extension.
    fn file(&self) -> String {
        let kind = match self.chart {
            Chart::Roofline(_) => "roofline",
            Chart::Curves(_) => "curves",
            Chart::Bars(_) => "bars",
        };
        let id = self.canvas.get_attribute("data-testid");
        format!("rooflight-{}", id.filter(|id| !id.is_empty()).as_deref().unwrap_or(kind))
    }
}

/// Spreadsheets take a table for one of the system's old letters, unless a mark says that it is UTF-8.
fn marked(csv: String) -> String {
    if csv.is_ascii() { csv } else { format!("\u{feff}{csv}") }
}
