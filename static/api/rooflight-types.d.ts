// Written from the Rust types: `ROOFLIGHT_WRITE=1 cargo test --lib api` renews it.
// Times are in seconds, data in bytes, rates per second, shares between 0 and 1.

export type Arch = "volta" | "turing" | "ampere" | "ada" | "hopper" | "blackwell" | "blackwell_rtx" | "cdna3" | "cdna4" | "xe2";

export type Attention = {
  "gqa": Gqa
} | {
  "mla": Mla
} | {
  "delta": Delta
} | {
  "mamba": Mamba
} | {
  "compressed": Compressed
};

/** The interval that 80 % of measurements are expected in. */
export type Band = {
  low: number;
  high: number;
  /** Share of the variance that would remain after measuring this exact configuration. */
  noise_share: number;
};

/** 80 % bands of a run: seconds, and output tokens per second. */
export type Bands = {
  ttft: Spread;
  tpot: Spread | null;
  e2e: Spread;
  output_per_s: Band | null;
  /** Bands of the figures that each limit applies to. */
  limits: Array<Band | null>;
};

/** The efficiencies behind the numbers. */
export type Basis = {
  "kind": "roofline"
} | {
  "kind": "learned";
  release: string;
};

/** The part of the model a call belongs to, as a profile groups them. */
export type Block = "embedding" | "attention" | "recurrence" | "mlp" | "experts" | "head" | "drafting" | "communication" | "encoder";

/** `count` identical decoder blocks, anywhere in the model. */
export type Blocks = {
  count: number;
  /** `None` in MLP-only blocks. */
  attention?: Attention;
  /** `None` in mixer-only blocks. */
  ffn?: Ffn;
  norms: Norms;
  /**
   * Residual streams that the block mixes before and after each part (hyper-connections); `None` for a single
   * stream.
   */
  streams?: number;
};

/** The limit missed by most, or a load that is not kept up with. */
export type BrokenLimit = {
  /** `slo_ttft`, `slo_tpot`, `slo_e2e` or `slo_share`; the load's field if more arrives than is served. */
  field: Field;
  /** The result, in seconds; a share of requests for `slo_share`, requests served per second for a load. */
  at: number;
  /** The limit, in the same unit. */
  limit: number;
  text: string;
};

/** Data, in bytes. */
export type Bytes = number;

/** Bandwidth, in bytes per second (decimal: 1 GB/s is 1e9). */
export type BytesPerSecond = number;

/** The basis of a calibrated run. */
export type Calibrated = {
  /** Factors on step times. */
  factors: Factors;
  bands: Bands;
  support: Support;
  /** The run of the physics alone. */
  physics: Run;
  /** The prediction without the visitor's own runs, if there are any. */
  without_own: Run | null;
};

/**
 * Commands for one replica. Flags are those of the engine version in the catalog; every setting is explicit, so
 * other defaults change nothing.
 */
export type Commands = {
  launch: string;
  /** `vllm bench serve`, whose definitions of TTFT and TPOT we share; it works with all three engines. */
  bench: string;
};

/**
 * Attention to the newest tokens and, before them, to compressed entries of `ratio` tokens each.
 * All heads share one entry, which is both key and value. Facts follow `DeepseekV4Attention` in Hugging Face
 * transformers: the output is projected in two steps, the first in groups of heads.
 */
export type Compressed = {
  heads: number;
  /** Width of a query and of an entry. */
  head_dim: number;
  /** The part of it with rotary embedding, which stays in 16 bits in the cache. */
  rope: number;
  /** Width of the compressed queries. */
  query_rank: number;
  /** Newest tokens attended to uncompressed, a query's own included. */
  window: number;
  /** Tokens per compressed entry; `None` in window-only layers. */
  ratio?: number;
  /** Selects entries in layers whose entries overlap; other layers attend to all. */
  indexer?: Indexer;
  /** Groups of heads projected separately. */
  groups: number;
  /** Width that each group is projected to. */
  output_rank: number;
};

