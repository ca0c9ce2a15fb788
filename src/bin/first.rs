//! The first answer's module: `static/boot/first.js` calls it while the page itself is still on its way.

use rooflight::first::{First, first};
use rooflight::units::Printed;
use wasm_bindgen::prelude::wasm_bindgen;

/// It answers once and goes: what frees memory would be a part of what the visitor waits for.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static NEVER_FREES: lol_alloc::AssumeSingleThreaded<lol_alloc::LeakingAllocator> =
    // SAFETY: the module has one thread: it is built without atomics, and no worker loads it.
    unsafe { lol_alloc::AssumeSingleThreaded::new(lol_alloc::LeakingAllocator::new()) };

/// What is predicted in two lines, then number and unit of each reading; both empty where there is no such number. Nothing
/// without an answer.
#[wasm_bindgen]
pub fn answer(address: &str) -> Vec<String> {
    let Some(First { title, workload, readings }) = first(address) else { return Vec::new() };
    let printed = readings.into_iter().flat_map(|reading| match reading {
        Some(Printed { number, unit }) => [number, unit.to_owned()],
        None => [String::new(), String::new()],
    });
    [title, workload].into_iter().chain(printed).collect()
}

fn main() {}
