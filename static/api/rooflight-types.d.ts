// Written from the Rust types: `ROOFLIGHT_WRITE=1 cargo test --lib api` renews it.
// Times are in seconds, data in bytes, rates per second, shares between 0 and 1.

export type Arch = "volta" | "turing" | "ampere" | "ada" | "hopper" | "blackwell" | "blackwell_rtx" | "cdna3" | "cdna4";

/** What 80 % of measurements of a load are expected between. */
export type Around = {
  /** Of the means. */
  ttft: Band;
  tpot: Band | null;
  output_per_s: Band | null;
  /** The probability that measurements keep to all limits; none without limits. */
  keeps_with: number | null;
};

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

/** What 80 % of measurements are expected between. */
export type Band = {
  low: number;
  high: number;
  /** Share of its variance that another run of this very configuration would not take away. */
  noise_share: number;
};

/** What 80 % of measurements of a run are expected between: seconds, and output tokens per second. */
export type Bands = {
  ttft: Spread;
  tpot: Spread | null;
  e2e: Spread;
  output_per_s: Band | null;
  /** Of what each limit of the run is held against. */
  limits: Array<Band | null>;
};

/** What the efficiencies behind a number are. */
export type Basis = {
  "kind": "roofline"
} | {
  "kind": "learned";
  release: string;
};

/** The part of the model a call belongs to, as a profile groups them. */
export type Block = "embedding" | "attention" | "mlp" | "experts" | "head" | "drafting" | "communication";

/** `count` decoder blocks of the same shape, wherever they stand in the model. */
export type Blocks = {
  count: number;
  /** None in a block that has an MLP only. */
  attention?: Attention;
  /** None in a block that only mixes tokens. */
  ffn?: Ffn;
  norms: Norms;
  /**
   * Residual streams that the block mixes before and after each of its parts (hyper-connections); none
   * where there is one.
   */
  streams?: number;
};

/** The limit that breaks furthest, or the load that is not kept up with. */
export type BrokenLimit = {
  /** `slo_ttft`, `slo_tpot`, `slo_e2e` or `slo_share`; the field of the load where more arrives than is served. */
  field: Field;
  /** What came of it, in seconds; a share of requests for `slo_share`, requests per second served for a load. */
  at: number;
  /** What was asked for, likewise. */
  limit: number;
  text: string;
};

/** Data, in bytes. */
export type Bytes = number;

/** Bandwidth, in bytes per second (decimal: 1 GB/s is 1e9). */
export type BytesPerSecond = number;

/** What stands behind a calibrated run. */
export type Calibrated = {
  /** What step times were multiplied by. */
  factors: Factors;
  bands: Bands;
  support: Support;
  /** The run of the physics alone. */
  physics: Run;
  /** What would be predicted without the visitor's own runs; none if there are no such runs. */
  without_own: Run | null;
};

/**
 * Of one replica. Flags are those of the engine's version in the catalog; every setting is spelled out, so that
 * other defaults change nothing.
 */
export type Commands = {
  launch: string;
  /** `vllm bench serve`, whose definitions of TTFT and TPOT are ours; it speaks to all three engines. */
  bench: string;
};

/**
 * Attention to the newest tokens and, before them, to one compressed entry for every so many.
 * All heads share one entry, which is key and value at once. Facts are those of `DeepseekV4Attention` in
 * Hugging Face transformers: the result is projected in two steps, the first in groups of heads.
 */
export type Compressed = {
  heads: number;
  /** Width of a query and of an entry. */
  head_dim: number;
  /** The part of it with the rotary embedding, which stays in 16 bits in the cache. */
  rope: number;
  /** Width of the compressed queries. */
  query_rank: number;
  /** Newest tokens that are seen one by one, a query's own included. */
  window: number;
  /** Tokens of one compressed entry; none in layers that see the window alone. */
  ratio?: number;
  /** Chooses entries, in layers whose entries overlap; the others see all. */
  indexer?: Indexer;
  /** Groups of heads that are projected apart. */
  groups: number;
  /** Width that each group is projected to. */
  output_rank: number;
};

