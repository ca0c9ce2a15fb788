// Makes an npm package of the JavaScript module from the built page: `node scripts/package.mjs [dist] [npm]`.
// It holds the module, its types, the wasm it calls and the models; `npm pack` or `npm publish` in it do the rest.
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const { version, license } = JSON.parse(readFileSync(join(root, "package.json")));

/** Makes the package `folder` from the build `dist`; what was there before is gone. */
export function makePackage(dist, folder) {
  const files = readdirSync(dist).filter((name) => /^(rooflight[.-]|worker[-_]|models$)/.test(name));
  if (!files.includes("rooflight.js")) throw new Error(`${dist} holds no rooflight.js: build the page first`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of files) cpSync(join(dist, name), join(folder, name), { recursive: true });
  cpSync(join(root, "docs/api.md"), join(folder, "README.md"));
  for (const name of ["LICENSE", "NOTICE"]) cpSync(join(root, name), join(folder, name));
  const manifest = {
    name: "rooflight",
    version,
    description: "Predicts how fast a language model will serve: TTFT, TPOT and throughput",
    license,
    type: "module",
    // Older than what builds it: `ROOFLIGHT_NODE=... node --test tests/e2e/api.test.mjs` tries it in another Node.
    engines: { node: ">=18" },
    exports: { ".": { types: "./rooflight.d.ts", default: "./rooflight.js" } },
    files: [...files, "NOTICE"],
    sideEffects: false,
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [dist = join(root, "dist"), folder = join(root, "npm")] = process.argv.slice(2);
  makePackage(dist, folder);
  console.log(folder);
}
