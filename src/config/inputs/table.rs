//! The table: a row holds all there is to know about an input. Links write the rows from top to bottom.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::bounds::{
    BUDGETS, COUNT, DEGREE, DEGREES, EXPERT_RANKS, LENGTH, PEAK, PER_LINK, PER_SECOND, SHARES, SIZES, WIDTHS,
    has_expert_pools, has_own_prefill_gpu, has_sessions, multiplies, within,
};
use super::columns::{named, real, row, whole};
use super::number::Slot;
use super::place::FormGroup::{
    Architecture, Engine, Formats, Gpu, Hardware, Layout, Model, Rates, Requests, Slos, Workload,
};
use super::stops::Stops::{Decades, Doubling, Even, Quarters};
use super::{Input, InputKind, LinkText, Number};
use crate::config::ids::ids;
use crate::config::link::{self, SearchSpace, compared, custom, values};
use crate::config::model::{Size, limits};
use crate::config::spec::tflops;
use crate::config::{Dtype, Load, ModelChoice, Scenario, Shape, Start};
use crate::units::{GIB, MIB};

inputs! {
    /// The link or the JSON text as a whole.
    #[default]
    Link = named("Link"),
    Version = row("v", "Link version", "Link schema version; 1 if left out.").aside()
        .text(LinkText { kind: InputKind::Whole, get: |_| Some(link::VERSION.to_string()), set: link::set_version }),
    Model = row("m", "Model", "Model, by catalog id.").at(Model, 0).text(LinkText {
        kind: InputKind::Id,
        get: |link| match &link.scenario.model {
            ModelChoice::Catalog(id) => Some(id.clone()),
            ModelChoice::Custom(_) => None,
        },
        set: |draft, text| values::id(text).map(|id| draft.link.scenario.model = ModelChoice::Catalog(id)),
    }),
    Layers = size!(0, Layers, within(limits::LAYERS, Quarters { low: 1, high: 256 }), "Layers",
        "Decoder layers; kinds of layers keep their proportions."),
    Hidden = size!(1, Hidden, within(limits::HIDDEN, WIDTHS), "Hidden size", "Width of the residual stream."),
    Heads = size!(2, Heads, within(limits::HEADS, Quarters { low: 1, high: 1024 }), "Heads", "Query heads of a layer."),
    KvHeads = size!(3, KvHeads, within(limits::KV_HEADS, DEGREES), "KV heads", "Key and value heads of a layer."),
    HeadDim = size!(4, HeadDim, within(limits::HEAD_DIM, Doubling { low: 32, high: 512 }), "Head size", "Dimension of a head."),
    Window = size!(5, Window, within(limits::WINDOW, Quarters { low: 64, high: 131_072 }).unit("tokens"), "Window",
        "Tokens that a sliding-window layer attends to."),
    Latent = size!(6, Latent, within(limits::LATENT, Quarters { low: 64, high: 8192 }), "Latent size",
        "Width of the latent vector cached per token."),
    Mlp = size!(7, Mlp, within(limits::INTERMEDIATE, WIDTHS), "MLP width", "Width of the dense MLPs."),
    Experts = size!(8, Experts, within(limits::EXPERTS, SIZES), "Experts", "Routed experts of a layer."),
    ActiveExperts = size!(9, Active, within(limits::TOPK, DEGREES), "Active experts", "Routed experts that each token visits."),
    ExpertWidth = size!(10, ExpertWidth, within(limits::EXPERT_WIDTH, WIDTHS), "Expert width", "Width of one routed expert."),
    SharedWidth = size!(11, SharedWidth, within(limits::EXPERT_WIDTH, WIDTHS), "Shared width", "Total width of the shared experts."),
    Vocab = size!(12, Vocab, within(limits::VOCAB, Quarters { low: 8192, high: 262_144 }), "Vocabulary", "Tokens of the vocabulary."),
    Gpu = row("g", "GPU", "GPU, by catalog id or name.")
        .at(Gpu, 0).text(text!(Id, values::gpu, scenario.gpu, String::clone)),
    Gpus = row("n", "Replicas",
        "Copies of the whole deployment that share the load. In links and JSON, the total number of GPUs instead, a \
        multiple of TP × DP × PP.").at(Gpu, 2)
        .number(held!(replicas, whole(1.0, 10_000.0, Doubling { low: 1, high: 64 }).unit("copies")))
        .text(LinkText {
            kind: InputKind::Whole,
            get: link::all_gpus,
            set: |draft, text| values::whole(text).map(|gpus| draft.gpus = Some(gpus)),
        }),
    Tp = row("tp", "Tensor parallel", "GPUs each layer is split over (TP).")
        .at(Gpu, 1).number(held!(parallel.tp, DEGREE.unit("GPUs").power_of_two())),
    Pp = row("pp", "Pipeline parallel", "Pipeline stages the layers are split into (PP).")
        .at(Layout, 1).number(held!(parallel.pp, DEGREE.unit("stages"))),
    Dp = row("dp", "Attention data parallel",
        "Groups of TP GPUs that run attention for their own requests and share the experts (DP).").at(Layout, 2)
        .when(Scenario::has_experts).number(held!(parallel.dp, DEGREE.unit("groups"))),
    Ep = row("ep", "Expert parallel",
        "GPUs of a stage (TP × DP) that the experts are distributed over (EP); each expert is sharded over the \
        remaining TP × DP / EP GPUs.").at(Layout, 3)
        .when(Scenario::has_experts).number(held!(parallel.ep, EXPERT_RANKS)),
    Engine = row("e", "Engine", "Serving engine, by catalog id.")
        .at(Engine, 0).text(text!(Id, values::id, scenario.engine, String::clone)),
    Weights = row("w", "Weights", "Format of the linear layers' weights; as published if left out.").at(Formats, 0)
        .text(text!(Format, values::dtype, Some(scenario.weights), values::show_dtype)),
    Kv = row("kv", "KV cache", "Format of the KV cache.")
        .at(Formats, 1).text(text!(Format, values::dtype, scenario.kv, values::show_dtype)),
    Isl = row("isl", "Input length",
        "Tokens per prompt (ISL); for a static batch also a list, one length per prompt.").at(Workload, 10)
        .number(Number {
            read: |scenario| scenario.workload.mean_prompt(),
            write: |scenario, value| scenario.workload.set_mean_prompt(value),
            ..whole(1.0, LENGTH, Quarters { low: 16, high: 131_072 }).unit("tokens")
        })
        .text(text!(Lengths, values::lengths, scenario.workload.isl, values::show_lengths)),
    Osl = row("osl", "Output length", "Tokens generated per prompt (OSL).").at(Workload, 11)
        .number(Number {
            read: |scenario| Some(f64::from(scenario.workload.mean_output())),
            write: |scenario, value| scenario.workload.set_mean_output(value),
            ..whole(1.0, LENGTH, Quarters { low: 1, high: 16_384 }).unit("tokens")
        })
        .text(text!(Whole, values::whole, scenario.workload.osl, u32::to_string)),
    Spread = row("rr", "Spread", "Fraction by which prompt and output lengths vary uniformly, up and down.")
        .at(Requests, 0)
        .number(held!(workload.spread, real(0.0, 0.95, Even { low: 0.0, high: 0.9, step: 0.05 }).unit("± share"))),
    // Beyond, a few requests would hold most tokens.
    LogSpread = row("ls", "Log-normal spread",
        "Standard deviation of the logarithm of log-normal lengths, with the same means.")
        .at(Requests, 1).later()
        .number(held!(workload.log_spread, real(0.0, 1.5, Even { low: 0.0, high: 1.5, step: 0.05 }).unit("sigma"))),
    Shape = row("sh", "Length distribution",
        "A named distribution with these means. sharegpt: the prompts and outputs that `vllm bench serve` samples from \
        ShareGPT, scaled.").at(Requests, 2).later()
        .text(text!(Id, values::shape, Some(scenario.workload.shape), |shape: &Shape| shape.id().to_owned())),
    Histogram = row("hl", "Length histogram",
        "Weighted pairs of prompt and output length to draw from, instead of fixed lengths.").later()
        .text(text!(Histogram, values::histogram, scenario.workload.histogram or none, values::show_histogram)),
    CachedShare = row("pc", "Prefix cache", "Fraction of each prompt found in the prefix cache. KV memory is counted as if each running request had its own copy.")
        .at(Requests, 30).later()
        .number(held!(workload.cached_share, real(0.0, 1.0, SHARES).unit("of prompts"))),
    Drafted = row("sd", "Draft tokens", "Speculative decoding: draft tokens per step and sequence.").at(Requests, 31).later()
        .number(held!(workload.drafts.drafted,
            whole(0.0, 64.0, Even { low: 0.0, high: 16.0, step: 1.0 }).unit("tokens"))),
    Accepted = row("sa", "Accepted tokens", "Speculative decoding: draft tokens accepted per step, on average.")
        .at(Requests, 32).later()
        .number(held!(workload.drafts.accepted,
            real(0.0, 64.0, Even { low: 0.0, high: 16.0, step: 0.1 }).unit("tokens"))),
    Images = row("im", "Images", "Images in each prompt. The input length includes their tokens.")
        .at(Workload, 12).later().when(Scenario::has_encoder)
        .number(held!(workload.images, whole(0.0, 1_000.0, Even { low: 0.0, high: 16.0, step: 1.0 }).unit("per prompt"))),
    ImageTokens = row("it", "Image tokens",
        "Prompt tokens per image. The default is the model's fixed number if it has one (Gemma 3: 256), and otherwise \
        1,024, a typical value.").at(Workload, 13).later().when(Scenario::has_encoder)
        .number(held!(workload.image_tokens,
            whole(1.0, 1_000_000.0, Quarters { low: 16, high: 16_384 }).unit("per image").optional())),
    /// The kind of load; its sizes follow.
    Load = row("", "Load",
        "How requests arrive: from clients that wait for each answer, at a rate, all at once, from the engine's own \
        queue, as one static batch, or in multi-turn sessions.").at(Workload, 0),
    Concurrency = load!(Concurrency, 1, COUNT.unit("at once"), row("c", "Clients",
        "Clients that each send their next request when the previous one ends.")),
    Rate = load!(Rate, 2, PER_SECOND.unit("requests/s"), row("r", "Rate",
        "Requests per second, arriving independently (Poisson) however many are waiting.")),
    ConstantRate = load!(ConstantRate, 3, PER_SECOND.unit("requests/s"), row("rc", "Constant rate",
        "Requests per second at equal gaps, however many are waiting.")),
    Burstiness = row("bu", "Burstiness",
        "Shape of the gamma distribution of arrival gaps: 1 is Poisson, lower is burstier, higher more regular.")
        .at(Requests, 14).later()
        .when(|scenario| matches!(scenario.workload.load, Load::Rate(_) | Load::SessionRate(_)))
        .number(held!(workload.burstiness, real(0.05, 100.0, Decades { low: -1, high: 2 }).unit("shape"))),
    Burst = load!(Burst, 4, COUNT.unit("prompts"), row("bn", "Burst",
        "Prompts all sent to a server at once (`vllm bench serve` without a rate).")),
    Offline = load!(Offline, 5, COUNT.unit("prompts"), row("on", "Offline queue",
        "Prompts queued in the engine, without a server, for maximum throughput (`vllm bench throughput`).")),
    Batch = load!(Batch, 6, COUNT.unit("at once"), row("b", "Prompts",
        "Prompts in one static batch: prefilled together and decoded together to the end.")),
    Sessions = load!(Sessions, 7, COUNT.unit("at once"), row("sn", "Sessions",
        "Concurrent users, each starting a new session when the previous one ends.")),
    SessionRate = load!(SessionRate, 8, PER_SECOND.unit("sessions/s"), row("sr", "Session rate",
        "Sessions per second, starting independently (Poisson) however many are open.")),
    MaxInFlight = row("mc", "In flight",
        "Most requests in flight at once (`--max-concurrency` of `vllm bench serve`); empty for \
        no limit.").at(Requests, 15).later()
        .when(|scenario| scenario.workload.load.may_be_limited())
        .number(held!(workload.max_in_flight, COUNT.unit("at most").optional())),
    Turns = row("tn", "Turns",
        "Turns per session. The first prompt has the input length; each later one is the whole conversation so far \
        plus a message.").at(Requests, 16).later().when(has_sessions)
        .number(held!(workload.turns.count,
            whole(1.0, 1_000.0, Even { low: 1.0, high: 32.0, step: 1.0 }).unit("of a session"))),
    Message = row("um", "Message", "Tokens the user adds in each turn after the first.")
        .at(Requests, 17).later().when(has_sessions)
        .number(held!(workload.turns.message,
            whole(1.0, 10_000_000.0, Quarters { low: 16, high: 16_384 }).unit("tokens"))),
    ThinkTime = row("tt", "Think time", "Seconds between an answer and the user's next message.")
        .at(Requests, 18).later().when(has_sessions)
        .number(held!(workload.turns.think_s, real(0.0, 3_600.0, Even { low: 0.0, high: 60.0, step: 1.0 }).unit("s"))),
    HistoryCached = row("hc", "History cached",
        "Fraction of a session's history that is served from the prefix cache while still cached; 0 turns this off.")
        .at(Requests, 19).later().when(has_sessions)
        .number(held!(workload.turns.history_cached, real(0.0, 1.0, SHARES).unit("of history"))),
    HostCache = row("hm", "Host cache",
        "Host memory per GPU for a copy of the sessions' KV cache, read back once the GPU has dropped it; 0 for none.").at(Requests, 20).later().when(has_sessions)
        .number(held!(workload.turns.host_gib, real(0.0, 16_384.0, Quarters { low: 16, high: 4096 }).unit("GiB per GPU"))),
    Ramp = start!(Ramp, 21, 86_400.0, row("ru", "Ramp",
        "Seconds over which clients start, evenly spaced; empty for all at once.")),
    Stagger = start!(Stagger, 22, 3_600.0, row("sg", "Stagger",
        "Seconds between client starts, instead of a ramp; empty for all at once.")),
    Requests = row("np", "Requests",
        "Requests in the simulated run (`--num-prompts`), in whole sessions. Empty: ten per client but at least 100, \
        or 1,000 at a rate, and more if ramp-up and drain would otherwise weigh too much.").at(Requests, 23).later()
        .when(|scenario| !matches!(scenario.workload.load, Load::Burst(_) | Load::Offline(_) | Load::Batch(_)))
        .number(held!(workload.requests,
            whole(1.0, 100_000.0, Quarters { low: 16, high: 16_384 }).unit("in all").optional())),
    SloTtft = row("st", "TTFT limit", "TTFT limit (SLO), in milliseconds; empty for none.")
        .at(Slos, 0)
        .number(held!(workload.slos.ttft_ms,
            real(1.0, 10_000_000.0, Decades { low: 1, high: 4 }).unit("ms").optional())),
    SloTpot = row("sp", "TPOT limit", "TPOT limit (SLO), in milliseconds; empty for none.")
        .at(Slos, 1)
        .number(held!(workload.slos.tpot_ms,
            real(0.1, 1_000_000.0, Decades { low: 0, high: 3 }).unit("ms").optional())),
    SloE2e = row("se", "E2E limit",
        "Limit (SLO) on the time from arrival to last token, in milliseconds; empty for none.")
        .at(Requests, 40).later()
        .number(held!(workload.slos.e2e_ms,
            real(1.0, 100_000_000.0, Decades { low: 2, high: 6 }).unit("ms").optional())),
    SloPercentile = row("sq", "Limit percentile",
        "Percentile of TTFT, TPOT and E2E that each limit applies to. Empty: the goodput share \
        decides.").at(Requests, 41).later()
        .number(held!(workload.slos.percentile,
            real(1.0, 100.0, Even { low: 50.0, high: 99.0, step: 1.0 }).unit("%").optional())),
    SloShare = row("so", "Goodput share",
        "Share of requests that must meet all limits; if empty, 0.99, or none with a percentile.")
        .at(Requests, 42).later()
        .number(held!(workload.slos.share,
            real(0.01, 1.0, Even { low: 0.5, high: 1.0, step: 0.01 }).unit("of requests").optional())),
    TokenBudget = row("tb", "Token budget", "Tokens that one engine step may process, on each rank of attention DP.").at(Engine, 1)
        .number(held!(overrides.token_budget,
            whole(1.0, 1_048_576.0, BUDGETS).unit("per step").or(|scheduler, gpu, own| scheduler.limits_on(gpu, own.usage()).0.0))),
    MaxSeqs = row("ms", "Max sequences", "Sequences the engine runs at once, on each rank of attention DP.").at(Engine, 2)
        .number(held!(overrides.max_seqs,
            whole(1.0, 65_536.0, SIZES).unit("at most").or(|scheduler, gpu, own| scheduler.limits_on(gpu, own.usage()).1.0))),
    MemoryShare = row("mem", "Memory share", "Fraction of GPU memory the engine may use.").at(Engine, 3)
        .number(held!(overrides.memory_share,
            real(0.1, 0.98, Even { low: 0.3, high: 0.98, step: 0.01 }).unit("of the GPU")
                .or(|scheduler, gpu, own| own.memory_share(scheduler, gpu)))),
    LargestGraph = row("cg", "Largest CUDA graph", "Largest decode step that replays a CUDA graph, on each rank of attention DP, in \
        sequences (vLLM: tokens, drafted ones too). Larger ones are launched kernel by kernel; with 0, all are.").at(Engine, 4).later()
        .number(held!(overrides.largest_graph, whole(0.0, 65_536.0, SIZES).unit("at most")
            .or(|scheduler, gpu, own| own.decode_graph(scheduler, gpu).map(f64::from)))),
    Sustained = row("clk", "Sustained clock", "Fraction of the boost clock the GPU sustains under load.").at(Rates, 0)
        .number(held!(overrides.sustained,
            real(0.3, 1.0, Even { low: 0.5, high: 1.0, step: 0.01 }).unit("of boost")
                .or(|_, gpu, _| gpu.sustained_clock.0))),
    PowerCap = row("cap", "Power cap",
        "Power cap per GPU in watts. Below the GPU's own limit, compute-bound kernels slow down; at low caps, memory-bound ones too.")
        .at(Rates, 1).later()
        .number(held!(overrides.power_cap,
            real(30.0, 5000.0, Even { low: 100.0, high: 1400.0, step: 10.0 }).unit("W").or(|_, gpu, _| gpu.power_w.0))),
    PowerOverhead = row("pue", "Power overhead",
        "Total power, with hosts, network and cooling, over GPU power; 1 counts the GPUs alone.")
        .at(Rates, 2).later()
        .number(held!(overrides.power_overhead,
            real(1.0, 5.0, Even { low: 1.0, high: 2.0, step: 0.05 }).unit("of the GPUs").or(|_, _, _| Some(1.0)))),
    Price = row("usd", "Price", "US dollars per GPU-hour.").at(Rates, 3)
        .number(held!(overrides.price,
            real(0.0, 10_000.0, Even { low: 0.1, high: 20.0, step: 0.1 }).unit("$ / GPU-h")
                .or(|_, gpu, _| gpu.dollars_per_hour.0))),
    PrefillPrice = row("pusd", "Prefill price",
        "US dollars per GPU-hour of the prefill workers, if they are on another GPU; the catalog's if left out.")
        .at(Rates, 4).later().when(has_own_prefill_gpu)
        .number(held!(prefill.price,
            real(0.0, 10_000.0, Even { low: 0.1, high: 20.0, step: 0.1 }).unit("$ / GPU-h").optional())),
    Sms = row("hsm", "SMs", "Streaming multiprocessors of the GPU, or its compute units.").at(Hardware, 0).later()
        .number(held!(spec.sms, whole(1.0, 10_000.0, Quarters { low: 16, high: 1024 }).unit("SMs").or(|_, gpu, _| gpu.sms.0))),
    ClockMhz = row("hck", "Boost clock", "Clock at which the peak rates are quoted, in MHz.").at(Hardware, 1).later()
        .number(held!(spec.clock_mhz,
            real(100.0, 20_000.0, Even { low: 500.0, high: 4000.0, step: 50.0 }).unit("MHz").or(|_, gpu, _| gpu.clock_mhz.0))),
    Bf16Tflops = peak!(2, "hbf", "BF16", Bf16, bf16_tflops, "TFLOP/s"),
    Fp8Tflops = peak!(3, "hf8", "FP8", Fp8, fp8_tflops, "TFLOP/s"),
    Fp4Tflops = peak!(4, "hf4", "FP4", Nvfp4, fp4_tflops, "TFLOP/s"),
    Int8Tflops = peak!(5, "hi8", "INT8", W8a8, int8_tflops, "TOP/s"),
    MemoryGib = row("hmg", "GPU memory", "Device memory of a GPU, in GiB.").at(Hardware, 6).later()
        .number(held!(spec.memory_gib,
            real(1.0, 100_000.0, Quarters { low: 8, high: 2048 }).unit("GiB")
                .or(|_, gpu, _| gpu.memory_bytes.0.map(|bytes| bytes / GIB)))),
    Bandwidth = row("hbw", "Memory bandwidth", "Peak bandwidth of the device memory, in GB/s.").at(Hardware, 7).later()
        .number(held!(spec.bandwidth,
            real(1.0, 1_000_000.0, Quarters { low: 128, high: 65_536 }).unit("GB/s").or(|_, gpu, _| gpu.memory_gb_per_s.0))),
    L2Mib = row("hl2", "L2 cache", "Size of the L2 cache, in MiB.").at(Hardware, 8).later()
        .number(held!(spec.l2_mib,
            real(0.1, 100_000.0, Quarters { low: 4, high: 1024 }).unit("MiB").or(|_, gpu, _| gpu.l2_bytes.0.map(|bytes| bytes / MIB)))),
    L2Bandwidth = row("hlb", "L2 bandwidth", "Read bandwidth of the L2 cache, in GB/s.").at(Hardware, 9).later()
        .number(held!(spec.l2_bandwidth,
            real(1.0, 10_000_000.0, Quarters { low: 512, high: 131_072 }).unit("GB/s").or(|_, gpu, _| gpu.l2_gb_per_s.0))),
    LinkRate = row("hln", "GPU link", "Bandwidth from a GPU to all others in its node combined, in GB/s per direction.")
        .at(Hardware, 10).later().number(held!(spec.link, PER_LINK.or(|_, gpu, _| gpu.link.gb_per_s.0))),
    NetworkRate = row("hnw", "Network", "Bandwidth of a GPU's network port between nodes, in GB/s per direction.")
        .at(Hardware, 11).later().number(held!(spec.network, PER_LINK.or(|_, gpu, _| gpu.link.network_gb_per_s.0))),
    PowerLimit = row("hpw", "Power limit", "Power limit of a GPU's board, in watts. Clocks do not change with it: set them too.")
        .at(Hardware, 12).later()
        .number(held!(spec.power_w,
            real(1.0, 20_000.0, Even { low: 50.0, high: 3000.0, step: 50.0 }).unit("W").or(|_, gpu, _| gpu.power_w.0))),
    PrefillWorkers = row("pw", "Prefill workers",
        "Workers that only prefill and send the KV cache to the replicas, which then only decode (disaggregated \
        serving); 0: each replica does both.").at(Layout, 10).later()
        .number(held!(prefill.workers, whole(0.0, 1_000.0, Even { low: 0.0, high: 16.0, step: 1.0 }).unit("workers"))),
    PrefillGpu = row("pg", "Prefill GPU",
        "GPU of the prefill workers, by catalog id or name; the replicas' if left out.")
        .later().text(text!(Id, values::gpu, Some(scenario.prefill.gpu), String::clone)),
    PrefillTp = row("ptp", "Prefill TP", "GPUs each layer of a prefill worker is split over.").at(Layout, 11).later()
        .when(Scenario::has_pools).number(held!(prefill.parallel.tp, DEGREE.unit("GPUs").power_of_two())),
    PrefillPp = row("ppp", "Prefill PP", "Pipeline stages of a prefill worker.").at(Layout, 12).later()
        .when(Scenario::has_pools).number(held!(prefill.parallel.pp, DEGREE.unit("stages"))),
    PrefillDp = row("pdp", "Prefill attention DP",
        "Groups in a prefill worker that run attention for their own requests and share the experts.")
        .at(Layout, 13).later()
        .when(has_expert_pools).number(held!(prefill.parallel.dp, DEGREE.unit("groups"))),
    PrefillEp = row("pep", "Prefill EP", "GPUs of a prefill worker that the experts are distributed over.")
        .at(Layout, 14).later()
        .when(has_expert_pools).number(held!(prefill.parallel.ep, EXPERT_RANKS)),
    PrefillBudget = row("ptb", "Prefill token budget",
        "Tokens that one prefill worker's step may process; the replicas' if left out.")
        .at(Layout, 15).later().when(Scenario::has_pools)
        .number(held!(prefill.token_budget, whole(1.0, 1_048_576.0, BUDGETS).unit("per step").optional())),
    SendRate = row("kvr", "KV transfer rate",
        "GB/s at which each GPU of a prefill worker sends KV cache. If left out: the rate of the link if it joins \
        all workers, else of the GPU's NIC.").at(Layout, 16).later().when(Scenario::has_pools)
        .number(held!(prefill.send_gb_per_s,
            real(0.001, 100_000.0, Decades { low: 0, high: 3 }).unit("GB/s per GPU").optional())),
    SendTime = row("kvt", "KV transfer latency",
        "Fixed time of a KV cache transfer, in microseconds. If left out: the handover time measured under Dynamo; \
        SGLang's own router takes next to nothing.")
        .at(Layout, 17).later().when(Scenario::has_pools)
        .number(held!(prefill.send_us, real(0.0, 10_000_000.0, Decades { low: 0, high: 5 }).unit("µs").optional())),
    Data = row("d", "Release", "Release of data and weights the link was made with.")
        .aside().text(text!(Id, values::id, Some(data_release), String::clone)),
    Trace = named("Trace"),
    /// Inputs of a search, here to Plans: not part of the scenario, but issues refer to them.
    Vary = row("f", "Find",
        "Opens the page in Find, with what the search may vary: `all`, or names and values as in a plan request \
        (plan.md). The search then chooses GPUs, engine, formats and layout.")
        .aside().text(text!(Wishes, SearchSpace::decode, Some(find), SearchSpace::encode)),
    Owned = named("GPUs owned"),
    BudgetGpus = named("Max GPUs"),
    BudgetDollars = named("Max $ per hour"),
    Prices = named("Prices"),
    Most = named("Largest load"),
    Day = named("Daily load"),
    Plans = named("Plans"),
    Measured = row("me", "Measurement",
        "Measured results to compare with: means, and medians where known, in ms or per second.").aside()
        .text(text!(Measured, values::measured, scenario.measured or none, values::show_measured)),
    Compared = row("vs", "Comparison", "Up to three configurations to compare with.").aside()
        .text(text!(Links, compared::read, compared or none, compared::encode)),
    Runs = row("run", "Your runs",
        "Measured runs of your own, up to 100, that predictions are calibrated on: configurations with their \
         measurements.").aside().text(text!(Links, compared::read_runs, runs or none, compared::encode)),
    ; also row("x", "Custom model", "Your own model, instead of one from the catalog.").of(Field::Model).text(LinkText {
        kind: InputKind::Packed,
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
