//! The page, to be mounted into `index.html` by `boot.js`.

fn main() {
    rooflight::ui::start();
}