/** A scenario. Defaults are in docs/links.md. */
export type Config = {
  /** Link schema version; 1 if left out. */
  version?: number;
  /** Model, by catalog id. */
  model?: string | Model;
  /** GPU, by catalog id or name. */
  gpu?: string;
  /** Copies of the whole deployment that share the load. In links and JSON, the total number of GPUs instead, a multiple of TP × DP × PP. */
  gpus?: number;
  /** GPUs each layer is split over (TP). */
  tp?: number;
  /** Pipeline stages the layers are split into (PP). */
  pp?: number;
  /** Groups of TP GPUs that run attention for their own requests and share the experts (DP). */
  dp?: number;
  /** GPUs of a stage (TP × DP) that the experts are distributed over (EP); each expert is sharded over the remaining TP × DP / EP GPUs. */
  ep?: number;
  /** Serving engine, by catalog id. */
  engine?: string;
  /** Format of the linear layers' weights; as published if left out. */
  weights?: Dtype;
  /** Format of the KV cache. */
  kv?: Dtype;
  /** Tokens per prompt (ISL); for a static batch also a list, one length per prompt. */
  isl?: number | Array<number>;
  /** Tokens generated per prompt (OSL). */
  osl?: number;
  /** Fraction by which prompt and output lengths vary uniformly, up and down. */
  spread?: number;
  /** Standard deviation of the logarithm of log-normal lengths, with the same means. */
  log_spread?: number;
  /** A named distribution with these means. sharegpt: the prompts and outputs that `vllm bench serve` samples from ShareGPT, scaled. */
  shape?: string;
  /** Weighted pairs of prompt and output length to draw from, instead of fixed lengths. */
  histogram?: string;
  /** Fraction of each prompt found in the prefix cache. KV memory is counted as if each running request had its own copy. */
  cached_share?: number;
  /** Speculative decoding: draft tokens per step and sequence. */
  drafted?: number;
  /** Speculative decoding: draft tokens accepted per step, on average. */
  accepted?: number;
  /** Images in each prompt. The input length includes their tokens. */
  images?: number;
  /** Prompt tokens per image. The default is the model's fixed number if it has one (Gemma 3: 256), and otherwise 1,024, a typical value. */
  image_tokens?: number;
  /** Clients that each send their next request when the previous one ends. */
  concurrency?: number;
  /** Requests per second, arriving independently (Poisson) however many are waiting. */
  rate?: number;
  /** Requests per second at equal gaps, however many are waiting. */
  constant_rate?: number;
  /** Shape of the gamma distribution of arrival gaps: 1 is Poisson, lower is burstier, higher more regular. */
  burstiness?: number;
  /** Prompts all sent to a server at once (`vllm bench serve` without a rate). */
  burst?: number;
  /** Prompts queued in the engine, without a server, for maximum throughput (`vllm bench throughput`). */
  offline?: number;
  /** Prompts in one static batch: prefilled together and decoded together to the end. */
  batch?: number;
  /** Concurrent users, each starting a new session when the previous one ends. */
  sessions?: number;
  /** Sessions per second, starting independently (Poisson) however many are open. */
  session_rate?: number;
  /** Most requests in flight at once (`--max-concurrency` of `vllm bench serve`); empty for no limit. */
  max_in_flight?: number;
  /** Turns per session. The first prompt has the input length; each later one is the whole conversation so far plus a message. */
  turns?: number;
  /** Tokens the user adds in each turn after the first. */
  message?: number;
  /** Seconds between an answer and the user's next message. */
  think_time?: number;
  /** Fraction of a session's history that is served from the prefix cache while still cached; 0 turns this off. */
  history_cached?: number;
  /** Host memory per GPU for a copy of the sessions' KV cache, read back once the GPU has dropped it; 0 for none. */
  host_cache?: number;
  /** Seconds over which clients start, evenly spaced; empty for all at once. */
  ramp?: number;
  /** Seconds between client starts, instead of a ramp; empty for all at once. */
  stagger?: number;
  /** Requests in the simulated run (`--num-prompts`), in whole sessions. Empty: ten per client but at least 100, or 1,000 at a rate, and more if ramp-up and drain would otherwise weigh too much. */
  requests?: number;
  /** TTFT limit (SLO), in milliseconds; empty for none. */
  slo_ttft?: number;
  /** TPOT limit (SLO), in milliseconds; empty for none. */
  slo_tpot?: number;
  /** Limit (SLO) on the time from arrival to last token, in milliseconds; empty for none. */
  slo_e2e?: number;
  /** Percentile of TTFT, TPOT and E2E that each limit applies to. Empty: the goodput share decides. */
  slo_percentile?: number;
  /** Share of requests that must meet all limits; if empty, 0.99, or none with a percentile. */
  slo_share?: number;
  /** Tokens that one engine step may process, on each rank of attention DP. */
  token_budget?: number;
  /** Sequences the engine runs at once, on each rank of attention DP. */
  max_seqs?: number;
  /** Fraction of GPU memory the engine may use. */
  memory_share?: number;
  /** Largest decode step that replays a CUDA graph, on each rank of attention DP, in sequences (vLLM: tokens, drafted ones too). Larger ones are launched kernel by kernel; with 0, all are. */
  largest_graph?: number;
  /** Fraction of the boost clock the GPU sustains under load. */
  sustained?: number;
  /** Power cap per GPU in watts. Below the GPU's own limit, compute-bound kernels slow down; at low caps, memory-bound ones too. */
  power_cap?: number;
  /** Total power, with hosts, network and cooling, over GPU power; 1 counts the GPUs alone. */
  power_overhead?: number;
  /** US dollars per GPU-hour. */
  price?: number;
  /** US dollars per GPU-hour of the prefill workers, if they are on another GPU; the catalog's if left out. */
  prefill_price?: number;
  /** Streaming multiprocessors of the GPU, or its compute units. */
  sms?: number;
  /** Clock at which the peak rates are quoted, in MHz. */
  clock_mhz?: number;
  /** Dense BF16 peak of the tensor cores, in TFLOP/s; follows SMs and clock if empty. */
  bf16_tflops?: number;
  /** Dense FP8 peak of the tensor cores, in TFLOP/s; follows SMs and clock if empty. */
  fp8_tflops?: number;
  /** Dense FP4 peak of the tensor cores, in TFLOP/s; follows SMs and clock if empty. */
  fp4_tflops?: number;
  /** Dense INT8 peak of the tensor cores, in TOP/s; follows SMs and clock if empty. */
  int8_tflops?: number;
  /** Device memory of a GPU, in GiB. */
  memory_gib?: number;
  /** Peak bandwidth of the device memory, in GB/s. */
  bandwidth?: number;
  /** Size of the L2 cache, in MiB. */
  l2_mib?: number;
  /** Read bandwidth of the L2 cache, in GB/s. */
  l2_bandwidth?: number;
  /** Bandwidth from a GPU to all others in its node combined, in GB/s per direction. */
  link_rate?: number;
  /** Bandwidth of a GPU's network port between nodes, in GB/s per direction. */
  network_rate?: number;
  /** Power limit of a GPU's board, in watts. Clocks do not change with it: set them too. */
  power_limit?: number;
  /** Workers that only prefill and send the KV cache to the replicas, which then only decode (disaggregated serving); 0: each replica does both. */
  prefill_workers?: number;
  /** GPU of the prefill workers, by catalog id or name; the replicas' if left out. */
  prefill_gpu?: string;
  /** GPUs each layer of a prefill worker is split over. */
  prefill_tp?: number;
  /** Pipeline stages of a prefill worker. */
  prefill_pp?: number;
  /** Groups in a prefill worker that run attention for their own requests and share the experts. */
  prefill_dp?: number;
  /** GPUs of a prefill worker that the experts are distributed over. */
  prefill_ep?: number;
  /** Tokens that one prefill worker's step may process; the replicas' if left out. */
  prefill_budget?: number;
  /** GB/s at which each GPU of a prefill worker sends KV cache. If left out: the rate of the link if it joins all workers, else of the GPU's NIC. */
  send_rate?: number;
  /** Fixed time of a KV cache transfer, in microseconds. If left out: the handover time measured under Dynamo; SGLang's own router takes next to nothing. */
  send_time?: number;
  /** Release of data and weights the link was made with. */
  data?: string;
  /** Measured results to compare with: means, and medians where known, in ms or per second. */
  measured?: string | Record<string, number>;
};

