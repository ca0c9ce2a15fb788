// Prints what the built page weighs and fails above the budgets of gates.json: `node scripts/sizes.mjs dist`.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const gates = JSON.parse(readFileSync(new URL("gates.json", import.meta.url)));
const dist = process.argv[2] ?? "dist";

function files(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

// The shell is all that is fetched before the first number: whatever is neither page, worker, chart nor model, nor for frames,
// others' pages and programs, visits without a network, previews and another language. tests/e2e/first.test.mjs holds the
// browser to it.
const page = /(^|\/)page-\w+(_bg\.wasm|\.js)$/;
const afterPage = /(^|\/)(worker|chart|documents|zh)[-_]|\.onnx$|^models\/|^embed[-.]|^roof-light\.js$|^rooflight|^sw\.js$|^card\.png$|^_headers$/;

// Pages of their own, which the page never loads.
const apart = /^presets\//;

const rows = files(dist).filter((path) => !apart.test(relative(dist, path))).map((path) => {
  const content = readFileSync(path);
  const name = relative(dist, path);
  return {
    name,
    shell: !page.test(name) && !afterPage.test(name),
    page: !afterPage.test(name),
    raw: content.length,
    gzip: gzipSync(content, { level: 9 }).length,
    brotli: brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }).length,
  };
});
rows.sort((a, b) => b.shell - a.shell || b.page - a.page || b.raw - a.raw);

function total(name, some) {
  const sum = (key) => some.reduce((bytes, row) => bytes + row[key], 0);
  return { name, raw: sum("raw"), gzip: sum("gzip"), brotli: sum("brotli") };
}
const shell = total("shell", rows.filter((row) => row.shell));
const standing = total("until the page stands", rows.filter((row) => row.page));
const all = total("everything", rows);

const width = Math.max(...[...rows, standing].map((row) => row.name.length));
const line = ({ name, raw, gzip, brotli }) =>
  name.padEnd(width) + [raw, gzip, brotli].map((bytes) => (bytes / 1000).toFixed(1).padStart(10)).join("");
console.log("kB".padEnd(width) + ["raw", "gzip", "brotli"].map((head) => head.padStart(10)).join(""));
for (const row of [...rows, shell, standing, all]) console.log(line(row));

const budgets = [
  ["shell, gzip", shell.gzip, gates.shell_gzip_bytes],
  ["until the page stands, gzip", standing.gzip, gates.page_gzip_bytes],
  ["everything, brotli", all.brotli, gates.learned_brotli_bytes],
];
for (const [what, bytes, budget] of budgets) {
  console.log(`${what}: ${(bytes / 1000).toFixed(1)} of ${budget / 1000} kB${bytes > budget ? ": TOO LARGE" : ""}`);
  if (bytes > budget) process.exitCode = 1;
}
// Half a page would keep every budget.
for (const part of [/^first.*\.wasm$/, /^page.*\.wasm$/, /^worker.*\.wasm$/, /^chart.*\.wasm$/, /\.onnx$/]) {
  if (rows.some((row) => part.test(row.name))) continue;
  console.log(`nothing in ${dist} matches ${part}: a part of the page is missing`);
  process.exitCode = 1;
}
