//! A panic ends the wasm instance: say so, with the way back.

use gloo::utils::window;
use web_sys::{CustomEvent, CustomEventInit};

/// What `static/boot/boot.js` listens for; the banner must not need this instance any more.
const EVENT: &str = "rooflight:panic";

/// Reports panics to the console and to the banner.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        let init = CustomEventInit::new();
        init.set_detail(&info.to_string().into());
        if let Ok(event) = CustomEvent::new_with_event_init_dict(EVENT, &init) {
            let _ = window().dispatch_event(&event);
        }
    }));
}
