// The API of rooflight.js; docs/api.md is its manual. The values are described in rooflight-types.d.ts.
import type {
  Config,
  Decoded,
  Encoded,
  EngineFacts,
  Failure,
  GpuFacts,
  ModelFacts,
  Options,
  PlanAnswer,
  PlanRequest,
  Prediction,
} from "./rooflight-types.js";

export type * from "./rooflight-types.js";

export interface LoadOptions {
  /** Whether to fetch the learned models; without them `predict` answers rooflines only. Default: true. */
  models?: boolean;
}

export interface PlanOptions {
  /** Every kernel at its ideal instead of the learned efficiencies: needs no models. */
  roofline?: boolean;
  /** Called between two slices of the search with what is known by then. */
  onProgress?: (answer: PlanAnswer) => void;
  /** Ends the search: what was found so far is the answer, with `finished` false. */
  signal?: AbortSignal;
}

/** What `load` rejects with. */
export class RooflightError extends Error {
  readonly failure: Failure;
}

/**
 * Fetches and starts the predictor: about 0.7 MB of WebAssembly, and 0.3 MB of models. Later calls give the same.
 * Rejects with a `RooflightError`, and with nothing else.
 */
export function load(options?: LoadOptions): Promise<Rooflight>;

/** None of these throws: what is wrong with an input stands in `issues`, what else goes wrong in `failure`. */
export interface Rooflight {
  /** The version of the program, which follows the rules of semantic versioning. */
  readonly version: string;
  /** The release of data and weights; null where the models were not loaded. */
  readonly release: string | null;
  /** The answer to a link (whole, or its fragment) or to a configuration. Computes where it is called. */
  predict(config: string | Config, options?: Options): Prediction;
  /**
   * The plans that serve a load within its limits, ranked by cost. Computes where it is called, in slices of 20 ms, some of
   * them longer. Never rejects.
   */
  plan(request: PlanRequest, options?: PlanOptions): Promise<PlanAnswer & { failure?: Failure }>;
  /** The link to a configuration. */
  encodeLink(config: string | Config): Encoded;
  /** The configuration of a link: a whole address, its fragment or its query. */
  decodeLink(link: string): Decoded;
  models(): ModelFacts[];
  gpus(): GpuFacts[];
  engines(): EngineFacts[];
}
