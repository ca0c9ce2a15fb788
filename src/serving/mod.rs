//! TTFT, TPOT, throughput and memory from step times: `plan`, then `finish`, both pure.

mod breakdown;
pub mod deviation;
mod elsewhere;
mod finish;
mod fit;
mod fitting;
mod issues;
mod layers;
mod memory;
mod plan;
pub mod replica;
pub mod report;
pub mod run;
pub mod sim;
pub mod step;
pub mod table;

pub use elsewhere::{Alternative, elsewhere};
pub use finish::{answer, finish, runner};
pub use fit::{Demand, UNFIT};
pub use fitting::fitting;
pub use issues::enough_replicas;
pub use layers::{LayerCall, LayerKernels, layers};
pub use plan::{Plan, memory_of, plan, plan_among};
pub use report::Report;
