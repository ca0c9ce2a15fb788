// Rooflight as a module: the page's predictor as functions, for pages, bundles and Node. docs/api.md is the manual,
// rooflight.d.ts has the types. The build inserts the names of files (scripts/hooks/api.mjs).
import init, * as wasm from "./worker.js";

// Bundlers find files by such literals, so the build writes one for each model of the manifest.
const wasmFile = new URL("./worker_bg.wasm", import.meta.url);
const manifestFile = new URL("./models/manifest.json", import.meta.url);
const modelFiles = {};

/** The error of `load`. `failure` has the kind. */
export class RooflightError extends Error {
  constructor(kind, text, options) {
    super(text, options);
    this.name = "RooflightError";
    this.failure = { kind, text };
  }
}

/** The content of a file; Node has no `fetch` for files. */
async function content(url, options) {
  const unreachable = (why, cause) => new RooflightError("unreachable", `${url}: ${why}`, { cause });
  if (url.protocol === "file:") {
    // Not a literal, or web bundlers would look for it.
    const fs = "node:fs/promises";
    const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ fs);
    return readFile(url).catch((error) => {
      throw unreachable(error.code ?? error, error);
    });
  }
  const response = await fetch(url, options).catch((error) => {
    throw unreachable("not reachable", error);
  });
  if (!response.ok) throw unreachable(`status ${response.status}`);
  const buffer = await response.arrayBuffer().catch((error) => {
    throw unreachable("broken off", error);
  });
  return new Uint8Array(buffer);
}

/** Starts the wasm, once. */
async function start() {
  const bytes = await content(wasmFile);
  try {
    await init({ module_or_path: bytes });
  } catch (error) {
    throw new RooflightError("damaged", `${wasmFile}: ${error.message}`, { cause: error });
  }
}

/** The manifest's text, and the models it names. */
async function fetchModels() {
  // Files of an older release may be cached: the manifest is revalidated, the models are requested by content hash.
  const manifest = new TextDecoder().decode(await content(manifestFile, { cache: "no-cache" }));
  let records;
  try {
    records = Object.values(JSON.parse(manifest).families).map(({ file, sha256 }) => [file, sha256]);
  } catch (error) {
    throw new RooflightError("damaged", `${manifestFile}: ${error.message}`, { cause: error });
  }
  const files = records.map(async ([file, sha256]) => {
    const url = modelFiles[file];
    if (!url) throw new RooflightError("damaged", `${manifestFile} names ${file}, which this release does not have`);
    if (url.protocol.startsWith("http")) url.search = sha256;
    return [file, await content(url)];
  });
  return [manifest, new Map(await Promise.all(files))];
}

let started;
let loaded;

/** Starts the wasm and loads the models. The next call retries what failed. */
export async function load(options) {
  const { models = true } = options ?? {};
  const starting = (started ??= start().catch((error) => {
    started = undefined;
    throw error;
  }));
  const loading = models && (loaded ??= fetchModels());
  try {
    const [, fetched] = await Promise.all([starting, loading]);
    if (fetched && wasm.release() === undefined) {
      const failure = wasm.loadModels(...fetched);
      if (failure) throw new RooflightError(failure.kind, failure.text);
    }
  } catch (error) {
    if (models) loaded = undefined;
    throw error;
  }
  return rooflight;
}

/** As JSON; values that JSON lacks become text, so they are refused by name rather than dropped. */
function json(value) {
  const spelled = (_, part) => {
    const plain = typeof part !== "number" || Number.isFinite(part);
    return plain && !["bigint", "function", "symbol"].includes(typeof part) ? part : String(part);
  };
  return JSON.stringify(value, spelled);
}

/** Checks that a link is text. */
function address(link) {
  if (typeof link !== "string") throw new TypeError("a link is text");
  return link;
}

/** A link unchanged, an object as JSON. */
function text(config) {
  if (typeof config === "string") return config;
  const isObject = typeof config === "object" && config !== null && !Array.isArray(config);
  if (!isObject) throw new TypeError("expected a link or an object");
  return json(config);
}

const unread = (error) => ({ field: "link", severity: "error", text: `the input cannot be read: ${error.message}` });

/** Calls into the wasm: both input errors and bugs are returned as values. */
function guarded(input, call, otherwise) {
  let given;
  try {
    given = input();
  } catch (error) {
    return { ...otherwise, issues: [unread(error)] };
  }
  try {
    return call(...given);
  } catch (error) {
    return { ...otherwise, issues: [], failure: { kind: "defect", text: String(error) } };
  }
}

/** Milliseconds per slice of a search: the longest that other work on the thread waits. */
const SLICE = 20;

/** Searches in slices, so that other work and aborts run in between. */
async function plan(request, given) {
  const { onProgress, signal, ...options } = given ?? {};
  const otherwise = { plans: [], nearest: null, others: [], counts: {}, finished: true };
  let planner;
  const begun = guarded(
    () => [text(request), json(options)],
    (...texts) => {
      planner = new wasm.Planner(...texts);
      return { issues: [] };
    },
    otherwise,
  );
  if (!planner) return begun;
  let thrown;
  const report = (answer) => {
    try {
      onProgress?.(answer);
    } catch (error) {
      thrown = { error };
    }
  };
  try {
    while (!thrown && !signal?.aborted && planner.step(SLICE)) {
      report(planner.answer());
      await new Promise((go) => setTimeout(go));
    }
    const failure = planner.failure();
    const answer = failure ? { ...planner.answer(), failure } : planner.answer();
    planner.free();
    if (!thrown) return answer;
  } catch (error) {
    // A planner that stopped midway cannot be freed.
    return { ...otherwise, issues: [], failure: { kind: "defect", text: String(error) } };
  }
  // What the caller's own function throws is no defect of the search.
  throw thrown.error;
}

const rooflight = {
  get version() {
    return wasm.version();
  },
  get release() {
    return wasm.release() ?? null;
  },
  predict: (config, options) =>
    guarded(() => [text(config), json(options ?? {})], wasm.predict, { link: "", report: null }),
  plan,
  encodeLink: (config) => guarded(() => [text(config)], wasm.encodeLink, { link: "" }),
  decodeLink: (link) => guarded(() => [address(link)], wasm.decodeLink, { config: {} }),
  models: () => wasm.models(),
  gpus: () => wasm.gpus(),
  engines: () => wasm.engines(),
};
