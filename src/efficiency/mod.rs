//! Efficiencies: the share of the ideal each kernel reaches.

mod answer;

pub use answer::{Efficiencies, FamilyRows, Learned, Rows};
