// Puts the JavaScript module beside the page, with the names that its files have in this build. Its own name never changes,
// because other programs refer to it.
import { readFileSync, readdirSync } from "node:fs";

import { inSource, replaceOnce, write } from "./dist.mjs";
import { names } from "./name.mjs";

for (const file of readdirSync(inSource("static/api"))) {
  let text = readFileSync(inSource(`static/api/${file}`), "utf8");
  if (file === "rooflight.js") {
    for (const name of ["worker.js", "worker_bg.wasm"]) text = replaceOnce(text, `"./${name}"`, `"./${names[name]}"`);
  }
  write(file, text);
}
