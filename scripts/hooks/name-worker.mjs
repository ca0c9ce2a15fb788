// Trunk gives the files of the worker and the chart no hash, so a browser would run stale ones after a deploy. This
// names them by their content, and renames them in the script tag of Trunk.toml, where the page reads them.
// First: names follow content.
import "./shrink.mjs";

import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const dist = process.env.TRUNK_STAGING_DIR;
const index = join(dist, "index.html");
let html = readFileSync(index, "utf8");

for (const name of ["worker.js", "worker_bg.wasm", "chart.js", "chart_bg.wasm", "documents.css"]) {
  if (html.split(name).length !== 2) throw new Error(`index.html should name ${name} exactly once`);
  const content = readFileSync(join(dist, name));
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 16);
  const named = name.replace(".", `-${hash}.`);
  html = html.replace(name, named);
  renameSync(join(dist, name), join(dist, named));
}
writeFileSync(index, html);
