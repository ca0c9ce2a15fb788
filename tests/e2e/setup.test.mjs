// `scripts/setup tools` takes Trunk and wasm-bindgen from a release host when their checksums are right, and builds them otherwise.
// A server on loopback stands in for the host, a stub for cargo.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { listening } from "./server.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), "rooflight-setup-"));
after(() => rmSync(temporary, { recursive: true }));

const platforms = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl", "x86_64-apple-darwin", "aarch64-apple-darwin"];
const archives = { trunk: archive("trunk", ["trunk"]), "wasm-bindgen": archive("wasm-bindgen", ["wasm-bindgen", "wasm-bindgen-test-runner"]) };

/** A release archive of programs that print where they come from. */
function archive(name, programs) {
  const folder = join(temporary, name);
  mkdirSync(folder);
  for (const program of programs) executable(join(folder, program), `echo "${program} downloaded"`);
  return execFileSync("tar", ["-cz", "-C", temporary, name]);
}

function executable(path, script) {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

/** A checkout that pins `versions` of the archives, with checksums of `pinned`. */
function checkout(t, pinned = archives) {
  const folder = mkdtempSync(join(temporary, "checkout-"));
  mkdirSync(join(folder, "scripts"));
  mkdirSync(join(folder, "stubs"));
  for (const name of ["setup", "lib.sh"]) cpSync(join(root, "scripts", name), join(folder, "scripts", name));
  const rows = Object.entries(pinned).flatMap(([name, content]) => {
    const sum = createHash("sha256").update(content).digest("hex");
    return platforms.map((platform) => `${name} 1.2.3 ${platform} ${sum}\n`);
  });
  writeFileSync(join(folder, "scripts/tools.txt"), `# comment\n${rows.join("")}`);
  writeFileSync(join(folder, "Cargo.lock"), '[[package]]\nname = "wasm-bindgen"\nversion = "1.2.3"\n');
  // cargo install --root FOLDER --force [OPTION] CRATE@VERSION
  executable(
    join(folder, "stubs/cargo"),
    `crate=$(eval echo "\\\${$#}"); name=\${crate%%@*}; name=\${name%-cli}; mkdir -p "$3/bin"
     printf '#!/bin/sh\\necho "%s built"\\n' "$name" >"$3/bin/$name"; chmod +x "$3/bin/$name"`,
  );
  const run = async (host) => {
    const env = { ...process.env, PATH: `${folder}/stubs:${process.env.PATH}`, ROOFLIGHT_TOOLS: join(folder, "tools"), ROOFLIGHT_TOOLS_HOST: host };
    const child = spawn(join(folder, "scripts/setup"), ["tools"], { env, stdio: ["ignore", "inherit", "pipe"] });
    let messages = "";
    child.stderr.on("data", (text) => (messages += text));
    const code = await new Promise((ended) => child.on("close", ended));
    assert.equal(code, 0, messages);
    return messages;
  };
  const origin = (name, tool = name) => execFileSync(join(folder, `tools/${tool}-1.2.3/bin`, name), { encoding: "utf8" }).trim().split(" ")[1];
  return { run, origin, left: (path) => existsSync(join(folder, "tools", path)) };
}

/** A host of the archives; `asked` are the paths of requests. */
async function releaseHost(t) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    const name = /^\/(trunk-rs\/trunk|wasm-bindgen\/wasm-bindgen)\/releases\/download\/v?1\.2\.3\/.*\.tar\.gz$/.exec(request.url)?.[1].split("/")[1];
    response.writeHead(name ? 200 : 404);
    response.end(name && archives[name]);
  });
  const { url, stop } = await listening(server, "");
  t.after(stop);
  return { url, asked };
}

test("right archives are installed, once", async (t) => {
  const { url, asked } = await releaseHost(t);
  const { run, origin } = checkout(t);
  assert.equal(await run(url), "Downloading trunk 1.2.3\nDownloading wasm-bindgen 1.2.3\n");
  assert.equal(origin("trunk"), "downloaded");
  assert.equal(origin("wasm-bindgen"), "downloaded");
  assert.equal(origin("wasm-bindgen-test-runner", "wasm-bindgen"), "downloaded");
  assert.equal(asked.length, 2);
  assert.equal(await run(url), "", "a second run has nothing to do");
  assert.equal(asked.length, 2);
});

test("an archive with a wrong checksum is refused by name, and the tool is built", async (t) => {
  const { url } = await releaseHost(t);
  const { run, origin, left } = checkout(t, { ...archives, trunk: Buffer.from("another archive") });
  const messages = await run(url);
  assert.match(messages, /REFUSED: the archive of trunk 1\.2\.3/);
  assert.equal(origin("trunk"), "built");
  assert.equal(origin("wasm-bindgen"), "downloaded");
  assert.ok(!left("trunk-1.2.3.part"), "what was refused is gone");
});

test("without a host the tools are built", async (t) => {
  const { run, origin } = checkout(t);
  const messages = await run("http://127.0.0.1:1");
  assert.match(messages, /Building trunk 1\.2\.3/);
  assert.deepEqual([origin("trunk"), origin("wasm-bindgen")], ["built", "built"]);
});

test("a version without checksums is built, and nothing is downloaded", async (t) => {
  const { url, asked } = await releaseHost(t);
  const { run, origin } = checkout(t, { trunk: archives.trunk });
  assert.match(await run(url), /no checksum of wasm-bindgen 1\.2\.3/);
  assert.equal(origin("wasm-bindgen"), "built");
  assert.equal(asked.length, 1);
});

test("Trunk has a checksum on every platform", () => {
  const rows = readFileSync(join(root, "scripts/tools.txt"), "utf8").split("\n").filter((line) => line && !line.startsWith("#"));
  for (const row of rows) assert.match(row, /^\S+ [\d.]+ \S+ [0-9a-f]{64}$/);
  for (const platform of ["x86_64-unknown-linux", "aarch64-unknown-linux", "x86_64-apple-darwin", "aarch64-apple-darwin"]) {
    assert.ok(rows.some((row) => row.startsWith("trunk ") && row.includes(platform)), platform);
  }
});
