//! Disaggregated serving: the pool of workers that compute prompts, and how they send KV cache.

use super::columns::{BLANK, DEGREES};
use crate::config::inputs::number::Slot;
use crate::config::inputs::place::Group::Layout;
use crate::config::inputs::{Input, Kind, Number, Place, Stops, Text};
use crate::config::link::values;
use crate::config::{Field, Scenario};

pub const PREFILL_WORKERS: Input = Input {
    field: Field::PrefillWorkers,
    key: "pw",
    label: "Prefill workers",
    place: Some(Place(Layout, 10)),
    later: true,
    help: "Workers that only compute prompts and send their KV cache to the replicas, which then only decode \
           (disaggregated serving); 0: each replica does both.",
    number: number!(
        prefill.workers, Number::whole(0.0, 1_000.0, Stops::Even { low: 0.0, high: 16.0, step: 1.0 }),
        unit: "workers"
    ),
    ..BLANK
};

pub const PREFILL_GPU: Input = Input {
    field: Field::PrefillGpu,
    key: "pg",
    label: "Prefill GPU",
    later: true,
    help: "GPU of the prefill workers, by its id in the catalog; the replicas' if left out.",
    text: text!(Id, |link| link.scenario.prefill.gpu.clone(), |draft, text| values::id(text)
        .map(|id| draft.link.scenario.prefill.gpu = Some(id))),
    ..BLANK
};

pub const PREFILL_TP: Input = Input {
    field: Field::PrefillTp,
    key: "ptp",
    label: "Prefill TP",
    place: Some(Place(Layout, 11)),
    later: true,
    applies: Scenario::has_pools,
    help: "GPUs of a prefill worker that share each layer.",
    number: number!(prefill.tp, Number::whole(1.0, 128.0, DEGREES), unit: "GPUs", power_of_two: true),
    ..BLANK
};

pub const PREFILL_PP: Input = Input {
    field: Field::PrefillPp,
    key: "ppp",
    label: "Prefill PP",
    place: Some(Place(Layout, 12)),
    later: true,
    applies: Scenario::has_pools,
    help: "Pipeline stages of a prefill worker.",
    number: number!(prefill.pp, Number::whole(1.0, 128.0, DEGREES), unit: "stages"),
    ..BLANK
};

pub const PREFILL_DP: Input = Input {
    field: Field::PrefillDp,
    key: "pdp",
    label: "Prefill attention DP",
    place: Some(Place(Layout, 13)),
    later: true,
    applies: |scenario| scenario.has_pools() && scenario.has_experts(),
    help: "Groups of a prefill worker that run attention for requests of their own and share the experts.",
    number: number!(prefill.dp, Number::whole(1.0, 128.0, DEGREES), unit: "groups"),
    ..BLANK
};

pub const PREFILL_EP: Input = Input {
    field: Field::PrefillEp,
    key: "pep",
    label: "Prefill EP",
    place: Some(Place(Layout, 14)),
    later: true,
    applies: |scenario| scenario.has_pools() && scenario.has_experts(),
    help: "GPUs of a prefill worker that the experts are distributed over.",
    number: number!(
        prefill.ep, Number::whole(1.0, 128.0, Stops::Doubling { low: 1, high: 64 }), unit: "GPUs"
    ),
    ..BLANK
};

pub const PREFILL_BUDGET: Input = Input {
    field: Field::PrefillBudget,
    key: "ptb",
    label: "Prefill token budget",
    place: Some(Place(Layout, 15)),
    later: true,
    applies: Scenario::has_pools,
    help: "Tokens that one step of a prefill worker may process; the replicas' if left out.",
    number: number!(
        prefill.token_budget,
        Number::whole(1.0, 1_048_576.0, Stops::Quarters { low: 256, high: 65_536 }),
        unit: "per step",
        catalog: Some(|_, _| None)
    ),
    ..BLANK
};

pub const SEND_RATE: Input = Input {
    field: Field::SendRate,
    key: "kvr",
    label: "KV transfer rate",
    place: Some(Place(Layout, 16)),
    later: true,
    applies: Scenario::has_pools,
    help: "GB/s at which each GPU of a prefill worker sends KV cache; if left out, what its link reaches where one joins \
           all workers, and otherwise its port of the network.",
    number: number!(
        prefill.send_gb_per_s, Number::real(0.001, 100_000.0, Stops::Decades { low: 0, high: 3 }),
        unit: "GB/s per GPU", catalog: Some(|_, _| None)
    ),
    ..BLANK
};

pub const SEND_TIME: Input = Input {
    field: Field::SendTime,
    key: "kvt",
    label: "KV transfer latency",
    place: Some(Place(Layout, 17)),
    later: true,
    applies: Scenario::has_pools,
    help: "Microseconds that any transfer of KV cache takes beside its bytes; if left out, what handing a request over takes \
           under Dynamo in measured runs; SGLang's own router takes next to nothing.",
    number: number!(
        prefill.send_us, Number::real(0.0, 10_000_000.0, Stops::Decades { low: 0, high: 5 }), unit: "µs",
        catalog: Some(|_, _| None)
    ),
    ..BLANK
};