/** A curve over loads. */
export type Curve = {
  points: Array<Point>;
  /**
   * The largest load that meets the SLOs, if there are any: clients and users start one after another, where the points'
   * start at once.
   */
  largest: number | null;
  /** The largest load that meets the SLOs with the configuration's start, as at the points: all at once by default. */
  largest_as_stated: number | null;
};

/** The contents of a link. */
export type Decoded = {
  /** Every field with a value, including defaults, which also replace what could not be read. */
  config: Config;
  issues: Array<Issue>;
};

/** A gated delta rule after a short convolution: a constant-size state instead of keys and values. */
export type Delta = {
  key_heads: number;
  value_heads: number;
  key_dim: number;
  value_dim: number;
  /** Kernel width of the convolution in tokens, the newest included. */
  taps: number;
  gates: Gates;
  /** The output gate is projected directly, not through a bottleneck (Kimi K3). */
  full_gate?: boolean;
  /** The checkpoint joins the projections of queries, keys, values and gates (Qwen3-Next). */
  joined?: boolean;
};

/** An MLP, gated by default: `down(silu(gate(x)) * up(x))`. */
export type Dense = {
  intermediate: number;
  /** `down(relu(up(x))^2)`: no gate projection. */
  ungated?: boolean;
};

/** A predicted number, without the visitor's own runs, and its measurement. Times in seconds, rates per second. */
export type Deviation = {
  /** `ttft`, `tpot`, `e2e`, `throughput` (output tokens), `requests` or `total` (prompt and output tokens). */
  name: string;
  predicted: number;
  /** The measured mean, or the median if only that is known. */
  measured: number;
  median: number | null;
  /** (predicted - measured) / measured. */
  difference: number;
};

/** Money, in US dollars. */
export type Dollars = number;

/** A number format as serving systems name them. */
export type Dtype = "bf16" | "fp8" | "fp8_block" | "nvfp4" | "mxfp4" | "mxfp4_mxfp8" | "int8" | "int4" | "w8a8";

/** The link to a configuration. */
export type Encoded = {
  /** The fragment, without `#`; empty if the configuration could not be read. */
  link: string;
  issues: Array<Issue>;
};

export type EngineFacts = {
  id: string;
  name: string;
  version: string;
  /** Architectures with known default kernels. */
  archs: Array<Arch>;
  /** Defaults on GPUs with much memory: tokens per step, sequences at once, and the memory share, if it does not follow from the rest. */
  token_budget: number | null;
  max_seqs: number | null;
  memory_share: number | null;
};

/** What the times of steps, and of waiting, are multiplied by. */
export type Factors = {
  /** What prompts add to a step. */
  prefill: number;
  /** A step that only decodes. */
  decode: number;
  /** TTFT, beyond the effect of longer steps. */
  wait: number;
};

/** A failure that no other input would avoid. */
export type Failure = {
  kind: FailureKind;
  text: string;
};

export type FailureKind = "unreachable" | "damaged" | "no_models" | "models" | "defect";

export type Ffn = {
  "dense": Dense
} | {
  "moe": Moe
};

/** An input of the page, a key of a link, a field of the JSON form: one name for all three. */
export type Field = "link" | "version" | "model" | "layers" | "hidden" | "heads" | "kv_heads" | "head_dim" | "window" | "latent" | "mlp" | "experts" | "active_experts" | "expert_width" | "shared_width" | "vocab" | "gpu" | "gpus" | "tp" | "pp" | "dp" | "ep" | "engine" | "weights" | "kv" | "isl" | "osl" | "spread" | "log_spread" | "shape" | "histogram" | "cached_share" | "drafted" | "accepted" | "images" | "image_tokens" | "load" | "concurrency" | "rate" | "constant_rate" | "burstiness" | "burst" | "offline" | "batch" | "sessions" | "session_rate" | "max_in_flight" | "turns" | "message" | "think_time" | "history_cached" | "host_cache" | "ramp" | "stagger" | "requests" | "slo_ttft" | "slo_tpot" | "slo_e2e" | "slo_percentile" | "slo_share" | "token_budget" | "max_seqs" | "memory_share" | "largest_graph" | "sustained" | "power_cap" | "power_overhead" | "price" | "prefill_price" | "sms" | "clock_mhz" | "bf16_tflops" | "fp8_tflops" | "fp4_tflops" | "int8_tflops" | "memory_gib" | "bandwidth" | "l2_mib" | "l2_bandwidth" | "link_rate" | "network_rate" | "power_limit" | "prefill_workers" | "prefill_gpu" | "prefill_tp" | "prefill_pp" | "prefill_dp" | "prefill_ep" | "prefill_budget" | "send_rate" | "send_time" | "data" | "trace" | "vary" | "owned" | "budget_gpus" | "budget_dollars" | "prices" | "most" | "day" | "plans" | "measured" | "compared" | "runs";

