// Trunk's minifier cannot read the output of wasm-bindgen, so the scripts that start the modules are minified here.
import { readFileSync, readdirSync } from "node:fs";
import { transformSync } from "esbuild";

import { inDist, read, write } from "./dist.mjs";
import { shortened } from "./imports.mjs";

const glue = readdirSync(inDist("")).filter((name) => /^(page-\w+|worker)\.js$/.test(name));
if (glue.length !== 2) throw new Error(`expected the scripts of two modules, found: ${glue.join(", ")}`);
// Leptos exports classes for streams from servers: what they call is left out of the page (index.html).
const CLASSES = /^export class IntoUnderlying\w+ \{\n[^]*?\n\}\n(?:if \(Symbol\.dispose\).*\n)?|^const IntoUnderlying\w+Finalization = [^]*?;\n/gm;
for (const name of glue) {
  const wasm = name.replace(".js", "_bg.wasm");
  const short = shortened(read(name).replace(CLASSES, ""), readFileSync(inDist(wasm)));
  write(name, transformSync(short.script, { minify: true, format: "esm", legalComments: "none" }).code);
  write(wasm, short.wasm);
}
