//! Shell commands.

use crate::config::{Batching, Setup};

/// A command with one flag per line.
pub struct Shell(pub String);

impl Shell {
    pub fn new(command: &str) -> Self {
        Self(command.to_owned())
    }

    pub fn flag(mut self, flag: &str, value: impl ToString) -> Self {
        self.0 += format!(" \\\n  {flag} {}", value.to_string()).trim_end();
        self
    }

    /// The flag, unless it has no value.
    pub fn given(self, flag: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.flag(flag, value),
            None => self,
        }
    }

    /// Adds what a replica over several nodes needs.
    pub fn over(self, setup: &Setup) -> Self {
        let nodes = setup.nodes();
        if nodes <= 1 {
            return self;
        }
        let (how, shell) = match setup.engine.scheduler.batching {
            Batching::MixedChunks => {
                // Ray spreads either one replica of TP and PP, or the ranks of attention DP.
                let what = match setup.parallel.dp {
                    1 => "--distributed-executor-backend",
                    _ => "--data-parallel-backend",
                };
                ("on the first, once Ray joins them", self.flag(what, "ray"))
            }
            Batching::PrefillFirst => (
                "on each, with its own rank and the address of the first",
                self.flag("--nnodes", nodes).flag("--node-rank", 0).flag("--dist-init-addr", "HOST:20000"),
            ),
            Batching::InFlight => ("by srun or mpirun with trtllm-llmapi-launch, one process a GPU", self),
        };
        Self(format!("# Over {nodes} nodes: {how}.\n{}", shell.0))
    }
}