/** A scenario. What is left out has the default that docs/links.md names. */
export type Config = {
  /** Schema version of the link; 1 if left out. */
  version?: number;
  /** Model, by its id in the catalog. */
  model?: string | Model;
  /** GPU, by its id in the catalog. */
  gpu?: string;
  /** Copies of the whole deployment, which share the load. Links and JSON hold the GPUs of all of them, a multiple of TP x DP x PP. */
  gpus?: number;
  /** GPUs that share each layer (TP). */
  tp?: number;
  /** Stages that each hold some of the layers (PP). */
  pp?: number;
  /** Groups of TP GPUs that run attention for requests of their own and share the experts (DP). */
  dp?: number;
  /** GPUs of a stage (TP x DP) that the experts are distributed over (EP); the remaining factor shards each expert. */
  ep?: number;
  /** Serving engine, by its id in the catalog. */
  engine?: string;
  /** Format of the linear layers' weights; the published one if left out. */
  weights?: Dtype;
  /** Format of the KV cache. */
  kv?: Dtype;
  /** Tokens of each prompt (ISL); of a static batch also a list, one length per prompt. */
  isl?: number | Array<number>;
  /** Tokens generated for each prompt (OSL). */
  osl?: number;
  /** Fraction by which prompt and output lengths vary, uniformly, up and down. */
  spread?: number;
  /** Standard deviation of the logarithm of lengths that are log-normal instead, with the same means. */
  log_spread?: number;
  /** A named distribution about these means. sharegpt: log-normal prompts and outputs that vary as those that `vllm bench serve` takes from ShareGPT. */
  shape?: string;
  /** Pairs of prompt and output length to draw from, each with its weight, instead of one length each. */
  histogram?: string;
  /** Fraction of each prompt found in the prefix cache. */
  cached_share?: number;
  /** Speculative decoding: draft tokens per step and sequence. */
  drafted?: number;
  /** Speculative decoding: draft tokens accepted per step, on average. */
  accepted?: number;
  /** Clients that each send their next request when the last one ends. */
  concurrency?: number;
  /** Requests per second, arriving independently (Poisson) no matter how many wait. */
  rate?: number;
  /** Requests per second with equal gaps, no matter how many wait. */
  constant_rate?: number;
  /** Shape of the gamma distribution of arrival gaps: 1 is Poisson, less is burstier, more is more even. */
  burstiness?: number;
  /** Prompts sent to a server at once, and no others (`vllm bench serve` without a rate). */
  burst?: number;
  /** Prompts queued in the engine, without a server, for the most throughput (`vllm bench throughput`). */
  offline?: number;
  /** Prompts of one static batch: prefilled together, decoded together to the end. */
  batch?: number;
  /** Users at once, each of whom begins a new session when the last one ends. */
  sessions?: number;
  /** Sessions per second, beginning independently (Poisson) no matter how many are under way. */
  session_rate?: number;
  /** Prompts of the burst that are sent before one has ended (`--max-concurrency` of `vllm bench serve`); empty for all. */
  max_in_flight?: number;
  /** Turns of a session. The first has the input length; the prompt of each later one is all that went before, answers included, and a message. */
  turns?: number;
  /** Tokens that the user adds in each turn after the first. */
  message?: number;
  /** Seconds between an answer and the user's next message. */
  think_time?: number;
  /** Fraction of a session's earlier turns that the prefix cache may serve while it holds them: 0 where it is off. */
  history_cached?: number;
  /** Seconds over which clients begin, evenly; empty for all at once. */
  ramp?: number;
  /** Seconds from the start of one client to that of the next, instead of a ramp; empty for all at once. */
  stagger?: number;
  /** Requests of the simulated run (`--num-prompts`), in whole sessions; empty for ten of each client, a hundred at least, and 1,000 at a rate. */
  requests?: number;
  /** SLO: TTFT that every request must meet, in milliseconds; empty for none. */
  slo_ttft?: number;
  /** SLO: TPOT that every request must meet, in milliseconds; empty for none. */
  slo_tpot?: number;
  /** SLO: time from arrival to the last token that every request must meet, in milliseconds; empty for none. */
  slo_e2e?: number;
  /** Percentile of TTFT, TPOT and E2E that each limit applies to; if empty, requests that meet every limit are counted. */
  slo_percentile?: number;
  /** Share of requests that must meet every limit; 0.99 if empty, and not checked if a percentile is given. */
  slo_share?: number;
  /** Tokens that one step of the engine may process. */
  token_budget?: number;
  /** Sequences that the engine runs at once. */
  max_seqs?: number;
  /** Fraction of the GPU's memory that the engine may use. */
  memory_share?: number;
  /** Fraction of the boost clock that the GPU holds under load. */
  sustained?: number;
  /** Watts that each GPU may draw; below its limit, clocks fall and compute-bound kernels take longer. */
  power_cap?: number;
  /** Power of hosts, network and cooling and of the GPUs, over that of the GPUs; 1 counts the GPUs alone. */
  power_overhead?: number;
  /** US dollars per GPU and hour. */
  price?: number;
  /** Workers that only compute prompts and send their KV cache to the replicas, which then only decode (disaggregated serving); 0: each replica does both. */
  prefill_workers?: number;
  /** GPU of the prefill workers, by its id in the catalog; the replicas' if left out. */
  prefill_gpu?: string;
  /** GPUs of a prefill worker that share each layer. */
  prefill_tp?: number;
  /** Pipeline stages of a prefill worker. */
  prefill_pp?: number;
  /** Groups of a prefill worker that run attention for requests of their own and share the experts. */
  prefill_dp?: number;
  /** GPUs of a prefill worker that the experts are distributed over. */
  prefill_ep?: number;
  /** Tokens that one step of a prefill worker may process; the replicas' if left out. */
  prefill_budget?: number;
  /** GB/s at which each GPU of a prefill worker sends KV cache; if left out, what its link reaches where one joins all workers, and otherwise its port of the network. */
  send_rate?: number;
  /** Microseconds that any transfer of KV cache takes beside its bytes; if left out, what handing a request over takes under Dynamo in measured runs; SGLang's own router takes next to nothing. */
  send_time?: number;
  /** Release of data and weights that the link was made with. */
  data?: string;
  /** Measured results to compare with: means, and medians where known, in ms or per second. */
  measured?: string | Record<string, number>;
};

