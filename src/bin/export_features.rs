//! export_features

fn main() {}
