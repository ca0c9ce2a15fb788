// Makes an npm package of the JavaScript module from the built page: `node scripts/package.mjs [dist] [npm]`.
// It holds the module, its types, the wasm it calls, and another for Node (`scripts/node`), and the models; `npm pack` or
// `npm publish` in it do the rest.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const { version, license } = JSON.parse(readFileSync(join(root, "package.json")));

/** What Node loads of the package. */
export const IN_NODE = "node/rooflight.js";

/** Where `scripts/node` leaves the worker for it. */
const built = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "node");

/** Makes the package `folder` from the build `dist`; what was there before is gone. */
export function makePackage(dist, folder) {
  const files = readdirSync(dist).filter((name) => /^(rooflight[.-]|worker[-_]|models$)/.test(name));
  if (!files.includes("rooflight.js")) throw new Error(`${dist} holds no rooflight.js: build the page first`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // Only the page's own worker reads the evidence.
  const filter = (source) => !source.endsWith("evidence.json");
  for (const name of files) cpSync(join(dist, name), join(folder, name), { recursive: true, filter });
  addNode(folder);
  cpSync(join(root, "docs/api.md"), join(folder, "README.md"));
  for (const name of ["LICENSE", "NOTICE"]) cpSync(join(root, name), join(folder, name));
  const manifest = {
    name: "rooflight",
    version,
    description: "Predicts how fast a language model will serve: TTFT, TPOT and throughput",
    license,
    type: "module",
    // Older than the version that builds it: `ROOFLIGHT_NODE=... node --test tests/e2e/api.test.mjs` tries it in another Node.
    engines: { node: ">=18" },
    exports: { ".": { types: "./rooflight.d.ts", node: `./${IN_NODE}`, default: "./rooflight.js" } },
    files: [...files, "node", "NOTICE"],
    sideEffects: false,
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Adds the same module with the faster worker: it is twice as large, which matters only for downloads. */
function addNode(folder) {
  if (!existsSync(built)) throw new Error("the worker for Node is missing: run scripts/node first");
  mkdirSync(join(folder, "node"));
  for (const name of readdirSync(built)) cpSync(join(built, name), join(folder, "node", name));
  const module = readFileSync(join(folder, "rooflight.js"), "utf8");
  const moved = module.replace(/"\.\/(worker|worker_bg)-\w+\./g, '"./$1.').replaceAll('"./models/', '"../models/');
  writeFileSync(join(folder, IN_NODE), moved);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [dist = join(root, "dist"), folder = join(root, "npm")] = process.argv.slice(2);
  makePackage(dist, folder);
  console.log(folder);
}
