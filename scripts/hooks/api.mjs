// Puts the JavaScript module beside the page, with the names that its files have in this build. Its own name never changes,
// because other programs refer to it.
import { readFileSync, readdirSync } from "node:fs";

import { inSource, read, replaceOnce, write } from "./dist.mjs";
import { names } from "./name.mjs";

/** The model files as literals, by which bundlers find them. */
function modelFiles() {
  const { families } = JSON.parse(read("models/manifest.json"));
  const files = Object.values(families).map(({ file }) => `  "${file}": new URL("./models/${file}", import.meta.url),\n`);
  return `const modelFiles = {\n${files.join("")}};`;
}

for (const file of readdirSync(inSource("static/api"))) {
  let text = readFileSync(inSource(`static/api/${file}`), "utf8");
  if (file === "rooflight.js") {
    text = replaceOnce(text, "const modelFiles = {};", modelFiles());
    for (const name of ["worker.js", "worker_bg.wasm"]) text = replaceOnce(text, `"./${name}"`, `"./${names[name]}"`);
  }
  write(file, text);
}
