//! The page's Web Worker, and the module that other pages import: the importer calls what it needs of
//! `worker::host` and `api::javascript`.

use rooflight as _;

#[cfg(target_arch = "wasm32")]
unsafe extern "C" {
    /// Fills tract's lists of kernels, once. Unless it is called somewhere, the linker has every exported function call it
    /// first: 4 to 8 % of a prediction.
    safe fn __wasm_call_ctors();
}

fn main() {
    #[cfg(target_arch = "wasm32")]
    __wasm_call_ctors();
}