/** A curve over loads. */
export type Curve = {
  points: Array<Point>;
  /** The largest load that keeps to the SLOs, where there are any. */
  largest: number | null;
};

/** What a link holds. */
export type Decoded = {
  /** Every field that has a value, defaults included; what could not be read has its default. */
  config: Config;
  issues: Array<Issue>;
};

/** A gated delta rule behind a short convolution: a state of constant size in place of keys and values. */
export type Delta = {
  key_heads: number;
  value_heads: number;
  key_dim: number;
  value_dim: number;
  /** Tokens the convolution reaches back, the newest included. */
  taps: number;
  gates: Gates;
  /** The output gate is projected at once, not through a bottleneck (Kimi K3). */
  full_gate?: boolean;
};

/** An MLP, gated by default: `down(silu(gate(x)) * up(x))`. */
export type Dense = {
  intermediate: number;
  /** `down(relu(up(x))^2)`: no gate projection. */
  ungated?: boolean;
};

/** A predicted number beside its measurement. Times in seconds, rates per second. */
export type Deviation = {
  /** `ttft`, `tpot`, `e2e`, `throughput` (output tokens), `requests` or `total` (prompt and output tokens). */
  name: string;
  predicted: number;
  /** What the prediction is compared with: the mean, or the median where that alone is known. */
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
  /** Its fragment, without `#`; empty where the configuration could not be read. */
  link: string;
  issues: Array<Issue>;
};

