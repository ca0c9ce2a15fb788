//! Copying to the browser's clipboard, for both modules of the page.

use gloo::timers::callback::Timeout;
use gloo::utils::window;
use wasm_bindgen_futures::{JsFuture, spawn_local};

/// How long a button shows the outcome.
const SHOWN_FOR_MS: u32 = 2_000;

/// Copies `text`, then calls `show` with the outcome (`refused` where the browser does not allow it), and after a while
/// with none, to restore the label.
pub fn copy(text: String, refused: &'static str, show: impl Fn(Option<&'static str>) + 'static) {
    spawn_local(async move {
        let clipboard = window().navigator().clipboard();
        // Insecure pages have no clipboard, and browsers may refuse access.
        let copied = !clipboard.is_undefined() && JsFuture::from(clipboard.write_text(&text)).await.is_ok();
        show(Some(if copied { "Copied" } else { refused }));
        Timeout::new(SHOWN_FOR_MS, move || show(None)).forget();
    });
}
