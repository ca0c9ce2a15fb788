//! The page: mounts the interface into `index.html`.

fn main() {
    rooflight::ui::start();
}
