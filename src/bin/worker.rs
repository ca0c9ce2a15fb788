//! The page's Web Worker: loads the models and answers rows.

fn main() {
    rooflight::worker::host::start();
}
