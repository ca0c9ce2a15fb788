// Trunk's minifier cannot read the output of wasm-bindgen, so the scripts that start the modules are minified here.
import { readdirSync } from "node:fs";
import { transformSync } from "esbuild";

import { inDist, read, write } from "./dist.mjs";

const glue = readdirSync(inDist("")).filter((name) => /^(page-\w+|worker)\.js$/.test(name));
if (glue.length !== 2) throw new Error(`expected the scripts of two modules, found: ${glue.join(", ")}`);
// Leptos exports classes for streams from servers: what they call is left out of the page (index.html).
const CLASSES = /^export class IntoUnderlying\w+ \{\n[^]*?\n\}\n(?:if \(Symbol\.dispose\).*\n)?|^const IntoUnderlying\w+Finalization = [^]*?;\n/gm;
for (const name of glue) write(name, transformSync(read(name).replace(CLASSES, ""), { minify: true, format: "esm", legalComments: "none" }).code);
