//! Counts of a launch by pipe.

/// Operations asked of one kind of pipe.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pipe {
    /// Operations on the whole GPU.
    pub all: f64,
    /// Operations on the SM that gets most.
    pub busiest: f64,
}

/// Data loaded, in KiB (1024 bytes).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Traffic {
    /// Data loaded by the whole GPU.
    pub all_kib: f64,
    /// Data loaded by the SM that loads most.
    pub busiest_kib: f64,
}

/// Kernels of the tensor cores alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TensorCounts {
    /// Tensor FLOP, padding included.
    pub tensor: Pipe,
    pub memory: Traffic,
    /// Tensor FLOP per clock and SM in the format multiplied in.
    pub per_clock: f64,
}

impl TensorCounts {
    /// No output tile: no launch, and no operand loaded.
    pub fn nothing(per_clock: f64) -> Self {
        Self { tensor: Pipe::default(), memory: Traffic::default(), per_clock }
    }
}
