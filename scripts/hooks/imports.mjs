// wasm-bindgen ends the name of each function that a module imports with a hash of 16 digits. These are random, so they are not
// compressed, and stand in the module and in its script: short names in both save 7 kB of the page.
const NAMES = /__wbg_\w+_[0-9a-f]{16}/g;

/** The script and the module (a buffer) with these names shortened alike. */
export function shortened(script, wasm) {
  const names = new Map([...new Set(script.match(NAMES))].sort().map((name, at) => [name, `i${at}`]));
  return { script: script.replace(NAMES, (name) => names.get(name)), wasm: renamed(wasm, names) };
}

/** A number as WebAssembly writes it (LEB128). */
function number(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return Buffer.from([...bytes, value]);
}

/** The module with other names of its imports. */
function renamed(wasm, names) {
  let at = 8;
  const read = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = wasm[at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  };
  const text = () => {
    const length = read();
    at += length;
    return wasm.toString("utf8", at - length, at);
  };
  const IMPORTS = 2;
  while (at < wasm.length) {
    const section = at;
    const id = wasm[at++];
    const length = read();
    const end = at + length;
    if (id !== IMPORTS) {
      at = end;
      continue;
    }
    const count = read();
    const parts = [number(count)];
    for (let entry = 0; entry < count; entry++) {
      const [module, name] = [text(), text()];
      for (const part of [module, names.get(name) ?? name]) parts.push(number(Buffer.byteLength(part)), Buffer.from(part));
      const from = at;
      // A function's type; tables and memories are the module's own.
      if (wasm[at++] !== 0) throw new Error(`expected only functions among the imports, found ${module}.${name}`);
      read();
      parts.push(wasm.subarray(from, at));
    }
    const content = Buffer.concat(parts);
    return Buffer.concat([wasm.subarray(0, section), Buffer.from([IMPORTS]), number(content.length), content, wasm.subarray(end)]);
  }
  throw new Error("expected a module with imports");
}
