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
  /** Whether to fetch the learned models; without them `predict` only gives rooflines. Default: true. */
  models?: boolean;
}

export interface PlanOptions {
  /** Uses ideal kernel times instead of learned efficiencies: needs no models. */
  roofline?: boolean;
  /** Called between slices of the search with the current results. */
  onProgress?: (answer: PlanAnswer) => void;
  /** Ends the search with the results so far, with `finished` false. */
  signal?: AbortSignal;
}

/** The error of `load`. */
export class RooflightError extends Error {
  readonly failure: Failure;
}

/**
 * Fetches and starts the predictor: 1.2 MB of WebAssembly and 0.4 MB of models (with Brotli). Later calls return the same object.
 * Only rejects with a `RooflightError`.
 */
export function load(options?: LoadOptions | null): Promise<Rooflight>;

/** None of these throws: problems with the input are in `issues`, other problems in `failure`. Only `plan` may reject. */
export interface Rooflight {
  /** The version of the program (semantic versioning). */
  readonly version: string;
  /** The release of data and weights; null if the models are not loaded. */
  readonly release: string | null;
  /** Predicts a link (whole, or its fragment) or a configuration, on the calling thread. */
  predict(config: string | Config, options?: Options | null): Prediction;
  /**
   * The plans that serve a load within its limits, ranked by cost. Runs on the calling thread, in slices of about 20 ms.
   * Only rejects with what `onProgress` throws.
   */
  plan(request: PlanRequest, options?: PlanOptions | null): Promise<PlanAnswer & { failure?: Failure }>;
  /** The link to a configuration. */
  encodeLink(config: string | Config): Encoded;
  /** The configuration of a link: a whole address, its fragment or its query. */
  decodeLink(link: string): Decoded;
  models(): ModelFacts[];
  gpus(): GpuFacts[];
  engines(): EngineFacts[];
}