export type EngineFacts = {
  id: string;
  name: string;
  version: string;
  /** GPUs whose default kernels are known. */
  archs: Array<Arch>;
  /** Defaults, on GPUs with much memory: tokens of a step, sequences at once, share of the memory. */
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
  /** TTFT, in addition to what longer steps make of it. */
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
export type Field = "link" | "version" | "model" | "gpu" | "gpus" | "tp" | "pp" | "dp" | "ep" | "engine" | "weights" | "kv" | "isl" | "osl" | "spread" | "log_spread" | "shape" | "histogram" | "cached_share" | "drafted" | "accepted" | "load" | "concurrency" | "rate" | "constant_rate" | "burstiness" | "burst" | "offline" | "batch" | "sessions" | "session_rate" | "max_in_flight" | "turns" | "message" | "think_time" | "history_cached" | "ramp" | "stagger" | "requests" | "slo_ttft" | "slo_tpot" | "slo_e2e" | "slo_percentile" | "slo_share" | "token_budget" | "max_seqs" | "memory_share" | "sustained" | "power_cap" | "power_overhead" | "price" | "prefill_workers" | "prefill_gpu" | "prefill_tp" | "prefill_pp" | "prefill_dp" | "prefill_ep" | "prefill_budget" | "send_rate" | "send_time" | "data" | "trace" | "vary" | "owned" | "budget_gpus" | "budget_dollars" | "prices" | "plans" | "measured" | "compared" | "runs";

/** Work, in floating-point operations (a multiply-add is two). */
export type Flops = number;

/** Rate of work, in floating-point operations per second. */
export type FlopsPerSecond = number;

/**
 * The formats of a checkpoint's linear layers, by class. Embedding, head, router, norms and convolutions
 * stay in 16 bits.
 */
export type Formats = {
  /** What the checkpoint is named by, and the format of the experts. */
  weights: Dtype;
  /** Projections of attention and of what stands in its place. */
  attention: Dtype;
  /** Dense MLPs. */
  mlp: Dtype;
  /** Shared experts. */
  shared: Dtype;
};

/** How a delta rule forgets. */
export type Gates = "per_head" | "per_channel";

/** `None` where no figure is published. */
export type GpuFacts = {
  id: string;
  name: string;
  arch: Arch;
  memory: Bytes | null;
  bandwidth: BytesPerSecond | null;
  /** Dense tensor-core peaks at the boost clock, by the format multiplied in. */
  peak_bf16: FlopsPerSecond | null;
  peak_fp8: FlopsPerSecond | null;
  peak_fp4: FlopsPerSecond | null;
  peak_int8: FlopsPerSecond | null;
  /** The fastest link to the other GPUs of the machine, its bandwidth per direction, and how many GPUs it joins. */
  link: LinkKind;
  link_bandwidth: BytesPerSecond | null;
  link_domain: number;
  /** Of one GPU's port to the network between nodes, per direction. */
  network_bandwidth: BytesPerSecond | null;
  power: Watts | null;
  /** A typical price to rent one for an hour. */
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
  /** Width of a value, where it is not that of a key. */
  value_dim?: number;
  /** Keys that a query sees at most, its own included; none if it sees all. */
  window?: number;
  traits?: Array<GqaTrait>;
  /** Queries see chosen blocks of the keys only. */
  blocks?: KeyBlocks;
};

export type GqaTrait = "sinks" | "output_gate" | "norm_over_heads" | "values_from_keys";

/**
 * Headline numbers: those of the simulated run, or of one static batch. TTFT, TPOT and E2E are those of `vllm bench serve`:
 * means over requests.
 */
export type Headline = {
  ttft: Seconds;
  /** None for OSL 1. */
  tpot: Seconds | null;
  e2e: Seconds;
  /** Requests per second, all replicas. */
  requests_per_s: number;
  /** Output tokens per second, all replicas. */
  output_per_s: number;
  /** Prompt and output tokens per second, all replicas. */
  total_per_s: number;
  output_per_s_per_gpu: number;
  /** 1 / TPOT. */
  output_per_s_per_user: number | null;
  /** Requests decoding or prefilling at once, per replica, on average over the run. */
  running: number;
  /** Requests queueing for a slot, likewise. */
  waiting: number;
  dollars_per_million: Dollars | null;
  /** Left out if the power of a GPU is unknown. */
  power: Power | null;
};

/** The lightning indexer of sparse attention. */
export type Indexer = {
  heads: number;
  head_dim: number;
  /** Tokens that each query attends to at most. */
  topk: number;
  /** This layer takes the choice of an earlier one. */
  borrowed?: boolean;
};

/** One finding: which field, and what is wrong with it. */
export type Issue = {
  field: Field;
  severity: Severity;
  text: string;
  /** What was typed, where it could not be read: the page keeps it in the field. */
  given?: string;
};

/** One limit, and what came of it. */
export type Kept = {
  /** `slo_ttft`, `slo_tpot` or `slo_e2e`. */
  field: Field;
  /** Seconds. */
  limit: number;
  /** Share of requests within it. */
  share: number;
  /** Seconds that the share of requests which must be within it stays below. */
  at: number;
};

/** One kernel of a pass. Times are of one launch. */
export type KernelLine = {
  block: Block;
  name: string;
  /** Its size in words: `4096 × 6144 × 4096`. */
  shape: string;
  /** Launches in the pass. */
  count: number;
  flops: Flops;
  /** Compulsory device-memory traffic. */
  bytes: Bytes;
  /** FLOP per byte; none if nothing is multiplied. */
  intensity: number | null;
  /** The textbook roofline's time. */
  roofline: Seconds;
  /** The same with tile and wave quantisation: what this launch could reach. */
  ceiling: Seconds;
  time: Seconds;
  /** Share of the ideal reached: `roofline / time`, in (0, 1]. */
  efficiency: number;
  /** Share of the pass's time, all launches together. */
  share: number;
  limit: Resource;
  provenance: Provenance;
  /** What 80 % of measurements of such a call lie between; none if no held-out data tells. */
  bounds: [Seconds, Seconds] | null;
  /** Whether the call lies beyond all that its model was trained on. */
  outside: boolean;
  schedule: Schedule | null;
  /** The dtype whose dense roof applies, for the chart. */
  math: Dtype | null;
};

/** Keys seen in blocks that an indexer chose, for each KV head its own. */
export type KeyBlocks = {
  /** Index queries: one for each KV head, all over one index key a token. */
  heads: number;
  head_dim: number;
  /** Keys of a block. */
  size: number;
  /** Blocks that each query sees at most, its own included. */
  topk: number;
};

export type LinkKind = "nvlink" | "pcie" | "xgmi";

/** A Mamba-2 mixer. */
export type Mamba = {
  heads: number;
  head_dim: number;
  /** Groups of heads that share their input and output matrices. */
  groups: number;
  /** State per channel. */
  state: number;
  taps: number;
};

/** Device memory of the fullest GPU, by part. */
export type Memory = {
  total: Bytes;
  /** What the engine may use of it. */
  usable: Bytes;
  weights: Bytes;
  activations: Bytes;
  /** CUDA context, graphs, communication buffers. */
  reserve: Bytes;
  /** KV cache of the requests that run at this load. More than the room only where it does not fit. */
  kv_needed: Bytes;
  /** Room for the KV cache. */
  kv_room: Bytes;
  /** What weights, activations and reserve take beyond what is usable. */
  missing: Bytes;
  /** How far the room may be off: half of logged starts were nearer. */
  margin: Bytes;
  /**
   * KV bytes of one token on one GPU, on average over the longest sequence: layers with a window
   * keep its tokens only, recurrences a state.
   */
  kv_per_token: Bytes;
  /** Tokens that fit into the cache of one replica. */
  kv_tokens: number;
  /** Sequences of full length that fit at once. */
  max_concurrency: number;
};

/** Latencies in seconds, throughput per second over the duration; infinite where steps take no time. */
export type Metrics = {
  /** Seconds from the first arrival to the last token. */
  duration: number;
  ttft: Stats;
  /** Over requests with more than one output token, each counted once; none without any. */
  tpot: Stats | null;
  /** Over all gaps between outputs of a sequence. */
  itl: Stats | null;
  e2e: Stats;
  requests_per_s: number;
  output_per_s: number;
  /** Prompt and output tokens. */
  total_per_s: number;
  /** Requests in the system, on average over the duration. */
  in_flight: number;
};

/** Multi-head latent attention (DeepSeek). */
export type Mla = {
  heads: number;
  /** Width of the compressed queries; none if queries are projected at once. */
  query_rank?: number;
  /** The latent vector a token keeps for keys and values. */
  latent: number;
  /** Part of queries and keys with the rotary embedding; its key is shared by all heads. */
  rope: number;
  /** Part of queries and keys without. */
  nope: number;
  value: number;
  /** Sparse: attends to the tokens an indexer chose. */
  indexer?: Indexer;
  /** The result is gated by a projection of its width. */
  gate?: boolean;
};

/** A decoder-only language model. */
export type Model = {
  /** Stable id, as used in links. */
  id: string;
  /** Organisation and name where it is published. */
  name: string;
  hidden: number;
  vocab: number;
  /** Longest sequence the model is made for, in tokens. */
  max_context: number;
  /** The head reuses the embedding's weights. */
  tied_embeddings: boolean;
  /** The format the published checkpoint is named by: of the experts, or of all linear layers. */
  weights: Dtype;
  blocks: Array<Blocks>;
  /** What checkpoints in one format hold in others, where that is not the rule of [`Formats::usual`]. */
  checkpoints?: Array<Formats>;
  /** What of the published model is not counted (a vision encoder ...), one sentence each. */
  notes?: Array<string>;
  /** Layers that predict the tokens after the next (MTP), for drafts; none in a model without. */
  mtp?: number;
  /** Rows of the learned position table. `None` if positions are rotary or biases. */
  positions?: number;
};

export type ModelFacts = {
  id: string;
  /** Organisation and name where it is published. */
  name: string;
  parameters: number;
  /** Those that one token uses. */
  active_parameters: number;
  layers: number;
  /** Longest sequence, in tokens. */
  max_context: number;
  /** The format it is published in. */
  weights: Dtype;
  /** What of it is not counted. */
  notes: Array<string>;
};

/** A mixture of experts: each token visits `topk` of them. */
export type Moe = {
  experts: number;
  topk: number;
  /** Width of one expert. */
  intermediate: number;
  /** Width of all shared experts together, which every token visits; none if there are none. */
  shared?: number;
  /** The shared experts' result is weighed by a projection to one number. */
  shared_gate?: boolean;
  /** No gate projection in any expert. */
  ungated?: boolean;
  /** Width that tokens are projected to before the routed experts, and back from after. */
  latent?: number;
  /** Biases on the experts' projections. */
  bias?: boolean;
  /** A dense MLP of this width beside the experts, its result added to theirs. */
  beside?: number;
};

/** A plan that misses, by as little as any. */
export type NearestPlan = {
  plan: Plan;
  /** The limit that it misses; none where it meets all limits and exceeds the fleet. */
  broken: BrokenLimit | null;
  /** What binds, and by how much, in a sentence. */
  text: string;
};

/** Where a block normalises. */
export type Norms = "pre" | "sandwich";

/** What to answer besides the report; off by default. */
export type Options = {
  /** Every kernel at its ideal instead of the learned efficiencies: needs no models. */
  roofline?: boolean;
  /** Also simulate the loads around this one, and look for the largest that keeps to the SLOs: seconds of computing. */
  sweep?: boolean;
  /**
   * Measured runs to calibrate on, beside those of the link: each a link, or an object of the inputs in which it differs from the
   * configuration, with `measured`.
   */
  measured: Array<string | Config>;
  /**
   * The text of a `config.json`, perhaps with that of `hf_quant_config.json` behind it: its model takes the place of the
   * configuration's.
   */
  model_config?: string;
  /** A link: what a command that starts an engine leaves open, such as GPU and load, is taken from it. */
  base?: string;
  /** The text of a trace (CSV, or one JSON object a line) to replay in place of the configuration's load and lengths. */
  trace?: string;
};

/** One step of the engine, taken apart. */
export type PassReport = {
  phase: Phase;
  sequences: number;
  tokens: number;
  /** Mean tokens in the KV cache per sequence before the step. */
  past: number;
  time: Seconds;
  /** Host time not hidden behind kernels. */
  host: Seconds;
  /** Average draw of one GPU, if its power is known. */
  power: Watts | null;
  kernels: Array<KernelLine>;
  /** The resource that takes most of the time, and its share. */
  limit: Resource;
  limit_share: number;
  /** The same, in one sentence. */
  sentence: string;
  /** Against the dense peak of the dtype used. */
  mfu: number;
  /** Touched weight and KV bytes over step time and peak bandwidth. */
  mbu: number;
};

export type Phase = "prefill" | "decode";

/** A configuration that serves the load, all figures those of its simulated run. */
export type Plan = {
  /** The fragment of a link that opens it. */
  link: string;
  /** The same as a scenario in the JSON form. */
  config: Config;
  /** In a few words: `3 x B200, NVFP4, vLLM, TP 1`. */
  name: string;
  gpu: string;
  gpus: number;
  replicas: number;
  /** Of all GPUs, where their price is known; as are the next five. */
  dollars_per_hour: number | null;
  /** What the price of a GPU is: on demand or reserved with the source of the catalog, given, or of own hardware. */
  price_from: string | null;
  /** With a spare replica, so that the limits hold while one is down (N+1). */
  dollars_per_hour_with_spare: number | null;
  /** All of the cost over the prompt tokens alone. */
  dollars_per_million_input: number | null;
  /** The same over the output tokens alone. */
  dollars_per_million_output: number | null;
  /** Prompt and output tokens together. */
  dollars_per_million_total: number | null;
  /** Seconds. */
  ttft: Stats;
  /** None for one output token. */
  tpot: Stats | null;
  e2e: Stats;
  /** All replicas together. */
  requests_per_s: number;
  output_per_s: number;
  total_per_s: number;
  /** Watts and joules; none if the power of the GPU is unknown. */
  power: Power | null;
  /** What 80 % of measurements are expected between; none without calibration, or as long as that is not known. */
  bands: Bands | null;
  /** The probability that measurements keep to every limit; none without limits, or as long as `bands` is not known. */
  keeps_with: number | null;
  /** Every limit with what came of it, at the percentile that is asked for. */
  limits: Array<Kept>;
  /** Share of requests that keep to all limits; none without limits. */
  goodput_share: number | null;
  /** Times the load that these replicas take before a limit breaks; none where that is not known yet. */
  headroom: number | null;
  /** Whether more than `headroom` times the load was not tried. */
  headroom_is_least: boolean;
  /** What breaks with one replica less; none if that was not simulated, or there is one alone. */
  one_less: BrokenLimit | null;
  /** Why it comes after the first; none for that. */
  behind: string | null;
  /** What is to know about it: estimates, and what was not measured. */
  issues: Array<Issue>;
};

/** Ranked plans, and what is known of what is no plan. */
export type PlanAnswer = {
  /** The best of all, then the best of every other GPU; the best first. Those without a known price come last, by GPUs. */
  plans: Array<Plan>;
  /** Where no plan meets the limits within the fleet: what comes nearest. */
  nearest: NearestPlan | null;
  /** GPUs without a plan, each with the reason. */
  others: Array<WithoutPlan>;
  counts: PlanCounts;
  /** What is wrong with the request, or worth knowing about all plans. */
  issues: Array<Issue>;
  /** Nothing remains to be tried. */
  finished: boolean;
};

/** How many layouts there were, and what became of them. */
export type PlanCounts = {
  /** Layouts that the request allows, replicas aside. */
  layouts: number;
  /** Of which this many wait to be checked or simulated. */
  remaining: number;
  /** The checks refuse them: heads that do not divide, formats without kernels. */
  refused: number;
  too_large: number;
  /** Kernels at their ideal miss the limits. */
  too_slow: number;
  /** Their fewest replicas exceed the fleet. */
  beyond_fleet: number;
  /** No number of replicas can be better than what was found already. */
  outdone: number;
  /** Step times were worked out and loads simulated. */
  simulated: number;
  /** Simulated loads in all. */
  runs: number;
};

export type PriceTerms = "on_demand" | "reserved";
/** What one GPU costs to buy and run. */
export type OwnHardware = {
  purchase_dollars: number;
  years: number;
  dollars_per_kwh: number;
  hosting_dollars_per_month: number;
  /** Its power limit if left out. */
  watts?: number
};
/** A load with its limits, and what is open: `gpu`, `engine`, `tp`, `pp`, `dp`, `ep` and `gpus` are where neither the scenario nor `vary` names them. */
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
    drafted?: "all" | Array<number>;
    accepted?: "all" | Array<number>;
  };
  /** GPUs there are, by id; no others are taken. */
  owned?: Record<string, number>;
  /** GPUs of a plan at most. */
  budget_gpus?: number;
  /** Dollars per hour of a plan at most. */
  budget_dollars?: number;
  /** Dollars per GPU and hour, by id, in place of the catalog's; or the terms for all. */
  prices?: PriceTerms | Record<string, number | PriceTerms | OwnHardware>;
  /** How many of the best plans are shown; 5 if left out. */
  plans?: number;
};

