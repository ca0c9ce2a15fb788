// Puts the JavaScript module beside the page, with the names that its files have in this build. Its own name never changes,
// because other programs refer to it.
import { readFileSync, readdirSync } from "node:fs";

import { inSource, replaceOnce, write } from "./dist.mjs";
import { names } from "./name.mjs";

// Bundlers find files by literals, and Trunk by tags: both lists of models are written by hand.
const { families } = JSON.parse(readFileSync(inSource("models/manifest.json"), "utf8"));
for (const list of ["index.html", "static/api/rooflight.js"]) {
  const listed = [...readFileSync(inSource(list), "utf8").matchAll(/"(?:\.\/)?models\/(\w+\.onnx)"/g)].map(([, file]) => file);
  const wanted = Object.values(families).map(({ file }) => file);
  if (String(listed.sort()) !== String(wanted.sort())) throw new Error(`${list} lists ${listed}; models/manifest.json has ${wanted}`);
}

for (const file of readdirSync(inSource("static/api"))) {
  let text = readFileSync(inSource(`static/api/${file}`), "utf8");
  if (file === "rooflight.js") {
    for (const name of ["worker.js", "worker_bg.wasm"]) text = replaceOnce(text, `"./${name}"`, `"./${names[name]}"`);
  }
  write(file, text);
}