/** Work, in floating-point operations (a multiply-add is two). */
export type Flops = number;

/** Rate of work, in floating-point operations per second. */
export type FlopsPerSecond = number;

/**
 * Formats of a checkpoint's linear layers, by class. Embedding, head, router, norms and convolutions stay in 16
 * bits.
 */
export type Formats = {
  /** The format the checkpoint is named by, and that of the experts. */
  weights: Dtype;
  /** Projections of attention and its alternatives. */
  attention: Dtype;
  /** Dense MLPs. */
  mlp: Dtype;
  /** Shared experts. */
  shared: Dtype;
};

/** How a delta rule's decay is gated. */
export type Gates = "per_head" | "per_channel";

/** `None` if no figure is published. */
export type GpuFacts = {
  id: string;
  name: string;
  arch: Arch;
  memory: Bytes | null;
  /** Whether device memory is the host's memory too. */
  shares_memory: boolean;
  bandwidth: BytesPerSecond | null;
  /** Dense tensor-core peaks at the boost clock, by operand format. */
  peak_bf16: FlopsPerSecond | null;
  peak_fp8: FlopsPerSecond | null;
  peak_fp4: FlopsPerSecond | null;
  peak_int8: FlopsPerSecond | null;
  /** The fastest link within the node, its bandwidth per direction, and how many GPUs it joins. */
  link: LinkKind;
  /** Generation and lanes, where it is PCIe. */
  pcie: [number, number] | null;
  link_bandwidth: BytesPerSecond | null;
  link_domain: number;
  /** Bandwidth of a GPU's network port between nodes, per direction. */
  network_bandwidth: BytesPerSecond | null;
  power: Watts | null;
  /** An on-demand list price per hour. */
  price: Dollars | null;
};

/** Grouped-query attention; MHA where `kv_heads == heads`. */
export type Gqa = {
  heads: number;
  kv_heads: number;
  /** Width of a query or key. */
  head_dim: number;
  /** RMSNorm on Q and K (Qwen3). */
  qk_norm: boolean;
  /** Bias on the QKV projection (Qwen2). */
  qkv_bias: boolean;
  /** Width of a value, if different from that of a key. */
  value_dim?: number;
  /** Sliding window: keys visible to a query, its own included; `None` if it sees all. */
  window?: number;
  traits?: Array<GqaTrait>;
  /** Queries attend only to selected blocks of keys. */
  blocks?: KeyBlocks;
};

export type GqaTrait = "sinks" | "output_gate" | "norm_over_heads" | "values_from_keys" | "strided" | "cross";

/**
 * Headline numbers of the simulated run, or of a static batch. TTFT, TPOT and E2E are those of `vllm bench serve`:
 * means over requests.
 */
export type Headline = {
  ttft: Seconds;
  /** `None` for OSL 1. */
  tpot: Seconds | null;
  e2e: Seconds;
  /** Requests per second, all replicas. */
  requests_per_s: number;
  /** Output tokens per second, all replicas. */
  output_per_s: number;
  /** Prompt and output tokens per second, all replicas. */
  total_per_s: number;
  output_per_s_per_gpu: number;
  /** Output tokens per second while the load lasts, which cost is for: [`Run::sustained_per_s`]. */
  sustained_output_per_s: number;
  /** 1 / TPOT. */
  output_per_s_per_user: number | null;
  /** Requests in prefill or decode, per replica, averaged over the run. */
  running: number;
  /** Requests queueing for a slot, per replica, averaged over the run. */
  waiting: number;
  dollars_per_million: Dollars | null;
  /** Absent if the GPU's power is unknown. */
  power: Power | null;
};

/** The lightning indexer of sparse attention. */
export type Indexer = {
  heads: number;
  head_dim: number;
  /** Tokens each query attends to at most. */
  topk: number;
  /** This layer reuses the selection of an earlier one. */
  borrowed?: boolean;
};

/** One finding: the field and what is wrong with it. */
export type Issue = {
  field: Field;
  severity: Severity;
  text: string;
  /** The text that could not be read: the page keeps it in the field. */
  given?: string;
  /** The id of the GPU that it is about, of a field with a value for each GPU. */
  of?: string;
};

/** One kernel of a pass. Times are per launch. */
export type KernelLine = {
  block: Block;
  name: string;
  /** The kernel's shape in words: `4096 × 6144 × 4096`. */
  shape: string;
  /** Launches in the pass. */
  count: number;
  flops: Flops;
  /** Every operand read once and every result written once, from and to memory or the L2 cache. */
  bytes: Bytes;
  /** Bytes that have to come from or go to device memory: weights, cached KV, and activations beyond the L2 cache. */
  traffic: Bytes;
  /** FLOP per byte of `traffic`; `None` if nothing is multiplied. */
  intensity: number | null;
  /** The time at the textbook roofline. */
  roofline: Seconds;
  /** Roofline time with tile and wave quantisation; the roofline alone where the kernel must have other tiles than counted. */
  ceiling: Seconds;
  time: Seconds;
  /** Fraction of the ideal reached: `roofline / time`, in (0, 1]. */
  efficiency: number;
  /** Share of the pass's time, over all launches. */
  share: number;
  limit: Resource;
  /** Whether the memory that limits it is the L2 cache, which the textbook roofline does not know. */
  in_l2: boolean;
  provenance: Provenance;
  /** The interval that 80 % of measurements of such a call lie in; `None` without held-out data. */
  bounds: [Seconds, Seconds] | null;
  /** Whether the call is outside its model's training range. */
  outside: boolean;
  /** Tiles and waves as counted, unless it is faster than they allow. */
  schedule: Schedule | null;
  /** The dtype of the dense roof in the chart. */
  math: Dtype | null;
};

