// Puts the models beside their manifest, and reduces data to what the page reads: unread fields, line breaks, and digits that are
// never shown are left out.
import { copyFileSync } from "node:fs";

import { inDist, inSource, read, write } from "./dist.mjs";
import { HASH } from "./named.mjs";

/** Errors are shown with at most three digits. */
const DIGITS = 5;
/** And so are the times of cases. */
const SHOWN = 3;

const rounded = (key, value) => (typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value);

/** The fields of a model and of its errors that src/efficiency/manifest.rs reads: the rest is only used in training. */
const RECORD = ["file", "bytes", "sha256", "schema_version", "features", "rows", "trained_on", "errors", "hull", "interval_80"];
const ERRORS = ["rows", "mean", "median", "p90", "bias", "roofline_mean"];

const only = (keys, of) => Object.fromEntries(keys.filter((key) => key in of).map((key) => [key, of[key]]));
const each = (of, change) => Object.fromEntries(Object.entries(of).map(([key, value]) => [key, change(value)]));

const manifest = JSON.parse(read("models/manifest.json"));
for (const { file } of Object.values(manifest.families)) copyFileSync(inSource(`models/${file}`), inDist(`models/${file}`));
/** A part of the hash tells versions apart in the address; the service worker checks the whole. */
const record = (of) => ({ ...only(RECORD, of), sha256: of.sha256.slice(0, HASH), errors: each(of.errors ?? {}, (errors) => errors && only(ERRORS, errors)) });
write("models/manifest.json", JSON.stringify({ ...manifest, families: each(manifest.families, record) }));

// A case is identified by its link; its origin is for readers of the file in the repository, and its clients are in the link.
const evidence = JSON.parse(read("models/evidence.json"), rounded);
const shown = (values) => values.map((value) => (value === null ? null : Number(value.toPrecision(SHOWN))));
const points = evidence.points.map(({ id, clients, predicted, measured, ...point }) => ({ ...point, predicted: shown(predicted), measured: shown(measured) }));
write("models/evidence.json", JSON.stringify({ ...evidence, points }));
