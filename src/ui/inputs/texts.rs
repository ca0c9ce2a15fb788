//! The kinds of text a visitor can provide: a `config.json`, a trace, a measurement.

use leptos::prelude::{Get, With};

use super::own_text::TextInput;
use crate::config::{Field, comparable};
use crate::ui::state::State;

pub static CONFIG_JSON: TextInput = TextInput {
    id: "config-json",
    field: Field::Model,
    summary: "Use a config.json, a name or a launch command",
    hint: "Paste a config.json (followed by hf_quant_config.json, if any), a Hugging Face name, or a launch command \
        (Docker, Compose and Kubernetes too). Or drop a file here. It stays in your browser.",
    take: "Use this model",
    accept: ".json,.yaml,.yml,.sh,.txt,application/json",
    // The largest published ones have tens of kilobytes.
    longest: 1e6,
    too_long: "this file is too large for a config.json or a command",
    // The model list shows its name.
    held: |_| String::new(),
    holds: ["", ""],
    open: |_| None,
    end: |_| (),
};

pub static TRACE: TextInput = TextInput {
    id: "trace",
    field: Field::Trace,
    summary: "Replay your own trace",
    hint: "CSV with a header, or JSON Lines: arrival (seconds), prompt and output (tokens). Columns of Azure, \
        BurstGPT, Mooncake and Vidur are recognised. It stays in your browser until a reload: the link holds only its mean lengths and rate. Without arrivals, prompt, output and weight make a length histogram, which the link holds.",
    take: "Replay this trace",
    accept: ".csv,.json,.jsonl,.txt,text/csv",
    // Lines of long traces have tens of bytes, unless they list cached blocks.
    longest: 50e6,
    too_long: "this file is too large: shorten the trace to a typical part",
    held: |state| {
        let trace = state.trace.get();
        if trace.is_empty() || state.replays() {
            return trace;
        }
        format!(
            "The page no longer has this trace: choose it again. Until then its mean lengths and rate are the load. {trace}"
        )
    },
    holds: ["traced", "trace-remove"],
    open: |_| None,
    end: State::end_replay,
};

pub static MEASURED: TextInput = TextInput {
    id: "measured",
    field: Field::Measured,
    summary: "Your measured runs",
    hint: "Output of vllm bench serve or another benchmark: one run or many, as tables, JSON, JSON Lines, or CSV \
        with one run per row. They calibrate the predictions, and stay in your browser and in the link; Export saves them to a file that opens here.",
    take: "Calibrate",
    accept: ".txt,.log,.json,.jsonl,.csv,text/plain,text/csv,application/json",
    // Including every request and its tokens.
    longest: 50e6,
    too_long: "this file is too large for a benchmark report",
    held: |state| {
        let (compared, measured, runs) = state.form.with(|form| {
            let own = form.scenario();
            (!comparable(own, form.runs()).is_empty(), !own.measured.is_empty(), form.runs().len())
        });
        let compared = match (compared, measured) {
            (true, _) => "A measurement is compared with the prediction. ",
            (_, true) => "Not compared: the measurement is for a different load or configuration. ",
            _ => "",
        };
        match runs {
            0 => compared.trim_end().into(),
            1 => format!("{compared}1 run of yours is loaded."),
            many => format!("{compared}{many} runs of yours are loaded."),
        }
    },
    holds: ["measured-held", "measured-remove"],
    open: |state| state.form.with(|form| form.measured_elsewhere().map(|link| format!("#{link}"))),
    end: State::end_measured,
};
