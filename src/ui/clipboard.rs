//! Texts to take away by the browser's clipboard, for both modules of the page.

use gloo::timers::callback::Timeout;
use gloo::utils::window;
use wasm_bindgen_futures::{JsFuture, spawn_local};

/// How long a button says what became of the text.
const SAID_FOR_MS: u32 = 2_000;

/// Copies `text`. `say` is told in a word what became of it (`refused`: where else the text is), and after a while to say
/// what it said before.
pub fn copy(text: String, refused: &'static str, say: impl Fn(Option<&'static str>) + 'static) {
    spawn_local(async move {
        let clipboard = window().navigator().clipboard();
        // Pages that are not secure have none, and browsers may refuse theirs.
        let copied = !clipboard.is_undefined() && JsFuture::from(clipboard.write_text(&text)).await.is_ok();
        say(Some(if copied { "Copied" } else { refused }));
        Timeout::new(SAID_FOR_MS, move || say(None)).forget();
    });
}
