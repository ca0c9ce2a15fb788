// What scripts for other pages know of the page's inputs: the name of each and its key in a link (docs/links.md).
export const KEYS = {
  model: "m", gpu: "g", gpus: "n", tp: "tp", pp: "pp", dp: "dp", ep: "ep", engine: "e", weights: "w", kv: "kv",
  isl: "isl", osl: "osl", spread: "rr", log_spread: "ls", histogram: "hl", cached_share: "pc", drafted: "sd", accepted: "sa",
  concurrency: "c", rate: "r", burstiness: "bu", batch: "b", slo_ttft: "st", slo_tpot: "sp",
  token_budget: "tb", max_seqs: "ms", memory_share: "mem", sustained: "clk", price: "usd", data: "d",
  measured: "me", compared: "vs",
};

/** No link is longer (src/config/link/split.rs). */
export const LONGEST_LINK = 128 * 1024;