/** One load of a curve. */
export type Point = {
  /** Clients or requests per second. */
  load: number;
  ttft: Stats;
  tpot: Stats | null;
  output_per_s: number;
  saturated: boolean;
  /** None without calibration. */
  bands: Around | null;
};

/** Means over a run. Hosts, network and cooling are left out, but for `output_tokens_per_mwh`. */
export type Power = {
  /** Watts of one GPU, and of all. */
  watts_per_gpu: number;
  watts: number;
  /** What all of them draw while nothing runs. */
  idle_watts: number;
  /** Watts of one GPU that 80 % of measured runs are expected between. */
  band: [number, number];
  /** The power of these GPUs was measured; otherwise it is taken from others. */
  measured: boolean;
  joules_per_output_token: number;
  joules_per_request: number;
  /** With the overhead that is asked for. */
  output_tokens_per_mwh: number;
};

/** The scenario as understood, everything found wrong with it, and the answer if there is one. */
export type Prediction = {
  /** The fragment of a link to the scenario as understood; empty where none could be read. */
  link: string;
  /** What is wrong with the input or worth knowing about the answer; includes the issues of `report`. */
  issues: Array<Issue>;
  /**
   * None after a failure, or where the input has an issue of severity `error`. Without a `headline` where the
   * configuration does not fit.
   */
  report: Report | null;
  /** What the scenario says was measured, next to what the report predicts; left out without measurements. */
  measured?: Array<Deviation>;
  /** Shell commands that start this configuration, and that measure it. */
  commands?: Commands;
  sweep?: Curve;
  /** Why there is no answer, or not all of it, though the input may be sound. */
  failure?: Failure;
};

