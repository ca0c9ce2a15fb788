//! The table: a row is all that there is to say of an input. Links write the rows from top to bottom.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::columns::{named, real, row, whole};
use super::number::Slot;
use super::place::Group::{Engine, Formats, Gpu, Layout, Model, Rates, Requests, Slos, Workload};
use super::stops::Stops::{self, Decades, Doubling, Even, Quarters};
use super::{Input, Kind, Number, Text};
use crate::config::ids::ids;
use crate::config::link::{self, Find, compared, custom, values};
use crate::config::{Dtype, Load, ModelChoice, Scenario, Shape, Start};

const DEGREES: Stops = Doubling { low: 1, high: 16 };
const SIZES: Stops = Quarters { low: 1, high: 4096 };
const BUDGETS: Stops = Quarters { low: 256, high: 65_536 };
const SHARES: Stops = Even { low: 0.0, high: 1.0, step: 0.05 };
// Upper bounds of all rows lie beyond any deployment and keep every count of work exact in 64 bits.
const COUNT: Number = whole(1.0, 100_000.0, SIZES);
const DEGREE: Number = whole(1.0, 128.0, DEGREES);
const EXPERT_RANKS: Number = whole(1.0, 128.0, Doubling { low: 1, high: 64 }).unit("GPUs");
const LENGTH: f64 = 100_000_000.0;
const PER_SECOND: Number = real(0.001, 1_000_000.0, Decades { low: -2, high: 3 });

fn of_pooled_experts(scenario: &Scenario) -> bool {
    scenario.has_pools() && scenario.has_experts()
}

fn of_sessions(scenario: &Scenario) -> bool {
    scenario.workload.load.is_sessions()
}