/** Keys in blocks that an indexer selects separately for each KV head. */
export type KeyBlocks = {
  /** Index queries: one per KV head, all over one index key per token. */
  heads: number;
  head_dim: number;
  /** Keys per block. */
  size: number;
  /** Blocks each query attends to at most, its own included. */
  topk: number;
};

/** A limit and its result. */
export type LimitResult = {
  /** `slo_ttft`, `slo_tpot` or `slo_e2e`. */
  field: Field;
  /** Seconds. */
  limit: number;
  /** Share of requests within it. */
  share: number;
  /**
   * Seconds that the required share of requests stays below: the quantile as in [`Stats`], but on the same side of
   * the limit as the share.
   */
  at: number;
};

export type LinkKind = "nvlink" | "pcie" | "xgmi";

/** A Mamba mixer. */
export type Mamba = {
  heads: number;
  head_dim: number;
  /** Groups of heads that share their input and output matrices. */
  groups: number;
  /** State per channel. */
  state: number;
  /** Tokens that the convolution covers, the newest included; 1 means no convolution. */
  taps: number;
  /**
   * Mamba-1 only: each channel is a head. Its step is computed from the convolution's output through a bottleneck of this
   * width, as are the input and output matrices.
   */
  rank?: number;
};

/** Device memory of the fullest GPU, by part. */
export type Memory = {
  total: Bytes;
  /** Usable by the engine. */
  usable: Bytes;
  weights: Bytes;
  activations: Bytes;
  /** CUDA context, graphs, communication buffers. */
  reserve: Bytes;
  /** KV cache of the requests that run at this load. Exceeds the room only if it does not fit. */
  kv_needed: Bytes;
  /** Room for the KV cache. */
  kv_room: Bytes;
  /** Excess of weights, activations and reserve over what is usable. */
  missing: Bytes;
  /** Error of the room: for half of logged start-ups it was smaller. */
  margin: Bytes;
  /**
   * KV bytes per token on one GPU, averaged over the longest sequence: window layers cache only the window,
   * recurrences a state.
   */
  kv_per_token: Bytes;
  /** Tokens that fit in one replica's cache. */
  kv_tokens: number;
  /** Full-length sequences that fit at once. */
  max_concurrency: number;
};

/** Latencies in seconds, throughput per second over the duration; infinite if steps take no time. */
export type Metrics = {
  /** Seconds from the first arrival to the last token. */
  duration: number;
  ttft: Stats;
  /** TPOT over requests with more than one output token, one value each; `None` without any. */
  tpot: Stats | null;
  /** Inter-token latency (ITL) over all gaps between outputs of a sequence. */
  itl: Stats | null;
  e2e: Stats;
  requests_per_s: number;
  output_per_s: number;
  /** Prompt and output tokens. */
  total_per_s: number;
  /** Time-averaged requests in the system; where replicas share a load, in one of them, as the next two. */
  in_flight: number;
  /** Time-averaged requests waiting for a slot. */
  waiting: number;
  /** Time-averaged requests that have one. The rest are on their way to the scheduler, or from it. */
  running: number;
};

/** Multi-head latent attention (DeepSeek). */
export type Mla = {
  heads: number;
  /** Width of the compressed queries; `None` if Q is projected directly. */
  query_rank?: number;
  /** Width of the latent vector cached per token for keys and values. */
  latent: number;
  /** Width of the part of queries and keys with rotary embedding; its key is shared by all heads. */
  rope: number;
  /** Width of the part of queries and keys without rotary embedding. */
  nope: number;
  value: number;
  /** Sparse: attends to the tokens an indexer selects. */
  indexer?: Indexer;
  /** The output is gated by a projection of its width. */
  gate?: boolean;
};

/** A decoder-only language model. */
export type Model = {
  /** Stable id, as used in links. */
  id: string;
  /** Organisation and name under which it is published. */
  name: string;
  hidden: number;
  vocab: number;
  /** Longest supported context, in tokens. */
  max_context: number;
  /** The LM head reuses the embedding's weights. */
  tied_embeddings: boolean;
  /** The format the published checkpoint is named by: that of the experts, or of all linear layers. */
  weights: Dtype;
  blocks: Array<Blocks>;
  /** Formats within checkpoints that deviate from the rule of [`Formats::usual`]. */
  checkpoints?: Array<Formats>;
  /** INT4 weights of the published checkpoint that share a scale, if fewer than 128. */
  int4_group?: number;
  /** Parts of the published model that are not counted (a vision encoder ...), one sentence each. */
  notes?: Array<string>;
  /** Approximations in the formats of the published checkpoint, one sentence each. */
  format_notes?: Array<string>;
  /** The published checkpoint has scales for an FP8 KV cache. */
  scaled_cache?: boolean;
  /** Multi-token prediction (MTP) layers, which can draft; `None` if there are none. */
  mtp?: number;
  /** Parameters of the vision encoder and its projector, which engines load beside the language model. */
  encoder?: number;
  /** The shape of that encoder, with which images have a time; `None` if only its size is known. */
  vision?: Vision;
  /** Rows of the learned position table; `None` if positions are rotary or biases. */
  positions?: number;
};

export type ModelFacts = {
  id: string;
  /** Organisation and name under which it is published. */
  name: string;
  parameters: number;
  /** Parameters used per token. */
  active_parameters: number;
  layers: number;
  /** Longest context, in tokens. */
  max_context: number;
  /** The format it is published in. */
  weights: Dtype;
  /** Parts that are not counted. */
  notes: Array<string>;
};

