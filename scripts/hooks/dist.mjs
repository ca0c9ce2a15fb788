// The folder of the build while hooks work on it, and functions that they share.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { HASH } from "./named.mjs";

const dist = process.env.TRUNK_STAGING_DIR;

export const inDist = (name) => join(dist, name);
export const inSource = (name) => new URL(`../../${name}`, import.meta.url);

/** A file of the build: `read("index.html")`, `write("index.html", text)`. */
export const read = (name) => readFileSync(inDist(name), "utf8");
export const write = (name, content) => writeFileSync(inDist(name), content);

export const hashed = (content) => createHash("sha256").update(content).digest("hex").slice(0, HASH);

/** A script or style of the checkout with what it imports, minified. `format` is that of esbuild: "esm", "iife". */
export function bundled(name, format) {
  const options = { entryPoints: [fileURLToPath(inSource(name))], bundle: true, minify: true, format, legalComments: "none" };
  return buildSync({ ...options, write: false, logLevel: "error" }).outputFiles[0].text.trim();
}

/** `text` with every occurrence of `found` replaced; fails if there is none, since the build is then not the expected one. */
export function replaceEach(text, found, by) {
  if (!text.includes(found)) throw new Error(`expected in the built page, and not found: ${found}`);
  return text.replaceAll(found, by);
}

/** `text` with its only occurrence of `found` replaced; fails if there is not exactly one. */
export function replaceOnce(text, found, by) {
  const parts = text.split(found);
  if (parts.length !== 2) throw new Error(`expected once in the built page, found ${parts.length - 1} times: ${found}`);
  return parts.join(by);
}

/** A page without scripts, in a folder. `head` is additional HTML for its head. */
export const plainPage = ({ title, style, head = "", body }) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${head}<title>${title} | Rooflight</title>
<link rel="icon" href="../${/icon-\w+\.svg/.exec(read("index.html"))}">
<link rel="stylesheet" href="${style}">
</head>
<body>
${body}
</body>
</html>
`;
