// The service worker of a built page: static/boot/sw.js with the list of the page's files, each with its hash.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { HASH, NAMED } from "./named.mjs";

/** Files that the page and its frames load; files for other programs, for hosts and for previews of links are not cached. */
const PARTS = /^(index|embed)\.html$|^models\/[\w.]+$/;

function files(folder, below = "") {
  return readdirSync(join(folder, below)).flatMap((name) => {
    const path = below + name;
    return statSync(join(folder, path)).isDirectory() ? files(folder, `${path}/`) : [path];
  });
}

const sha256 = (content, form) => createHash("sha256").update(content).digest(form);

/** sw.js for the page that lies in `folder`. */
export function listed(folder) {
  const list = files(folder)
    .filter((name) => PARTS.test(name) || (NAMED.test(name) && !name.includes("/")))
    .sort()
    .map((name) => {
      const content = readFileSync(join(folder, name));
      // Models are requested by a part of their content hash.
      const asked = name.endsWith(".onnx") ? `${name}?${sha256(content, "hex").slice(0, HASH)}` : name;
      return [asked, `sha256-${sha256(content, "base64")}`];
    });
  const FILES = JSON.stringify(Object.fromEntries(list));
  const define = { VERSION: JSON.stringify(sha256(FILES, "hex").slice(0, HASH)), NAMED: JSON.stringify(NAMED.source), FILES };
  const source = readFileSync(new URL("../../static/boot/sw.js", import.meta.url), "utf8");
  return transformSync(source, { minify: true, define, legalComments: "none" }).code;
}
