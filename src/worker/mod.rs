//! The Web Worker and its client.