/** A mixture of experts: each token visits `topk` of them. */
export type Moe = {
  experts: number;
  topk: number;
  /** Width of one expert. */
  intermediate: number;
  /** Total width of the shared experts, which every token visits; `None` if there are none. */
  shared?: number;
  /** The shared experts' output is weighted by a one-column gate projection. */
  shared_gate?: boolean;
  /** No gate projection in any expert. */
  ungated?: boolean;
  /** Width that tokens are projected to before the routed experts, and back from after them. */
  latent?: number;
  /** Biases on the experts' projections. */
  bias?: boolean;
  /** The router is computed in FP32. */
  exact_router?: boolean;
  /** Width of a dense MLP parallel to the experts, whose output is added to theirs. */
  beside?: number;
};

/** The plan that misses by least. */
export type NearestPlan = {
  plan: Plan;
  /** The limit it misses; none if it meets all limits but exceeds the fleet. */
  broken: BrokenLimit | null;
  /** What it misses and by how much, in a sentence. */
  text: string;
};

/** Where a block applies norms. */
export type Norms = "pre" | "sandwich";

/** Options of a prediction; off by default. */
export type Options = {
  /** Uses ideal kernel times instead of learned efficiencies: needs no models. */
  roofline?: boolean;
  /** Also simulates other loads, and finds the largest that meets the SLOs: takes seconds. */
  sweep?: boolean;
  /**
   * Measured runs to calibrate on, in addition to the link's: links, objects with the inputs that differ from the
   * configuration and `measured`, or reports of benchmarks; or one text with such objects, reports or a CSV.
   */
  measured: Array<string | Config | object> | string;
  /**
   * The text of a `config.json`, optionally followed by `hf_quant_config.json`: its model replaces the
   * configuration's.
   */
  model_config?: string;
  /** A link that supplies what a launch command leaves open, such as GPU and load. */
  base?: string;
  /** The text of a trace (CSV or JSON Lines) to replay instead of the configuration's load and lengths. */
  trace?: string;
};

/** One engine step, broken down. */
export type PassReport = {
  phase: Phase;
  sequences: number;
  /** Dummy sequences that fill up a CUDA graph. */
  padding: number;
  /** New tokens of the step, padding included. */
  tokens: number;
  /** Mean tokens in the KV cache per sequence before the step. */
  past: number;
  time: Seconds;
  /** Host time not hidden behind kernels. */
  host: Seconds;
  /** Host time that runs beside the kernels: a step takes no less, however fast they are. */
  beside: Seconds;
  /** Mean power of one GPU, if known. */
  power: Watts | null;
  kernels: Array<KernelLine>;
  /** The resource that takes most time, and its share. */
  limit: Resource;
  limit_share: number;
  /** What limits the step, in one sentence. */
  sentence: string;
  /** Model FLOPs utilisation, against the dense peak of the dtype used. */
  mfu: number;
  /** Model bandwidth utilisation: touched weight and KV bytes over step time and peak bandwidth. */
  mbu: number;
};

export type Phase = "prefill" | "decode";

/** A configuration that serves the load; all figures are from its simulated run. */
export type Plan = {
  /** The fragment of a link to the plan. */
  link: string;
  /** The plan as a JSON scenario. */
  config: Config;
  /** Short name: `3 × B200, NVFP4, vLLM, TP 1`. */
  name: string;
  gpu: string;
  gpus: number;
  /** Only the decode replicas, if there are prefill workers. */
  replicas: number;
  /** For all GPUs. All figures in dollars are absent if no price is known. */
  dollars_per_hour: number | null;
  /** Basis of the price: on demand or reserved with the catalog's source, given, or own hardware. */
  price_from: string | null;
  /** With a spare replica, so that the limits hold while one is down (N+1). */
  dollars_per_hour_with_spare: number | null;
  /** What the fleet or the budget lacks for that spare replica; `None` if it has all of it. */
  spare_lacks: string | null;
  /** The whole cost over prompt tokens alone. */
  dollars_per_million_input: number | null;
  /** The whole cost over output tokens alone. */
  dollars_per_million_output: number | null;
  /** The cost over prompt and output tokens together. */
  dollars_per_million_total: number | null;
  /** Seconds from the start of a job to its last answer, if the load is one; and dollars for all GPUs meanwhile. */
  job_seconds: number | null;
  job_dollars: number | null;
  /** Seconds. */
  ttft: Stats;
  /** `None` with one output token. */
  tpot: Stats | null;
  e2e: Stats;
  /** All replicas together. */
  requests_per_s: number;
  output_per_s: number;
  total_per_s: number;
  /**
   * Output tokens per second while the load lasts, which cost is for; with a stated number of requests the rates above are of
   * the whole run, up to its last answer.
   */
  sustained_output_per_s: number;
  /** Watts and joules; `None` if the GPU's power is unknown. */
  power: Power | null;
  /** 80 % bands; `None` without calibration or while not yet known. */
  bands: Bands | null;
  /**
   * The probability that measurements meet every limit; `None` without limits, or while `bands` is not yet
   * known.
   */
  chance_within_limits: number | null;
  /** Every limit with the result at the required percentile. */
  limits: Array<LimitResult>;
  /** Share of requests that meet all limits; `None` without limits. */
  goodput_share: number | null;
  /**
   * Multiple of the load that these replicas serve before a limit breaks; `None` while not yet known, and for a job
   * without limits.
   */
  headroom: number | null;
  /** Whether `headroom` is a lower bound: more was not tried. */
  headroom_is_least: boolean;
  /** What breaks with one replica fewer; `None` if not simulated, or there is only one. */
  one_less: BrokenLimit | null;
  /** Why the plan ranks behind the first; `None` for the first. */
  drawback: string | null;
  /** Caveats: estimates, and what was not measured. */
  issues: Array<Issue>;
};

