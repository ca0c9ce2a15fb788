//! The chart's module: the page calls its `paint`.

use rooflight as _;

fn main() {}
