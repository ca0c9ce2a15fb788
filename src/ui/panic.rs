//! A panic ends the wasm instance: says so, with a link to the configuration.

use gloo::utils::window;
use web_sys::{CustomEvent, CustomEventInit};

/// Handled by `static/boot/boot.js`, because the banner cannot rely on this instance.
const EVENT: &str = "rooflight:panic";

/// Reports panics to the console and the banner.
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