/** Ranked plans, and what is known about the rest. */
export type PlanAnswer = {
  /**
   * The best plans overall, then the best of each other GPU, ranked. Plans without a known price come last, by
   * number of GPUs.
   */
  plans: Array<Plan>;
  ranked_by: RankedBy;
  /** The closest plan, if none in the fleet meets the limits. */
  nearest: NearestPlan | null;
  /** GPUs without a plan, with the reason. */
  others: Array<WithoutPlan>;
  /** Where disaggregated serving was asked for: whether it pays, and if not, why. */
  pools: string | null;
  counts: PlanCounts;
  /** Problems with the request, and notes on all plans. */
  issues: Array<Issue>;
  /** Nothing is left to try. */
  finished: boolean;
};

/** How many layouts there are, and their outcomes. */
export type PlanCounts = {
  /** Layouts the request allows, not counting replicas. */
  layouts: number;
  /** Layouts still to be checked or simulated. */
  remaining: number;
  /** Refused by the checks: heads that do not divide, formats without kernels. */
  refused: number;
  too_large: number;
  /** Even ideal kernels miss the limits. */
  too_slow: number;
  /** Even the fewest replicas exceed the fleet. */
  beyond_fleet: number;
  /** Pruned: no number of replicas can beat the plans found. */
  pruned: number;
  /** Step times were predicted and loads simulated. */
  simulated: number;
  /** Simulated loads in all. */
  runs: number;
};

export type PriceTerms = "on_demand" | "reserved";
/** Cost of buying and running one GPU. */
export type OwnHardware = {
  purchase_dollars: number;
  years: number;
  dollars_per_kwh: number;
  hosting_dollars_per_month: number;
  /** Its power limit if left out. */
  watts?: number
};
/** A load with its limits. `gpu`, `engine`, `tp`, `pp`, `dp`, `ep` and `gpus` are open where neither the scenario nor `vary` names them. */
export type PlanRequest = Config & {
  /** Inputs with the values to try. */
  vary?: {
    gpu?: "all" | Array<string>;
    engine?: "all" | Array<string>;
    weights?: "all" | Array<Dtype>;
    kv?: "all" | Array<Dtype>;
    tp?: "all" | Array<number>;
    pp?: "all" | Array<number>;
    dp?: "all" | Array<number>;
    ep?: "all" | Array<number>;
    token_budget?: "all" | Array<number>;
    max_seqs?: "all" | Array<number>;
    memory_share?: "all" | Array<number>;
    power_cap?: "all" | Array<number>;
    cached_share?: "all" | Array<number>;
    history_cached?: "all" | Array<number>;
    host_cache?: "all" | Array<number>;
    drafted?: "all" | Array<number>;
    accepted?: "all" | Array<number>;
    prefill_workers?: "all" | Array<number>;
    prefill_gpu?: "all" | Array<string>;
    prefill_tp?: "all" | Array<number>;
  };
  /** GPUs owned, by id; no others are used, except those named in vary. */
  owned?: Record<string, number>;
  /** Maximum GPUs in a plan. */
  budget_gpus?: number;
  /** Maximum dollars per hour for a plan. */
  budget_dollars?: number;
  /** Dollars per GPU-hour, by id, instead of the catalog's; or the terms for all. */
  prices?: PriceTerms | Record<string, number | PriceTerms | OwnHardware>;
  /** How many of the best plans are shown; 5 if left out. */
  plans?: number;
};

/** One load on a curve. */
export type Point = {
  /** Clients or requests per second. */
  load: number;
  ttft: Stats;
  tpot: Stats | null;
  output_per_s: number;
  saturated: boolean;
  /** `None` without calibration. */
  bands: PointBands | null;
};

/** 80 % bands of a load. */
export type PointBands = {
  /** Bands of the means. */
  ttft: Band;
  tpot: Band | null;
  output_per_s: Band | null;
  /** The probability that measurements meet all limits; `None` without limits. */
  chance_within_limits: number | null;
};

/**
 * Means while the load lasts, or over a run whose number of requests is stated. Hosts, network and cooling are excluded, except
 * in `output_tokens_per_mwh`.
 */
export type Power = {
  /** Watts per GPU, and in total. */
  watts_per_gpu: number;
  watts: number;
  /** Total idle power. */
  idle_watts: number;
  /** 80 % band of the watts per GPU. */
  band: [number, number];
  /** Whether the power of these GPUs was measured rather than taken from others. */
  measured: boolean;
  joules_per_output_token: number;
  /** 80 % band of the joules per output token. */
  joules_band: [number, number];
  joules_per_request: number;
  /** Output tokens per MWh, including the configured overhead. */
  output_tokens_per_mwh: number;
};

/** The scenario as understood, all issues, and the answer if there is one. */
export type Prediction = {
  /** The fragment of a link to the scenario as understood; empty if a part could not be read. */
  link: string;
  /** Issues with the input and notes on the answer; includes the issues of `report`. */
  issues: Array<Issue>;
  /**
   * `None` after a failure, or if an issue has severity `error`. It has no `headline` if the configuration does
   * not fit.
   */
  report: Report | null;
  /** The scenario's measurements next to the prediction without runs of your own; empty without measurements. */
  measured?: Array<Deviation>;
  /** Shell commands that start this configuration and measure it. */
  commands?: Commands;
  sweep?: Curve;
  /** Why there is no (full) answer although the input may be valid. */
  failure?: Failure;
};

