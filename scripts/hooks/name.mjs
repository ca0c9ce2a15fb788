// Trunk gives some files no hash, so a browser would run stale ones after a deploy. This names them by their content,
// and renames them in the tags of Trunk.toml, where the page reads them.
import { readFileSync, renameSync } from "node:fs";

import { transformSync } from "esbuild";

import { bundled, hashed, inDist, read, replaceEach, replaceOnce, write } from "./dist.mjs";

write("boot.js", bundled("static/boot/boot.js", "esm"));
write("zh.js", bundled("static/boot/language/zh.js", "iife"));
write("documents.css", transformSync(read("documents.css"), { minify: true, loader: "css" }).code.trim());

/** What each is called now. */
export const names = {};

let html = read("index.html");
// Each wasm before the script that names it.
for (const name of ["boot.js", "first_bg.wasm", "first.js", "worker_bg.wasm", "worker.js", "chart_bg.wasm", "chart.js", "documents.css", "zh.js"]) {
  const wasm = name.replace(".js", "_bg.wasm");
  if (wasm !== name && names[wasm]) write(name, replaceOnce(read(name), wasm, names[wasm]));
  names[name] = name.replace(".", `-${hashed(readFileSync(inDist(name)))}.`);
  html = replaceEach(html, name, names[name]);
  renameSync(inDist(name), inDist(names[name]));
}
write("index.html", html);
