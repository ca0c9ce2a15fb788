//! The quantities of the form.

use super::{Quantity, Stops};
use crate::config::{Field, Lengths, Load};

pub(super) const fn whole(value: f64) -> u32 {
    value as u32
}

pub static TP: Quantity = Quantity {
    field: Field::Tp,
    label: "Tensor parallel",
    unit: "GPUs",
    stops: Stops::Doubling { low: 1, high: 16 },
    whole: true,
    help: "GPUs that share each layer",
    read: |scenario| Some(f64::from(scenario.tp)),
    write: |scenario, value| scenario.tp = value.map_or(scenario.tp, whole),
};

pub static PP: Quantity = Quantity {
    field: Field::Pp,
    label: "Pipeline parallel",
    unit: "stages",
    stops: Stops::Doubling { low: 1, high: 16 },
    whole: true,
    help: "Stages that each hold some of the layers",
    read: |scenario| Some(f64::from(scenario.pp)),
    write: |scenario, value| scenario.pp = value.map_or(scenario.pp, whole),
};

pub static DP: Quantity = Quantity {
    field: Field::Dp,
    label: "Attention data parallel",
    unit: "groups",
    stops: Stops::Doubling { low: 1, high: 16 },
    whole: true,
    help: "Groups of GPUs that attend to requests of their own and share the experts",
    read: |scenario| Some(f64::from(scenario.dp)),
    write: |scenario, value| scenario.dp = value.map_or(scenario.dp, whole),
};

pub static EP: Quantity = Quantity {
    field: Field::Ep,
    label: "Expert parallel",
    unit: "GPUs",
    stops: Stops::Doubling { low: 1, high: 64 },
    whole: true,
    help: "GPUs of a stage that the experts are dealt over; the others cut each expert",
    read: |scenario| Some(f64::from(scenario.ep)),
    write: |scenario, value| scenario.ep = value.map_or(scenario.ep, whole),
};

pub static REPLICAS: Quantity = Quantity {
    field: Field::Gpus,
    label: "Replicas",
    unit: "copies",
    stops: Stops::Doubling { low: 1, high: 64 },
    whole: true,
    help: "Copies of the whole deployment; the load is spread over them",
    read: |scenario| Some(f64::from(scenario.replicas)),
    write: |scenario, value| scenario.replicas = value.map_or(scenario.replicas, whole),
};

pub static ISL: Quantity = Quantity {
    field: Field::Isl,
    label: "Input length",
    unit: "tokens",
    stops: Stops::Quarters { low: 16, high: 131_072 },
    whole: true,
    help: "ISL: tokens of each prompt",
    read: |scenario| match &scenario.workload.isl {
        _ if scenario.workload.means().is_some() => scenario.workload.means().map(|(isl, _)| f64::from(isl)),
        Lengths::Fixed(length) => Some(f64::from(*length)),
        Lengths::Each(lengths) => {
            let total: f64 = lengths.iter().copied().map(f64::from).sum();
            (!lengths.is_empty()).then(|| (total / lengths.len() as f64).round())
        }
    },
    write: |scenario, value| {
        if let Some(value) = value {
            scenario.workload.leave_histogram();
            scenario.workload.isl = Lengths::Fixed(whole(value));
        }
    },
};

pub static OSL: Quantity = Quantity {
    field: Field::Osl,
    label: "Output length",
    unit: "tokens",
    stops: Stops::Quarters { low: 1, high: 16_384 },
    whole: true,
    help: "OSL: tokens generated for each prompt",
    read: |scenario| {
        let workload = &scenario.workload;
        Some(f64::from(workload.means().map_or(workload.osl, |(_, osl)| osl)))
    },
    write: |scenario, value| {
        if let Some(value) = value {
            scenario.workload.leave_histogram();
            scenario.workload.osl = whole(value);
        }
    },
};

pub static SPREAD: Quantity = Quantity {
    field: Field::Spread,
    label: "Spread",
    unit: "± share",
    stops: Stops::Even { low: 0.0, high: 0.9, step: 0.05 },
    whole: false,
    help: "Share by which prompts and outputs are longer or shorter, uniformly; the simulated run draws them",
    read: |scenario| Some(scenario.workload.spread),
    write: |scenario, value| scenario.workload.spread = value.unwrap_or_default(),
};

