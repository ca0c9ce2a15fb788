//! Shell commands.

use crate::config::Batching;

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

    pub fn given(self, flag: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.flag(flag, value),
            None => self,
        }
    }

    /// Adds what a replica over several nodes needs.
    pub fn over(self, nodes: u32, batching: Batching) -> Self {
        let (how, shell) = match batching {
            Batching::MixedChunks => {
                ("on the first, once Ray joins them", self.flag("--distributed-executor-backend", "ray"))
            }
            Batching::PrefillFirst => (
                "on each, with its own rank and the address of the first",
                self.flag("--nnodes", nodes).flag("--node-rank", 0).flag("--dist-init-addr", "HOST:20000"),
            ),
            Batching::InFlight => ("by srun or mpirun with trtllm-llmapi-launch, one process a GPU", self),
        };
        Self(format!("# Over {nodes} nodes: {how}.\n{}", shell.0))
    }

    pub fn only_if(self, wanted: bool, flag: &str, value: impl ToString) -> Self {
        if wanted { self.flag(flag, value) } else { self }
    }
}
