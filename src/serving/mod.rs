//! TTFT, TPOT, throughput and memory from step times.

pub mod report;
