//! predict

fn main() {}
