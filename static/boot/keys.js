// Written from src/config/inputs/table: `ROOFLIGHT_WRITE=1 cargo test --test links` renews it.

/** The page's inputs by name, with their keys in a link (docs/links.md). */
export const KEYS = {
  model: "m",
  gpu: "g",
  gpus: "n",
  tp: "tp",
  pp: "pp",
  dp: "dp",
  ep: "ep",
  engine: "e",
  weights: "w",
  kv: "kv",
  isl: "isl",
  osl: "osl",
  spread: "rr",
  log_spread: "ls",
  shape: "sh",
  histogram: "hl",
  cached_share: "pc",
  drafted: "sd",
  accepted: "sa",
  concurrency: "c",
  rate: "r",
  constant_rate: "rc",
  burstiness: "bu",
  burst: "bn",
  offline: "on",
  batch: "b",
  sessions: "sn",
  session_rate: "sr",
  max_in_flight: "mc",
  turns: "tn",
  message: "um",
  think_time: "tt",
  history_cached: "hc",
  ramp: "ru",
  stagger: "sg",
  requests: "np",
  slo_ttft: "st",
  slo_tpot: "sp",
  slo_e2e: "se",
  slo_percentile: "sq",
  slo_share: "so",
  token_budget: "tb",
  max_seqs: "ms",
  memory_share: "mem",
  sustained: "clk",
  power_cap: "cap",
  power_overhead: "pue",
  price: "usd",
  prefill_workers: "pw",
  prefill_gpu: "pg",
  prefill_tp: "ptp",
  prefill_pp: "ppp",
  prefill_dp: "pdp",
  prefill_ep: "pep",
  prefill_budget: "ptb",
  send_rate: "kvr",
  send_time: "kvt",
  data: "d",
  measured: "me",
  compared: "vs",
};

/** The key of a custom model, instead of KEYS.model. */
export const CUSTOM_MODEL = "x";

/** The sizes of the kinds of load: a configuration has one of them. */
export const LOADS = ["concurrency", "rate", "constant_rate", "burst", "offline", "batch", "sessions", "session_rate"];

/** Bytes of the longest link that is read. */
export const LONGEST_LINK = 131072;
