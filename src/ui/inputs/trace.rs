//! A trace of one's own, replayed in the simulated run.

use leptos::prelude::*;

use super::own_text::Own;
use crate::config::Field;
use crate::ui::state::State;

pub static TRACE: Own = Own {
    id: "trace",
    field: Field::Trace,
    summary: "Replay your own trace",
    hint: "CSV with a header, or a JSON object a line: arrival (seconds), prompt and output (tokens); columns of Azure, BurstGPT, \
           Mooncake and Vidur are known. It stays in your browser, and out of the link. \
           Without arrivals, prompt, output and weight are a histogram of lengths, which the link keeps.",
    take: "Replay this trace",
    accept: ".csv,.json,.jsonl,.txt,text/csv",
    // A line of the longest trace that is read has some tens of bytes, unless it names cached blocks.
    longest: 50e6,
    too_long: "this file is too large: cut the trace to a part that is typical",
    held: |state| state.trace.get(),
    holds: ["traced", "trace-remove"],
    end: State::end_replay,
};
