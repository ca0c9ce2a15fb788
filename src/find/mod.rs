//! Searches for GPUs, their number and layout: the plans that serve a load within its limits, ranked.
//!
//! A [`Request`] is a scenario, the inputs that may vary, and the fleet. Its [`Search`] checks every allowed
//! layout, bounds it by memory and physics, and simulates what the bounds leave, cheapest first: closed forms only
//! prune, and every displayed figure is from a simulated run. Like the rest of the core it is pure: the caller runs
//! the models, takes as many [`Task`]s at once as it has threads, and may stop at any time.

mod answer;
mod bound;
mod capacity;
mod early;
mod estimate;
pub mod figures;
mod fleet;
mod headroom;
mod layouts;
mod pair;
mod plan;
mod pool_search;
mod pools;
mod prices;
mod probe;
mod ranking;
mod ranking_cost;
mod request;
mod results;
mod search;
pub mod sentence;
mod survey;
mod table;
mod task;
mod varied;
mod verdict;
mod words;

pub use crate::config::link::VARIES;
pub use answer::{Answer, Counts, Nearest, Other};
pub use capacity::{Capacity, Day, Hour, LargestLoad, Question};
pub use fleet::Fleet;
pub use layouts::all;
pub use plan::{BrokenLimit, DeploymentPlan, SimulatedPlan};
pub use prices::{Price, PriceBasis};
pub use ranking_cost::{RankedBy, RankingCost};
pub use request::Request;
pub use search::Search;
pub use survey::Survey;
pub use table::in_columns;
pub use task::{Done, Task};
