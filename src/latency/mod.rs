//! Seconds per kernel and per step.
