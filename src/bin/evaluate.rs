//! evaluate

fn main() {}
