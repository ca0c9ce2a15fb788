// Trunk gives some files no hash, so a browser would run stale ones after a deploy. This names them by their content,
// and renames them in the tags of Trunk.toml, where the page reads them.
import { readFileSync, renameSync } from "node:fs";

import { bundled, hashed, inDist, read, replaceEach, replaceOnce, write } from "./dist.mjs";

write("boot.js", bundled("static/boot/boot.js", "esm"));

/** The new name of each file. */
export const names = {};

let html = read("index.html");
// Each wasm before the script that names it.
for (const name of ["boot.js", "worker_bg.wasm", "worker.js"]) {
  const wasm = name.replace(".js", "_bg.wasm");
  if (wasm !== name && names[wasm]) write(name, replaceOnce(read(name), wasm, names[wasm]));
  names[name] = name.replace(".", `-${hashed(readFileSync(inDist(name)))}.`);
  html = replaceEach(html, name, names[name]);
  renameSync(inDist(name), inDist(names[name]));
}
write("index.html", html);
