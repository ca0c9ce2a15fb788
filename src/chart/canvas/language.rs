//! What leaves the page as a file, in the language of the page.
//!
//! This module speaks English. Where the page speaks another language, a script of `static/boot/language` hears of what is
//! to be said and puts it in place.

use js_sys::Array;
use web_sys::{CustomEvent, CustomEventInit, window};

/// Its detail: the text, and its media type; what is said takes the text's place.
const SAY: &str = "rooflight:say";

/// `text`, which is of this media type: a sentence, or a whole picture.
pub fn said(text: &str, media: &str) -> String {
    let detail = Array::of2(&text.into(), &media.into());
    let init = CustomEventInit::new();
    init.set_detail(&detail);
    if let (Some(window), Ok(event)) = (window(), CustomEvent::new_with_event_init_dict(SAY, &init)) {
        let _ = window.dispatch_event(&event);
    }
    detail.get(0).as_string().unwrap_or_else(|| text.to_owned())
}