/** Where a kernel's time comes from. */
export type Provenance = "learned" | "extrapolated" | "measured" | "fixed" | "beside" | "roofline";

export type Report = {
  basis: Basis;
  memory: Memory;
  /**
   * That of a prefill worker, where prompts are computed by workers of their own; `memory` is then that of a replica that
   * decodes.
   */
  prefill_memory: Memory | null;
  /** None if it does not fit; `issues` then says why, and what would make it fit. */
  headline: Headline | null;
  /** The run that the headline is the mean of, with its percentiles and its timeline; none for a static batch. */
  run: Run | null;
  /** What measured runs say of that run: bands, and the physics alone. None where they say nothing of it. */
  calibrated: Calibrated | null;
  /** Prefill, decode; empty where it does not fit. */
  passes: Array<PassReport>;
  issues: Array<Issue>;
};

/** The resource that bounds a kernel's ideal time. */
export type Resource = "compute" | "memory" | "network" | "launch";

/** A run of one load. Rates are of all replicas together, the timeline is of one. */
export type Run = {
  /** Clients, requests per second or prompts. */
  load: number;
  /** Requests simulated, of one replica. */
  requests: number;
  metrics: Metrics;
  /** Requests per second that keep to all SLOs; none if there is none. */
  goodput_per_s: number | null;
  /** Each SLO by itself. */
  limits: Array<Kept>;
  /** Shares of requests that must keep to all SLOs at once, and to each by itself. */
  asked: [number, number];
  /** Times that a sequence lost its KV cache and was computed anew. */
  preemptions: number;
  /** Arrivals exceed capacity: times until the first token then say how long the run was. */
  saturation: Saturation | null;
  timeline: Timeline;
  /** None if the power of a GPU is unknown. */
  power: Power | null;
};

