//! The kinds of text a visitor can provide: a `config.json`, a trace, a measurement.

use leptos::prelude::{Get, With};

use super::own_text::Own;
use crate::config::Field;
use crate::ui::state::State;

pub static CONFIG_JSON: Own = Own {
    id: "config-json",
    field: Field::Model,
    summary: "Use a config.json, a name or a launch command",
    hint: "Paste a config.json (with hf_quant_config.json behind it, if there is one), a name from Hugging Face, or the command \
           that starts the server, also of Docker, Compose or Kubernetes. Or drop the file here. It stays in your browser.",
    take: "Use this model",
    accept: ".json,.yaml,.yml,.sh,.txt,application/json",
    // The largest published ones have tens of kilobytes.
    longest: 1e6,
    too_long: "this file is too large for a config.json or a command",
    // The model list shows its name.
    held: |_| String::new(),
    holds: ["", ""],
    end: |_| (),
};

pub static TRACE: Own = Own {
    id: "trace",
    field: Field::Trace,
    summary: "Replay your own trace",
    hint: "CSV with a header, or one JSON object per line: arrival (seconds), prompt and output (tokens). The columns of Azure, \
           BurstGPT, Mooncake and Vidur are known. It stays in your browser and is not part of the link. \
           Without arrivals, prompt, output and weight make a histogram of lengths, which the link holds.",
    take: "Replay this trace",
    accept: ".csv,.json,.jsonl,.txt,text/csv",
    // Lines of long traces have tens of bytes, unless they list cached blocks.
    longest: 50e6,
    too_long: "this file is too large: shorten the trace to a typical part",
    held: |state| state.trace.get(),
    holds: ["traced", "trace-remove"],
    end: State::end_replay,
};

pub static MEASURED: Own = Own {
    id: "measured",
    field: Field::Measured,
    summary: "Your measured runs",
    hint: "What vllm bench serve or another benchmark printed or saved: one run or many, as tables, JSON, a JSON object a line, or CSV \
           with a row a run. Predictions are calibrated on them. They stay in your browser and in the link; \
           Export saves them to a file that opens here.",
    take: "Calibrate on it",
    accept: ".txt,.log,.json,.jsonl,.csv,text/plain,text/csv,application/json",
    // Including every request and its tokens.
    longest: 50e6,
    too_long: "this file is too large for a benchmark report",
    held: |state| {
        let (compared, runs) =
            state.form.with(|form| (!form.scenario().measured.is_empty(), form.runs().len()));
        let compared = if compared { "A measurement is compared with the prediction. " } else { "" };
        match runs {
            0 => compared.trim_end().into(),
            1 => format!("{compared}Calibrated on 1 run of yours."),
            many => format!("{compared}Calibrated on {many} runs of yours."),
        }
    },
    holds: ["measured-held", "measured-remove"],
    end: State::end_measured,
};
