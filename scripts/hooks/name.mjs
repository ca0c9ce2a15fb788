// Trunk gives some files no hash, so a browser would run stale ones after a deploy. This names them by their content,
// and renames them in the script tag of Trunk.toml, where the page reads them.
import { readFileSync, renameSync } from "node:fs";

import { transformSync } from "esbuild";

import { hashed, inDist, read, replaceOnce, write } from "./dist.mjs";

write("boot.js", transformSync(read("boot.js"), { minify: true, format: "esm" }).code.trim());

let html = read("index.html");
for (const name of ["boot.js", "worker.js", "worker_bg.wasm", "chart.js", "chart_bg.wasm", "documents.css"]) {
  const named = name.replace(".", `-${hashed(readFileSync(inDist(name)))}.`);
  html = replaceOnce(html, name, named);
  renameSync(inDist(name), inDist(named));
}
write("index.html", html);
