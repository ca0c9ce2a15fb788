// Makes the glue between JavaScript and wasm small: short names in both, and the JavaScript minified.
// wasm-bindgen names each import and export by what it does and a hash, 40 to 70 bytes in each file, and Trunk's
// own minifier does not read its modules.
import { transformSync } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const IMPORTS = 2;
const EXPORTS = 7;
const utf8 = new TextDecoder();

/** Reads a section from its first byte on; `copied(from)` are the bytes read since. */
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  byte() {
    return this.bytes[this.at++];
  }

  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  take(length) {
    return this.bytes.subarray(this.at, (this.at += length));
  }

  name() {
    return utf8.decode(this.take(this.number()));
  }

  limits() {
    if (this.byte() & 1) this.number();
    this.number();
  }

  /** What an import is, after its name. */
  kind() {
    const from = this.at;
    const kind = this.byte();
    if (kind === 0) this.number();
    else if (kind === 1) this.byte(), this.limits();
    else if (kind === 2) this.limits();
    else if (kind === 3) this.take(2);
    else throw new Error(`an import of kind ${kind}`);
    return this.bytes.subarray(from, this.at);
  }
}

function leb(value) {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value % 0x80) + 0x80);
  return Buffer.from([...bytes, value]);
}

function named(text) {
  const bytes = Buffer.from(text);
  return Buffer.concat([leb(bytes.length), bytes]);
}

/** The same wasm with every import and export renamed by `rename`. */
function renamed(wasm, rename) {
  const sections = { [IMPORTS]: imports, [EXPORTS]: exports };
  const reader = new Reader(wasm);
  const out = [reader.take(8)];
  while (reader.at < wasm.length) {
    const id = reader.byte();
    const content = reader.take(reader.number());
    const written = sections[id]?.(new Reader(content), rename) ?? content;
    out.push(Buffer.from([id]), leb(written.length), written);
  }
  return Buffer.concat(out);
}

function imports(reader, rename) {
  const count = reader.number();
  const out = [leb(count)];
  for (let left = count; left > 0; left--) out.push(named(reader.name()), named(rename(reader.name())), reader.kind());
  return Buffer.concat(out);
}

function exports(reader, rename) {
  const count = reader.number();
  const out = [leb(count)];
  for (let left = count; left > 0; left--) out.push(named(rename(reader.name())), reader.take(1), leb(reader.number()));
  return Buffer.concat(out);
}

const dist = process.env.TRUNK_STAGING_DIR;
for (const file of readdirSync(dist).filter((file) => file.endsWith("_bg.wasm"))) {
  const paths = { wasm: join(dist, file), js: join(dist, file.replace("_bg.wasm", ".js")) };
  let js = readFileSync(paths.js, "utf8");
  const short = new Map();
  const wasm = renamed(readFileSync(paths.wasm), (name) => {
    // Others are few, and short already.
    if (!/^(__wb|wasm_bindgen__|__externref)/.test(name)) return name;
    if (!short.has(name)) short.set(name, `$${short.size.toString(36)}`);
    return short.get(name);
  });
  js = js.replace(/[\w$]+/g, (word) => short.get(word) ?? word);
  writeFileSync(paths.wasm, wasm);
  writeFileSync(paths.js, transformSync(js, { minify: true, format: "esm", legalComments: "none" }).code);
}
