//! worker

fn main() {}