pub static CONCURRENCY: Quantity = Quantity {
    field: Field::Concurrency,
    label: "Clients",
    unit: "at once",
    stops: Stops::Quarters { low: 1, high: 4096 },
    whole: true,
    help: "Each client sends its next request when its last one ends",
    read: |scenario| match scenario.workload.load {
        Load::Concurrency(clients) => Some(f64::from(clients)),
        Load::Rate(_) | Load::Batch(_) => None,
    },
    write: |scenario, value| {
        if let Some(value) = value {
            scenario.workload.load = Load::Concurrency(whole(value));
        }
    },
};

pub static BATCH: Quantity = Quantity {
    field: Field::Batch,
    label: "Prompts",
    unit: "at once",
    stops: Stops::Quarters { low: 1, high: 4096 },
    whole: true,
    help: "All prefilled in one pass, decoded together to the end",
    read: |scenario| match scenario.workload.load {
        Load::Batch(size) => Some(f64::from(size)),
        Load::Concurrency(_) | Load::Rate(_) => None,
    },
    write: |scenario, value| {
        if let Some(value) = value {
            scenario.workload.load = Load::Batch(whole(value));
        }
    },
};

pub static RATE: Quantity = Quantity {
    field: Field::Rate,
    label: "Rate",
    unit: "requests/s",
    stops: Stops::Decades { low: -2, high: 3 },
    whole: false,
    help: "Requests per second, at random times (Poisson), whoever still waits",
    read: |scenario| match scenario.workload.load {
        Load::Rate(rate) => Some(rate),
        Load::Concurrency(_) | Load::Batch(_) => None,
    },
    write: |scenario, value| {
        if let Some(value) = value {
            scenario.workload.load = Load::Rate(value);
        }
    },
};

pub static SLO_TTFT: Quantity = Quantity {
    field: Field::SloTtft,
    label: "TTFT limit",
    unit: "ms",
    stops: Stops::Decades { low: 1, high: 4 },
    whole: false,
    help: "SLO: milliseconds to the first token that every request is to keep to; empty for none",
    read: |scenario| scenario.workload.slos.ttft_ms,
    write: |scenario, value| scenario.workload.slos.ttft_ms = value,
};

pub static SLO_TPOT: Quantity = Quantity {
    field: Field::SloTpot,
    label: "TPOT limit",
    unit: "ms",
    stops: Stops::Decades { low: 0, high: 3 },
    whole: false,
    help: "SLO: milliseconds per output token after the first that every request is to keep to; empty for none",
    read: |scenario| scenario.workload.slos.tpot_ms,
    write: |scenario, value| scenario.workload.slos.tpot_ms = value,
};

pub static TOKEN_BUDGET: Quantity = Quantity {
    field: Field::TokenBudget,
    label: "Token budget",
    unit: "per step",
    stops: Stops::Quarters { low: 256, high: 65_536 },
    whole: true,
    help: "Tokens one step of the engine may process",
    read: |scenario| scenario.overrides.token_budget.map(f64::from),
    write: |scenario, value| scenario.overrides.token_budget = value.map(whole),
};

pub static MAX_SEQS: Quantity = Quantity {
    field: Field::MaxSeqs,
    label: "Sequences",
    unit: "at most",
    stops: Stops::Quarters { low: 1, high: 4096 },
    whole: true,
    help: "Requests the engine works on at once",
    read: |scenario| scenario.overrides.max_seqs.map(f64::from),
    write: |scenario, value| scenario.overrides.max_seqs = value.map(whole),
};

pub static MEMORY_SHARE: Quantity = Quantity {
    field: Field::MemoryShare,
    label: "Memory share",
    unit: "of the GPU",
    stops: Stops::Even { low: 0.3, high: 0.99, step: 0.01 },
    whole: false,
    help: "Share of device memory the engine may use",
    read: |scenario| scenario.overrides.memory_share,
    write: |scenario, value| scenario.overrides.memory_share = value,
};

pub static SUSTAINED: Quantity = Quantity {
    field: Field::Sustained,
    label: "Sustained clock",
    unit: "of boost",
    stops: Stops::Even { low: 0.5, high: 1.0, step: 0.01 },
    whole: false,
    help: "Share of the boost clock held through large matrix products",
    read: |scenario| scenario.overrides.sustained,
    write: |scenario, value| scenario.overrides.sustained = value,
};

pub static PRICE: Quantity = Quantity {
    field: Field::Price,
    label: "Price",
    unit: "$ / GPU h",
    stops: Stops::Even { low: 0.1, high: 20.0, step: 0.1 },
    whole: false,
    help: "What one GPU costs per hour",
    read: |scenario| scenario.overrides.price,
    write: |scenario, value| scenario.overrides.price = value,
};
