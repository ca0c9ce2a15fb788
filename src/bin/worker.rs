//! The page's Web Worker, and the module that other pages import: the importer calls what it needs of
//! `worker::host` and `api::javascript`.

use rooflight as _;

fn main() {}
