//! Why a simulation has no answer.

/// Requests are identified by their index in the list, from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    #[error("there are no requests to serve")]
    NoRequests,
    #[error("request {request} has no {what} tokens")]
    EmptyRequest { request: usize, what: &'static str },
    #[error("the weights leave no room for a prompt")]
    NoRoom,
    #[error("request {request} needs {tokens} tokens of KV cache and a rank holds {capacity}")]
    KvCapacity { request: usize, tokens: u64, capacity: u64 },
    #[error("request {request} has {tokens} tokens and the context ends at {limit}")]
    ContextLimit { request: usize, tokens: u64, limit: u32 },
    #[error(
        "the prompt of request {request} ({tokens} tokens) cannot be chunked, and a step takes {budget} tokens"
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
    #[error("request {request} can never be scheduled")]
    Stuck { request: usize },
}
