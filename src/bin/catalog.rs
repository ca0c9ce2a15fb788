//! catalog

fn main() {}
