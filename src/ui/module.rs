//! What the page's second module is told: `static/boot/boot.js` loads it, and hears of all this by events.
//!
//! Until it is there, and where it cannot be loaded, summaries and tables of the page stand alone.

use gloo::utils::document;
use js_sys::Array;
use web_sys::{CustomEvent, CustomEventInit, EventTarget, HtmlCanvasElement};

/// Draws `chart`, a [`Chart`](crate::chart::Chart) as JSON.
pub fn paint(canvas: &HtmlCanvasElement, chart: &str, dark: bool) {
    tell(canvas, "rooflight:chart", &Array::of2(&chart.into(), &dark.into()));
}

/// Shows a document, as JSON, in the element with this id; the fold that is `sought` opens and comes into view.
pub fn show(holder: &str, text: &str, dark: bool, sought: &str) {
    if let Some(holder) = document().get_element_by_id(holder) {
        tell(&holder, "rooflight:document", &Array::of3(&text.into(), &dark.into(), &sought.into()));
    }
}

fn tell(target: &EventTarget, event: &str, detail: &Array) {
    let init = CustomEventInit::new();
    init.set_bubbles(true);
    init.set_detail(detail);
    if let Ok(event) = CustomEvent::new_with_event_init_dict(event, &init) {
        let _ = target.dispatch_event(&event);
    }
}
