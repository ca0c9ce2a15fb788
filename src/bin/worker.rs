//! The page's Web Worker, and the module that other pages import: whoever loads it calls what they need of
//! `worker::host` and `api::javascript`.

use rooflight as _;

fn main() {}
