//! The page, made ready for `boot.js` to mount it into `index.html`.

fn main() {
    rooflight::ui::start();
}
