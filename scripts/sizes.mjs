// Prints the size of the built page, and fails if it is above the budgets of gates.json: `node scripts/sizes.mjs dist`.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const gates = JSON.parse(readFileSync(new URL("gates.json", import.meta.url)));
const dist = process.argv[2] ?? "dist";

// `trunk serve` adds a script that breaks the page's content security policy.
if (/<script(?![^>]*src=)/.test(readFileSync(join(dist, "index.html"), "utf8"))) {
  console.log(`${dist}/index.html holds an inline script, as \`trunk serve\` writes with automatic reload: build it anew`);
  process.exit(1);
}

function files(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

// The page is all that is fetched until the form answers; the rest is the worker and its models, or for visits without a network and
// previews.
const later = /^(worker[-_]|models\/|sw\.js$|card\.png$|_headers$)/;

// Pages of their own, and frames and programs, which the page never loads; the evidence, which it loads when that is asked for; and
// types, which compilers read and no browser.
const apart = /^(presets|docs)\/|\.d\.ts$|^(embed[-.]|roof-light\.js$|rooflight|models\/evidence\.json$)/;

const rows = files(dist).filter((path) => !apart.test(relative(dist, path))).map((path) => {
  const content = readFileSync(path);
  const name = relative(dist, path);
  return {
    name,
    page: !later.test(name),
    raw: content.length,
    gzip: gzipSync(content, { level: 9 }).length,
    brotli: brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }).length,
  };
});
rows.sort((a, b) => b.page - a.page || b.raw - a.raw);

function total(name, some) {
  const sum = (key) => some.reduce((bytes, row) => bytes + row[key], 0);
  return { name, raw: sum("raw"), gzip: sum("gzip"), brotli: sum("brotli") };
}
const page = total("until the form answers", rows.filter((row) => row.page));
const all = total("for the learned answer", rows);

const width = Math.max(...[...rows, page].map((row) => row.name.length));
const line = ({ name, raw, gzip, brotli }) =>
  name.padEnd(width) + [raw, gzip, brotli].map((bytes) => (bytes / 1000).toFixed(1).padStart(10)).join("");
console.log("kB".padEnd(width) + ["raw", "gzip", "brotli"].map((head) => head.padStart(10)).join(""));
for (const row of [...rows, page, all]) console.log(line(row));

const budgets = [
  ["until the form answers, gzip", page.gzip, gates.page_gzip_bytes],
  ["for the learned answer, brotli", all.brotli, gates.learned_brotli_bytes],
];
for (const [what, bytes, budget] of budgets) {
  console.log(`${what}: ${(bytes / 1000).toFixed(1)} of ${budget / 1000} kB${bytes > budget ? ": TOO LARGE" : ""}`);
  if (bytes > budget) process.exitCode = 1;
}
// An incomplete page would pass every budget.
for (const part of [/^page.*\.wasm$/, /^worker.*\.wasm$/, /\.onnx$/]) {
  if (rows.some((row) => part.test(row.name))) continue;
  console.log(`nothing in ${dist} matches ${part}: a part of the page is missing`);
  process.exitCode = 1;
}
