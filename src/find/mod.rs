//! Which GPUs, how many, arranged how: the plans that serve a load within its limits, the best first.
//!
//! A [`Request`] is a scenario, what of it may vary, and what the fleet may be. Its [`Search`] checks every layout that it
//! allows, bounds it by memory and physics, and simulates what the bounds leave, cheapest first: closed forms only leave
//! out, every figure shown is that of a simulated run. Like all of the core it is pure: whoever runs it has the models
//! answer, takes as many [`Task`]s at once as there are threads, and may stop at any time.

mod answer;
mod bound;
mod capacity;
mod estimate;
mod fleet;
mod headroom;
mod layouts;
mod plan;
mod prices;
mod probe;
mod ranking;
mod request;
pub mod said;
mod search;
mod table;
mod taken;
mod task;
mod words;

pub use crate::config::link::VARIES;
pub use answer::{Answer, Counts, Nearest, Other};
pub use capacity::{Capacity, Day, Hour, Most, Question};
pub use fleet::Fleet;
pub use layouts::all;
pub use plan::{Broken, Plan, Tried, Worth};
pub use prices::{Basis, Price};
pub use request::Request;
pub use search::Search;
pub use table::in_columns;
pub use task::{Done, Task};
