//! Charts of a document on canvases, drawn again when their room changes.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{Element, HtmlCanvasElement, HtmlElement, ResizeObserver};

use crate::chart::Chart;
use crate::study::Figure;
use crate::ui::canvas::element::{append, called, new, put, with};
use crate::ui::canvas::paint;

/// The figures of one document.
#[derive(Default)]
pub struct Figures {
    drawings: Vec<Drawing>,
    watch: Option<Watch>,
}

struct Drawing {
    canvas: HtmlCanvasElement,
    chart: Chart,
}

/// Observes the canvases as long as it lives.
struct Watch {
    observer: ResizeObserver,
    _changed: Closure<dyn FnMut()>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

impl Figures {
    /// The figure's elements; it is drawn when all stand in the page.
    pub fn add(&mut self, figure: &Figure) -> Element {
        let frame = new("div", "figure");
        if let Some(frame) = frame.dyn_ref::<HtmlElement>() {
            let height = format!("{}px", figure.height);
            // Set on the object: the page's policy forbids styles in attributes.
            let _ = frame.style().set_property("--height", &height);
            let _ = frame.style().set_property("--panels", &figure.panels.to_string());
        }
        let own = if figure.id.is_empty() { &figure.name } else { &figure.id };
        let id = format!("{}-summary", own.replace(' ', "-").to_ascii_lowercase());
        append(&frame, &put(new("h3", ""), &figure.name));
        let canvas = with(
            called(new("canvas", ""), &figure.id),
            &[("role", "img"), ("aria-label", &figure.name), ("aria-describedby", &id)],
        );
        append(&frame, &canvas);
        append(&frame, &with(put(new("p", "summary"), &figure.words), &[("id", &id), ("data-testid", &id)]));
        if let Ok(canvas) = canvas.dyn_into::<HtmlCanvasElement>() {
            self.drawings.push(Drawing { canvas, chart: figure.chart.clone() });
        }
        frame
    }

    /// Draws all of them, and again whenever their size or the pixel ratio changes.
    pub fn start(&mut self, dark: bool) {
        let all: Rc<Vec<Drawing>> = Rc::new(std::mem::take(&mut self.drawings));
        if all.is_empty() {
            return;
        }
        let drawn = all.clone();
        // The observer calls once at the start, which is the first drawing; and again when a fold opens.
        let changed = Closure::<dyn FnMut()>::new(move || draw(&drawn, dark));
        let Ok(observer) = ResizeObserver::new(changed.as_ref().unchecked_ref()) else {
            return draw(&all, dark);
        };
        all.iter().for_each(|drawing| observer.observe(&drawing.canvas));
        self.watch = Some(Watch { observer, _changed: changed });
    }
}

fn draw(all: &[Drawing], dark: bool) {
    // In a fold that is closed there is no room to draw in.
    for drawing in all.iter().filter(|drawing| drawing.canvas.client_width() > 0) {
        paint(&drawing.canvas, drawing.chart.clone(), dark);
    }
}
