//! page

fn main() {}