/** The source of a kernel's time. */
export type Provenance = "learned" | "extrapolated" | "measured" | "fixed" | "beside" | "roofline";

/** The cost that plans are ranked by. */
export type RankedBy = "dollars_per_hour" | "dollars_per_million_output";

export type Report = {
  basis: Basis;
  memory: Memory;
  /** Memory of a prefill worker, if there are separate ones; `memory` is then that of a decode replica. */
  prefill_memory: Memory | null;
  /** `None` if it does not fit; `issues` then says why, and what would make it fit. */
  headline: Headline | null;
  /** The run behind the headline, with percentiles and timeline; `None` for a static batch. */
  run: Run | null;
  /** Calibration of that run: bands, and the physics alone. `None` if not calibrated. */
  calibrated: Calibrated | null;
  /** Prefill, decode; empty if it does not fit. */
  passes: Array<PassReport>;
  issues: Array<Issue>;
};

/** The resource that limits a kernel's ideal time. */
export type Resource = "compute" | "memory" | "network" | "launch";

/** The run of one load. Rates are for all replicas together, the timeline for one. */
export type Run = {
  /** Clients, requests per second or prompts. */
  load: number;
  /** Simulated requests, of one replica. */
  requests: number;
  metrics: Metrics;
  /**
   * Requests per second while the load lasts: at a rate those that arrive, or the capacity if that is less; of clients that
   * start one after another, while all are there. The rates in `metrics` are the same, unless a number of requests is
   * stated or arrivals exceed capacity: then, as in `vllm bench serve`, they are those of the whole run, with the time of
   * the last answers.
   */
  sustained_per_s: number;
  /** Requests per second that meet all SLOs, if there are any. */
  goodput_per_s: number | null;
  /** Each SLO separately. */
  limits: Array<LimitResult>;
  /** Required shares of requests that meet all SLOs at once, and each separately. */
  required: [number, number];
  /** Times a sequence lost its KV cache and was recomputed. */
  preemptions: number;
  /**
   * Share of the sessions' history that was still in the prefix cache when a turn needed it; `None` without sessions,
   * and with pools.
   */
  history_found: number | null;
  /** Set if arrivals exceed capacity: TTFT then depends on the length of the run. */
  saturation: Saturation | null;
  timeline: Timeline;
  /** `None` if a GPU's power is unknown. */
  power: Power | null;
};

/**
 * Requests arrive faster than they are served: the queue grew throughout and would keep growing. Times to first
 * token then reflect the length of the run, not the speed of the system.
 */
export type Saturation = {
  /** Requests arriving per second in the second half of the arrivals. */
  offered_per_s: number;
  /**
   * Requests served per second during that time (of sessions, while the middle half of all turns ends); in a setup's run, its
   * capacity.
   */
  served_per_s: number;
  /** Requests waiting when the last one arrived; where replicas share a load, in one of them. */
  backlog: number;
};

/** How a launch is split into thread blocks and scheduled on the SMs. */
export type Schedule = {
  /** Tile of the output and of the reduction, in elements: rows, columns, depth. */
  tile: [number, number, number];
  /** Number of thread blocks. */
  tasks: number;
  /** Thread blocks that run at once. */
  slots: number;
  /** Waves: `ceil(tasks / slots)`. */
  waves: number;
  /** Fraction of the slots busy over all waves, in (0, 1]. */
  occupancy: number;
  /** Padded work over useful work, at least 1. */
  padding: number;
};

/** Time, in seconds. */
export type Seconds = number;

export type Severity = "error" | "warning" | "note";

/** Bands of a time. */
export type Spread = {
  mean: Band;
  p50: Band | null;
  p90: Band | null;
  p99: Band | null;
};

/** Mean and quantiles, in seconds. Quantiles are interpolated linearly, as in NumPy. */
export type Stats = {
  mean: number;
  p50: number;
  p90: number;
  p99: number;
};

/** The measured runs behind a posterior. */
export type Support = {
  /** Runs of models of the same shape, on this engine and on any. */
  of_model_on_engine: number;
  of_model: number;
  /** Runs on the same GPU type with this engine, of such models and of any. */
  of_model_on_gpu: number;
  of_gpu_on_engine: number;
  /** The visitor's own runs that share something with it, not included in the others. */
  own: number;
};

/** One replica over time, as columns of equal length. */
export type Timeline = {
  /** Seconds from the start. */
  time: Array<number>;
  /** Requests in prefill or decode. */
  running: Array<number>;
  waiting: Array<number>;
  /** Fraction of the KV cache in use, 0..1. */
  kv: Array<number>;
};

/**
 * A transformer over the patches of images, and the projector that makes tokens of them.
 * Left out of its work: biases and position embeddings, which are a thousandth of the rest.
 */
export type Vision = {
  layers: number;
  hidden: number;
  heads: number;
  /** Width of the MLPs. */
  intermediate: number;
  /** The MLPs have no gate projection. */
  ungated?: boolean;
  /** Side of a patch, in pixels. */
  patch: number;
  /** Video frames of a patch; an image is repeated to fill them. */
  frames: number;
  /** Patches that become one token. */
  merge: number;
  /** Widths of the projector's matrices, from its input to the language model's hidden size. */
  projector: Array<number>;
  /** Projectors: one, and another for each layer whose result is used besides the last. */
  projectors: number;
  /** Patches that attend to each other, in `windowed` layers; in the others those of an image do. */
  window?: number;
  windowed?: number;
  /** Tokens that the processor makes of every image; `None` if they depend on its size. */
  tokens?: number;
};

/** Power, in watts. */
export type Watts = number;

/** A GPU without a plan. */
export type WithoutPlan = {
  gpu: string;
  reason: string;
};