/**
 * Requests arrive faster than they are served: the queue grew as long as they came, and would go on. Times
 * until the first token then say how long the run was, not how fast the system is.
 */
export type Saturation = {
  /** Requests that arrive per second in the second half of the arrivals. */
  offered_per_s: number;
  /** Requests served per second meanwhile; in a run of a setup, its capacity. */
  served_per_s: number;
  /** Requests that waited when the last one arrived. */
  backlog: number;
};

/** How a launch is split into thread blocks and laid over the SMs. */
export type Schedule = {
  /** Tile of the output and of the reduction, in elements: rows, columns, depth. */
  tile: [number, number, number];
  /** Thread-block tasks. */
  tasks: number;
  /** Tasks that run at once. */
  slots: number;
  /** Rounds needed: `ceil(tasks / slots)`. */
  waves: number;
  /** Share of the slots busy over all rounds, in (0, 1]. */
  occupancy: number;
  /** Padded work over useful work, at least 1. */
  padding: number;
};

/** Time, in seconds. */
export type Seconds = number;

export type Severity = "error" | "warning" | "note";

/** The bands of a time. */
export type Spread = {
  mean: Band;
  p50: Band | null;
  p90: Band | null;
  p99: Band | null;
};

/** Mean and quantiles, in seconds. Quantiles lie on the line between neighbours, as NumPy's. */
export type Stats = {
  mean: number;
  p50: number;
  p90: number;
  p99: number;
};

/** The measured runs behind a posterior. */
export type Support = {
  /** Runs of the same model, on this engine and any. */
  of_model_on_engine: number;
  of_model: number;
  /** Runs on the same GPU type with this engine. */
  of_gpu_on_engine: number;
  /** Runs of the visitor's own, which are none of the others. */
  own: number;
};

/** One replica over time, as columns of equal length. */
export type Timeline = {
  /** Seconds from the start. */
  time: Array<number>;
  /** Requests in prefill or decode. */
  running: Array<number>;
  waiting: Array<number>;
  /** Share of the KV cache taken, 0..1. */
  kv: Array<number>;
};

/** Power, in watts. */
export type Watts = number;

/** A GPU without a plan. */
export type WithoutPlan = {
  gpu: string;
  reason: string;
};
