//! One type for all closures of a kind.
//!
//! A view's renderer, its effect and its event listener are compiled once for every closure type, some
//! kilobytes each, and the shell has a size budget. Boxing makes the types few.

use leptos::prelude::*;
use leptos::web_sys::Event;

/// Text that follows signals: a text node or an attribute.
pub type Text = Box<dyn FnMut() -> String + Send>;
/// A condition that follows signals: a class or a property.
pub type Flag = Box<dyn FnMut() -> bool + Send>;
/// A part of the page that follows signals.
pub type Part = Box<dyn FnMut() -> AnyView + Send>;
/// A listener; one type for each type of event.
pub type Listener<E> = Box<dyn FnMut(E)>;

pub fn text(read: impl FnMut() -> String + Send + 'static) -> Text {
    Box::new(read)
}

pub fn flag(read: impl FnMut() -> bool + Send + 'static) -> Flag {
    Box::new(read)
}

pub fn part(render: impl FnMut() -> AnyView + Send + 'static) -> Part {
    Box::new(render)
}

pub fn listen<E>(hear: impl FnMut(E) + 'static) -> Listener<E> {
    Box::new(hear)
}

/// A listener that is told the control's value.
pub fn on_value(mut hear: impl FnMut(String) + 'static) -> Listener<Event> {
    Box::new(move |event| hear(event_target_value(&event)))
}