inputs! {
    /// The link or the JSON text as a whole.
    #[default]
    Link = named("Link"),
    Version = row("v", "Link version", "Schema version of the link; 1 if left out.").aside()
        .text(Text { kind: Kind::Whole, get: |_| Some(link::VERSION.to_string()), set: link::set_version }),
    Model = row("m", "Model", "Model, by its id in the catalog.").at(Model, 0).text(Text {
        kind: Kind::Id,
        get: |link| match &link.scenario.model {
            ModelChoice::Catalog(id) => Some(id.clone()),
            ModelChoice::Custom(_) => None,
        },
        set: |draft, text| values::id(text).map(|id| draft.link.scenario.model = ModelChoice::Catalog(id)),
    }),
    Gpu = row("g", "GPU", "GPU, by its id in the catalog.")
        .at(Gpu, 0).text(text!(Id, values::id, scenario.gpu, String::clone)),
    Gpus = row("n", "Replicas",
        "Copies of the whole deployment, which share the load. Links and JSON hold the GPUs of all of them, a \
         multiple of TP x DP x PP.").at(Gpu, 1)
        .number(held!(replicas, whole(1.0, 10_000.0, Doubling { low: 1, high: 64 }).unit("copies")))
        .text(Text {
            kind: Kind::Whole,
            get: link::all_gpus,
            set: |draft, text| values::whole(text).map(|gpus| draft.gpus = Some(gpus)),
        }),
    Tp = row("tp", "Tensor parallel", "GPUs that share each layer (TP).")
        .at(Layout, 0).number(held!(tp, DEGREE.unit("GPUs").power_of_two())),
    Pp = row("pp", "Pipeline parallel", "Stages that each hold some of the layers (PP).")
        .at(Layout, 1).number(held!(pp, DEGREE.unit("stages"))),
    Dp = row("dp", "Attention data parallel",
        "Groups of TP GPUs that run attention for requests of their own and share the experts (DP).").at(Layout, 2)
        .when(Scenario::has_experts).number(held!(dp, DEGREE.unit("groups"))),
    Ep = row("ep", "Expert parallel",
        "GPUs of a stage (TP x DP) that the experts are distributed over (EP); the remaining factor shards each \
         expert.").at(Layout, 3)
        .when(Scenario::has_experts).number(held!(ep, EXPERT_RANKS)),
    Engine = row("e", "Engine", "Serving engine, by its id in the catalog.")
        .at(Engine, 0).text(text!(Id, values::id, scenario.engine, String::clone)),
    Weights = row("w", "Weights", "Format of the linear layers' weights; the published one if left out.").at(Formats, 0)
        .text(text!(Format, values::dtype, Some(scenario.weights), format)),
    Kv = row("kv", "KV cache", "Format of the KV cache.")
        .at(Formats, 1).text(text!(Format, values::dtype, scenario.kv, format)),
    Isl = row("isl", "Input length",
        "Tokens of each prompt (ISL); of a static batch also a list, one length per prompt.").at(Workload, 10)
        .number(Number {
            read: |scenario| scenario.workload.mean_prompt(),
            write: |scenario, value| scenario.workload.set_mean_prompt(value),
            ..whole(1.0, LENGTH, Quarters { low: 16, high: 131_072 }).unit("tokens")
        })
        .text(text!(Lengths, values::lengths, scenario.workload.isl, values::show_lengths)),
    Osl = row("osl", "Output length", "Tokens generated for each prompt (OSL).").at(Workload, 11)
        .number(Number {
            read: |scenario| Some(f64::from(scenario.workload.mean_output())),
            write: |scenario, value| scenario.workload.set_mean_output(value),
            ..whole(1.0, LENGTH, Quarters { low: 1, high: 16_384 }).unit("tokens")
        })
        .text(text!(Whole, values::whole, scenario.workload.osl, u32::to_string)),
    Spread = row("rr", "Spread", "Fraction by which prompt and output lengths vary, uniformly, up and down.")
        .at(Requests, 0)
        .number(held!(workload.spread, real(0.0, 0.95, Even { low: 0.0, high: 0.9, step: 0.05 }).unit("± share"))),
    // Beyond, a few requests would hold most tokens.
    LogSpread = row("ls", "Log-normal spread",
        "Standard deviation of the logarithm of lengths that are log-normal instead, with the same means.")
        .at(Requests, 1).later()
        .number(held!(workload.log_spread, real(0.0, 1.5, Even { low: 0.0, high: 1.5, step: 0.05 }).unit("sigma"))),
    Shape = row("sh", "Shape of lengths",
        "A named distribution about these means. sharegpt: log-normal prompts and outputs that vary as those that \
         `vllm bench serve` takes from ShareGPT.").at(Requests, 2).later()
        .text(text!(Id, values::shape, Some(scenario.workload.shape), |shape: &Shape| shape.id().to_owned())),
    Histogram = row("hl", "Length histogram",
        "Pairs of prompt and output length to draw from, each with its weight, instead of one length each.").later()
        .text(text!(Histogram, values::histogram, scenario.workload.histogram or none, values::show_histogram)),
    CachedShare = row("pc", "Prefix cache", "Fraction of each prompt found in the prefix cache.")
        .at(Requests, 30).later()
        .number(held!(workload.cached_share, real(0.0, 1.0, SHARES).unit("of prompts"))),
    Drafted = row("sd", "Drafted", "Speculative decoding: draft tokens per step and sequence.").at(Requests, 31).later()
        .number(held!(workload.drafts.drafted,
            whole(0.0, 64.0, Even { low: 0.0, high: 16.0, step: 1.0 }).unit("tokens"))),
    Accepted = row("sa", "Accepted", "Speculative decoding: draft tokens accepted per step, on average.")
        .at(Requests, 32).later()
        .number(held!(workload.drafts.accepted,
            real(0.0, 64.0, Even { low: 0.0, high: 16.0, step: 0.1 }).unit("tokens"))),
    /// The kind of load; its sizes follow.
    Load = row("", "Load",
        "How requests arrive: from clients that wait for each answer, at a rate, all at once to a server, in a queue \
         of the engine's own, as one static batch, or in sessions of several turns.").at(Workload, 0),
    Concurrency = load!(Concurrency, 1, COUNT.unit("at once"), row("c", "Clients",
        "Clients that each send their next request when the last one ends.")),
    Rate = load!(Rate, 2, PER_SECOND.unit("requests/s"), row("r", "Rate",
        "Requests per second, arriving independently (Poisson) no matter how many wait.")),
    ConstantRate = load!(ConstantRate, 3, PER_SECOND.unit("requests/s"), row("rc", "Constant rate",
        "Requests per second with equal gaps, no matter how many wait.")),
    Burstiness = row("bu", "Burstiness",
        "Shape of the gamma distribution of arrival gaps: 1 is Poisson, less is burstier, more is more even.")
        .at(Requests, 14).later()
        .when(|scenario| matches!(scenario.workload.load, Load::Rate(_) | Load::SessionRate(_)))
        .number(held!(workload.burstiness, real(0.05, 100.0, Decades { low: -1, high: 2 }).unit("shape"))),
    Burst = load!(Burst, 4, COUNT.unit("prompts"), row("bn", "Burst",
        "Prompts sent to a server at once, and no others (`vllm bench serve` without a rate).")),
    Offline = load!(Offline, 5, COUNT.unit("prompts"), row("on", "Offline queue",
        "Prompts queued in the engine, without a server, for the most throughput (`vllm bench throughput`).")),
    Batch = load!(Batch, 6, COUNT.unit("at once"), row("b", "Prompts",
        "Prompts of one static batch: prefilled together, decoded together to the end.")),
    Sessions = load!(Sessions, 7, COUNT.unit("at once"), row("sn", "Sessions",
        "Users at once, each of whom begins a new session when the last one ends.")),
    SessionRate = load!(SessionRate, 8, PER_SECOND.unit("sessions/s"), row("sr", "Session rate",
        "Sessions per second, beginning independently (Poisson) no matter how many are under way.")),
    MaxInFlight = row("mc", "In flight",
        "Prompts of the burst that are sent before one has ended (`--max-concurrency` of `vllm bench serve`); empty \
         for all.").at(Requests, 15).later()
        .when(|scenario| matches!(scenario.workload.load, Load::Burst(_)))
        .number(held!(workload.max_in_flight, COUNT.unit("at most").optional())),
    Turns = row("tn", "Turns",
        "Turns of a session. The first has the input length; the prompt of each later one is all that went before, \
         answers included, and a message.").at(Requests, 16).later().when(of_sessions)
        .number(held!(workload.turns.count,
            whole(1.0, 1_000.0, Even { low: 1.0, high: 32.0, step: 1.0 }).unit("of a session"))),
    Message = row("um", "Message", "Tokens that the user adds in each turn after the first.")
        .at(Requests, 17).later().when(of_sessions)
        .number(held!(workload.turns.message,
            whole(1.0, 10_000_000.0, Quarters { low: 16, high: 16_384 }).unit("tokens"))),
    ThinkTime = row("tt", "Think time", "Seconds between an answer and the user's next message.")
        .at(Requests, 18).later().when(of_sessions)
        .number(held!(workload.turns.think_s, real(0.0, 3_600.0, Even { low: 0.0, high: 60.0, step: 1.0 }).unit("s"))),
    HistoryCached = row("hc", "History cached",
        "Fraction of a session's earlier turns that the prefix cache may serve while it holds them: 0 where it is off.")
        .at(Requests, 19).later().when(of_sessions)
        .number(held!(workload.turns.history_cached, real(0.0, 1.0, SHARES).unit("of history"))),
    Ramp = start!(Ramp, 20, 86_400.0, row("ru", "Ramp",
        "Seconds over which clients begin, evenly; empty for all at once.")),
    Stagger = start!(Stagger, 21, 3_600.0, row("sg", "Stagger",
        "Seconds from the start of one client to that of the next, instead of a ramp; empty for all at once.")),
    Requests = row("np", "Requests",
        "Requests of the simulated run (`--num-prompts`), in whole sessions; empty for ten of each client, a hundred \
         at least, and 1,000 at a rate.").at(Requests, 22).later()
        .when(|scenario| !matches!(scenario.workload.load, Load::Burst(_) | Load::Offline(_) | Load::Batch(_)))
        .number(held!(workload.requests,
            whole(1.0, 100_000.0, Quarters { low: 16, high: 16_384 }).unit("in all").optional())),
    SloTtft = row("st", "TTFT limit", "SLO: TTFT that every request must meet, in milliseconds; empty for none.")
        .at(Slos, 0)
        .number(held!(workload.slos.ttft_ms,
            real(1.0, 10_000_000.0, Decades { low: 1, high: 4 }).unit("ms").optional())),
    SloTpot = row("sp", "TPOT limit", "SLO: TPOT that every request must meet, in milliseconds; empty for none.")
        .at(Slos, 1)
        .number(held!(workload.slos.tpot_ms,
            real(0.1, 1_000_000.0, Decades { low: 0, high: 3 }).unit("ms").optional())),
    SloE2e = row("se", "E2E limit",
        "SLO: time from arrival to the last token that every request must meet, in milliseconds; empty for none.")
        .at(Requests, 40).later()
        .number(held!(workload.slos.e2e_ms,
            real(1.0, 100_000_000.0, Decades { low: 2, high: 6 }).unit("ms").optional())),
    SloPercentile = row("sq", "Limit percentile",
        "Percentile of TTFT, TPOT and E2E that each limit applies to; if empty, requests that meet every limit are \
         counted.").at(Requests, 41).later()
        .number(held!(workload.slos.percentile,
            real(1.0, 100.0, Even { low: 50.0, high: 99.0, step: 1.0 }).unit("%").optional())),
    SloShare = row("so", "Goodput share",
        "Share of requests that must meet every limit; 0.99 if empty, and not checked if a percentile is given.")
        .at(Requests, 42).later()
        .number(held!(workload.slos.share,
            real(0.01, 1.0, Even { low: 0.5, high: 1.0, step: 0.01 }).unit("of requests").optional())),
    TokenBudget = row("tb", "Token budget", "Tokens that one step of the engine may process.").at(Engine, 1)
        .number(held!(overrides.token_budget,
            whole(1.0, 1_048_576.0, BUDGETS).unit("per step").or(|engine, gpu| engine.scheduler.limits_on(gpu).0.0))),
    MaxSeqs = row("ms", "Sequences", "Sequences that the engine runs at once.").at(Engine, 2)
        .number(held!(overrides.max_seqs,
            whole(1.0, 65_536.0, SIZES).unit("at most").or(|engine, gpu| engine.scheduler.limits_on(gpu).1.0))),
    MemoryShare = row("mem", "Memory share", "Fraction of the GPU's memory that the engine may use.").at(Engine, 3)
        .number(held!(overrides.memory_share,
            real(0.1, 0.98, Even { low: 0.3, high: 0.98, step: 0.01 }).unit("of the GPU")
                .or(|engine, _| engine.scheduler.memory_share.0))),
    Sustained = row("clk", "Sustained clock", "Fraction of the boost clock that the GPU holds under load.").at(Rates, 0)
        .number(held!(overrides.sustained,
            real(0.3, 1.0, Even { low: 0.5, high: 1.0, step: 0.01 }).unit("of boost")
                .or(|_, gpu| gpu.sustained_clock.0))),
    PowerCap = row("cap", "Power cap",
        "Watts that each GPU may draw; below its limit, clocks fall and compute-bound kernels take longer.")
        .at(Rates, 1).later()
        .number(held!(overrides.power_cap,
            real(30.0, 5000.0, Even { low: 100.0, high: 1400.0, step: 10.0 }).unit("W").or(|_, gpu| gpu.power_w.0))),
    PowerOverhead = row("pue", "Power overhead",
        "Power of hosts, network and cooling and of the GPUs, over that of the GPUs; 1 counts the GPUs alone.")
        .at(Rates, 2).later()
        .number(held!(overrides.power_overhead,
            real(1.0, 5.0, Even { low: 1.0, high: 2.0, step: 0.05 }).unit("of the GPUs").or(|_, _| Some(1.0)))),
    Price = row("usd", "Price", "US dollars per GPU and hour.").at(Rates, 3)
        .number(held!(overrides.price,
            real(0.0, 10_000.0, Even { low: 0.1, high: 20.0, step: 0.1 }).unit("$ / GPU h")
                .or(|_, gpu| gpu.dollars_per_hour.0))),
    PrefillWorkers = row("pw", "Prefill workers",
        "Workers that only compute prompts and send their KV cache to the replicas, which then only decode \
         (disaggregated serving); 0: each replica does both.").at(Layout, 10).later()
        .number(held!(prefill.workers, whole(0.0, 1_000.0, Even { low: 0.0, high: 16.0, step: 1.0 }).unit("workers"))),
    PrefillGpu = row("pg", "Prefill GPU",
        "GPU of the prefill workers, by its id in the catalog; the replicas' if left out.")
        .later().text(text!(Id, values::id, Some(scenario.prefill.gpu), String::clone)),
    PrefillTp = row("ptp", "Prefill TP", "GPUs of a prefill worker that share each layer.").at(Layout, 11).later()
        .when(Scenario::has_pools).number(held!(prefill.tp, DEGREE.unit("GPUs").power_of_two())),
    PrefillPp = row("ppp", "Prefill PP", "Pipeline stages of a prefill worker.").at(Layout, 12).later()
        .when(Scenario::has_pools).number(held!(prefill.pp, DEGREE.unit("stages"))),
    PrefillDp = row("pdp", "Prefill attention DP",
        "Groups of a prefill worker that run attention for requests of their own and share the experts.")
        .at(Layout, 13).later()
        .when(of_pooled_experts).number(held!(prefill.dp, DEGREE.unit("groups"))),
    PrefillEp = row("pep", "Prefill EP", "GPUs of a prefill worker that the experts are distributed over.")
        .at(Layout, 14).later()
        .when(of_pooled_experts).number(held!(prefill.ep, EXPERT_RANKS)),
    PrefillBudget = row("ptb", "Prefill token budget",
        "Tokens that one step of a prefill worker may process; the replicas' if left out.")
        .at(Layout, 15).later().when(Scenario::has_pools)
        .number(held!(prefill.token_budget, whole(1.0, 1_048_576.0, BUDGETS).unit("per step").optional())),
    SendRate = row("kvr", "KV transfer rate",
        "GB/s at which each GPU of a prefill worker sends KV cache; if left out, what its link reaches where one \
         joins all workers, and otherwise its port of the network.").at(Layout, 16).later().when(Scenario::has_pools)
        .number(held!(prefill.send_gb_per_s,
            real(0.001, 100_000.0, Decades { low: 0, high: 3 }).unit("GB/s per GPU").optional())),
    SendTime = row("kvt", "KV transfer latency",
        "Microseconds that any transfer of KV cache takes beside its bytes; if left out, what handing a request over \
         takes under Dynamo in measured runs; SGLang's own router takes next to nothing.")
        .at(Layout, 17).later().when(Scenario::has_pools)
        .number(held!(prefill.send_us, real(0.0, 10_000_000.0, Decades { low: 0, high: 5 }).unit("µs").optional())),
    Data = row("d", "Release", "Release of data and weights that the link was made with.")
        .aside().text(text!(Id, values::id, Some(data_release), String::clone)),
    Trace = named("Trace"),
    /// What a search may vary, as the next are: no part of the scenario, but issues refer to them.
    Vary = row("f", "Find",
        "Opens the page with the plans that serve this load, and says what they may be: `all`, or names and values as \
         in a request for plans (plan.md). The page then chooses GPUs, engine, formats and layout.")
        .aside().text(text!(Wishes, Find::decode, Some(find), Find::encode)),
    Owned = named("GPUs owned"),
    BudgetGpus = named("Most GPUs"),
    BudgetDollars = named("Most $ per hour"),
    Prices = named("Prices"),
    Most = named("Most load"),
    Day = named("Rates of a day"),
    Plans = named("Plans"),
    Measured = row("me", "Measurement",
        "Measured results to compare with: means, and medians where known, in ms or per second.").aside()
        .text(text!(Measured, values::measured, scenario.measured or none, values::show_measured)),
    Compared = row("vs", "Comparison", "Up to three configurations to compare with.").aside()
        .text(text!(Links, compared::read, compared or none, compared::encode)),
    Runs = row("run", "Your runs",
        "Measured runs of your own, up to 100, that predictions are calibrated on: configurations with their \
         measurements.").aside().text(text!(Links, compared::read_runs, runs or none, compared::encode)),
    ; also row("x", "Custom model", "A model of your own, instead of one of the catalog.").of(Field::Model).text(Text {
        kind: Kind::Packed,
        get: |link| match &link.scenario.model {
            ModelChoice::Catalog(_) => None,
            ModelChoice::Custom(model) => Some(custom::encode(model)),
        },
        set: |draft, text| {
            draft.link.scenario.model = ModelChoice::Custom(Box::new(custom::decode(text)?));
            Ok(())
        },
    })
}

// Also the name in the JSON form, in reports and in the ids of the page's elements.
ids!(Field);

fn format(dtype: &Dtype) -> String {
    dtype.id().to_owned()
}
