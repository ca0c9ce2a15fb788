//! Why a simulation has no answer.

use crate::units::count;

fn grouped(tokens: u64) -> String {
    count(tokens as f64)
}

/// Requests are held by their index in the list, and named by their place in it, from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    #[error("there are no requests to serve")]
    NoRequests,
    #[error("request {} has no {what} tokens", .request + 1)]
    EmptyRequest { request: usize, what: &'static str },
    #[error("the weights leave no room for a prompt")]
    NoRoom,
    #[error("request {} needs {} tokens of KV cache and a rank holds {}", .request + 1, grouped(*.tokens), grouped(*.capacity))]
    KvCapacity { request: usize, tokens: u64, capacity: u64 },
    #[error("request {} has {} tokens and the context ends at {}", .request + 1, grouped(*.tokens), grouped(u64::from(*.limit)))]
    ContextLimit { request: usize, tokens: u64, limit: u32 },
    #[error(
        "the prompt of request {} ({} tokens) cannot be chunked, and a step takes {} tokens",
        .request + 1, grouped(u64::from(*.tokens)), grouped(u64::from(*.budget))
    )]
    StepBudget { request: usize, tokens: u32, budget: u32 },
    #[error("{0}")]
    Policy(&'static str),
    #[error("{0}")]
    Arrivals(&'static str),
    #[error("there are too many requests")]
    TooManyRequests,
    #[error("a step time is negative or not a number (step {step})")]
    StepTime { step: u64 },
    #[error("stopped after {steps} steps with {finished} requests finished")]
    StepLimit { steps: u64, finished: u64 },
    #[error("request {} can never be scheduled", .request + 1)]
    Stuck { request: usize },
}
