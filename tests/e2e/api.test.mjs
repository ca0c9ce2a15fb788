// The JavaScript module: in a plain page, in a bundle and in Node it answers as the native tool does, and whatever is
// wrong is a value.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "vite";

import { IN_NODE, makePackage } from "../../scripts/package.mjs";
import { path, start } from "./browser.mjs";
import { serve, servePages } from "./server.mjs";

const gates = JSON.parse(readFileSync(path("scripts/gates.json")));
const project = mkdtempSync(join(tmpdir(), "rooflight-api-"));
const installed = join(project, "node_modules/rooflight");

let browser, url, stop;

before(async () => {
  install();
  ({ browser, url, stop } = await start());
});
/** Packs the package, and installs it in the empty project as anyone would. */
function install() {
  const folder = join(project, "package");
  makePackage(process.env.DIST ?? path("dist"), folder);
  const npm = (cwd, ...words) => execFileSync("npm", [...words, "--silent"], { cwd, encoding: "utf8" }).trim();
  const archive = npm(folder, "pack", "--pack-destination", project);
  rmSync(folder, { recursive: true });
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  npm(project, "install", join(project, archive), "--offline", "--no-audit", "--no-fund");
}

after(async () => {
  await stop?.();
  rmSync(project, { recursive: true });
});

const inNode = async () => (await import(pathToFileURL(join(installed, IN_NODE)))).load();

/** What `body(page)` says on a silent page with this script, at this address. */
async function inPage(address, html, body) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const findings = [];
  page.on("console", (line) => findings.push(line.text()));
  page.on("pageerror", (error) => findings.push(String(error)));
  if (html) await page.route(address, (route) => route.fulfill({ contentType: "text/html", body: html }));
  try {
    await page.goto(address);
    const result = await body(page);
    assert.deepEqual(findings, [], "the page stays silent");
    return result;
  } finally {
    await context.close();
  }
}

const cases = [
  ["v=1", {}],
  [{ model: "qwen3-32b", gpu: "h100-sxm", tp: 2 }, {}],
  ["v=1&m=deepseek-v3&g=b200&n=8&tp=8&ep=8&e=sglang&isl=3000&osl=300&c=48", {}],
  ["v=1&w=fp8&kv=fp8&g=l40s&e=trtllm&b=8&isl=700&osl=100", { roofline: true }],
  [{ isl: 300, osl: 64, concurrency: 8, slo_ttft: 200, slo_tpot: 20, price: 2 }, { sweep: true }],
];

/** Answers of the native tool, which several tests ask for. */
const asked = new Map();

function native(config, options) {
  const key = JSON.stringify([config, options]);
  if (!asked.has(key)) asked.set(key, answered(config, options));
  return asked.get(key);
}

function answered(config, options) {
  const flags = Object.keys(options).map((option) => `--${option}`);
  const text = typeof config === "string" ? config : JSON.stringify(config);
  const tool = `${process.env.ROOFLIGHT_BIN ?? path("target/debug")}/predict`;
  return JSON.parse(execFileSync(tool, [text, "--models", path("models"), ...flags], { encoding: "utf8" }));
}

/** The same keys and texts, and numbers as near as the page's. */
function alike(ours, theirs, at = "") {
  if (typeof theirs === "number") {
    const apart = Math.abs(ours - theirs);
    const scale = Math.max(Math.abs(theirs), 1e-9);
    assert.ok(apart <= gates.page_matches_native * scale, `${at}: ${ours} here, ${theirs} natively`);
  } else if (theirs !== null && typeof theirs === "object") {
    assert.deepEqual(Object.keys(ours).sort(), Object.keys(theirs).sort(), at);
    for (const key of Object.keys(theirs)) alike(ours[key], theirs[key], `${at}.${key}`);
  } else {
    assert.equal(ours, theirs, at);
  }
}

function allAlike(answers) {
  answers.forEach((answer, index) => alike(answer, native(...cases[index]), `case ${index}`));
}

test("in Node it answers as the native tool does", { timeout: 120_000 }, async () => {
  const rooflight = await inNode();
  allAlike(cases.map(([config, options]) => rooflight.predict(config, options)));
  const manifest = JSON.parse(readFileSync(path("models/manifest.json")));
  assert.equal(rooflight.release, manifest.release);
  assert.equal(rooflight.version, JSON.parse(readFileSync(join(installed, "package.json"))).version);
});

const otherNode = process.env.ROOFLIGHT_NODE;
test("in another Node it answers alike", { skip: !otherNode && "$ROOFLIGHT_NODE names no Node", timeout: 120_000 }, (t) => {
  const source = join(project, "other.mjs");
  writeFileSync(source, `
    import { load } from "rooflight";
    const rooflight = await load();
    console.log(JSON.stringify(${JSON.stringify(cases)}.map((one) => rooflight.predict(...one))));
  `);
  allAlike(JSON.parse(execFileSync(otherNode, [source], { cwd: project, encoding: "utf8", maxBuffer: 2 ** 28 })));
  t.diagnostic(execFileSync(otherNode, ["--version"], { encoding: "utf8" }).trim());
});

test("it reads the files of a model, a trace, and what a command leaves open", async () => {
  const rooflight = await inNode();
  const config = { model_type: "llama", hidden_size: 4096, intermediate_size: 14336, num_hidden_layers: 32, num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 128256, max_position_embeddings: 131072 };
  const own = rooflight.predict({ gpu: "l40s" }, { model_config: JSON.stringify(config) });
  assert.ok(own.report.headline && own.link.includes("x="));
  const lines = Array.from({ length: 50 }, (_, second) => `${second},100,20`);
  const { report } = rooflight.predict("v=1", { trace: ["arrival,prompt,output", ...lines].join("\n") });
  assert.equal(report.run.requests, 50);
  const { link } = rooflight.predict("vllm serve Qwen/Qwen3-8B", { base: "v=1&g=l40s&c=2" });
  assert.equal(link, "v=1&m=qwen3-8b&g=l40s&c=2");
  assert.equal(rooflight.predict("v=1", { trace: "a,b" }).issues[0].field, "trace");
});

test("in a plain page it answers as the native tool does", { timeout: 120_000 }, async () => {
  const html = `<!doctype html><link rel="icon" href="data:," /><script type="module">
    import { load } from "./rooflight.js";
    window.answers = (cases) => load().then((rooflight) => cases.map((one) => rooflight.predict(...one)));
  </script>`;
  allAlike(await inPage(`${url}plain.html`, html, async (page) => {
    await page.waitForFunction(() => window.answers);
    return page.evaluate((cases) => window.answers(cases), cases);
  }));
});

test("in a page of another origin it answers as the native tool does", { timeout: 120_000 }, async () => {
  const html = `<!doctype html><link rel="icon" href="data:," /><script type="module">
    import { load } from "${url}rooflight.js";
    window.answer = (one) => load().then((rooflight) => rooflight.predict(...one));
  </script>`;
  const host = await servePages({ "/": html });
  try {
    const answer = await inPage(host.url, undefined, async (page) => {
      await page.waitForFunction(() => window.answer);
      return page.evaluate((one) => window.answer(one), cases[1]);
    });
    alike(answer, native(...cases[1]), "from another origin");
  } finally {
    await host.stop();
  }
});

test("in a Vite bundle, and in a worker there, it answers as the native tool does", { timeout: 180_000 }, async () => {
  writeFileSync(join(project, "index.html"), '<!doctype html><link rel="icon" href="data:," /><script type="module" src="/main.js"></script>');
  writeFileSync(join(project, "main.js"), `
    import { load } from "rooflight";
    window.answers = (cases) => load().then((rooflight) => cases.map((one) => rooflight.predict(...one)));
    window.fromWorker = (one) => new Promise((resolve) => {
      const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
      worker.onmessage = ({ data }) => resolve(data);
      worker.postMessage(one);
    });
  `);
  writeFileSync(join(project, "worker.js"), `
    import { load } from "rooflight";
    onmessage = async ({ data }) => postMessage((await load()).predict(...data));
  `);
  const warnings = [];
  const warn = (text) => warnings.push(text);
  const customLogger = { info() {}, warn, warnOnce: warn, error: warn, clearScreen() {}, hasErrorLogged: () => false, hasWarned: false };
  // How long a slow machine took is no fault of the package.
  const rolldownOptions = { checks: { bundlerTimings: false } };
  await build({
    root: project, base: "./", configFile: false, customLogger,
    worker: { format: "es", rolldownOptions }, build: { target: "esnext", rolldownOptions },
  });
  assert.deepEqual(warnings.filter((text) => !/chunks are larger/.test(text)), []);
  const site = await serve(join(project, "dist"));
  try {
    await inPage(site.url, undefined, async (page) => {
      await page.waitForFunction(() => window.answers);
      allAlike(await page.evaluate((cases) => window.answers(cases), cases));
      alike(await page.evaluate((one) => window.fromWorker(one), cases[1]), native(...cases[1]), "in a worker");
    });
  } finally {
    await site.stop();
  }
});

test("catalogs and links", async () => {
  const rooflight = await inNode();
  const [models, gpus, engines] = [rooflight.models(), rooflight.gpus(), rooflight.engines()];
  const catalog = (name) => JSON.parse(readFileSync(path(`static/catalog/${name}.json`)))[name];
  assert.deepEqual(models.map(({ id }) => id), catalog("models").map(({ id }) => id));
  assert.deepEqual(gpus.map(({ id }) => id), catalog("gpus").map(({ id }) => id));
  assert.deepEqual(engines.map(({ id }) => id), catalog("engines").map(({ id }) => id));
  assert.equal(gpus.find(({ id }) => id === "h100-sxm").bandwidth, 3.35232e12);

  const config = { model: "qwen3-32b", gpu: "h200-sxm", tp: 2, gpus: 4, isl: [100, 200], batch: 2 };
  const { link, issues } = rooflight.encodeLink(config);
  assert.deepEqual([link, issues], ["v=1&m=qwen3-32b&g=h200-sxm&n=4&tp=2&isl=100,200&b=2", []]);
  const decoded = rooflight.decodeLink(`https://example.org/#${link}`);
  assert.deepEqual(decoded.issues, []);
  for (const [field, value] of Object.entries(config)) assert.deepEqual(decoded.config[field], value);
  // Every answer can be written down.
  assert.deepEqual(JSON.parse(JSON.stringify(decoded)), decoded);

  const [pinned] = rooflight.predict("v=1&d=2001-01-01").issues.filter(({ field }) => field === "data");
  assert.equal(pinned.severity, "warning");
  assert.match(pinned.text, new RegExp(`2001-01-01.*${rooflight.release}`));
});

const circle = {};
circle.model = circle;
const throwing = { get model() { throw new Error("no"); } };

for (const [name, field, call] of [
  ["a value of another kind", "tp", (it) => it.predict({ tp: "2" })],
  ["no number", "tp", (it) => it.predict({ tp: NaN })],
  ["an infinite number", "osl", (it) => it.predict({ osl: Infinity })],
  ["a big integer", "tp", (it) => it.predict({ tp: 2n })],
  ["a function", "gpu", (it) => it.predict({ gpu: () => "l4" })],
  ["a field of no meaning", "link", (it) => it.predict({ modle: "qwen3-32b" })],
  ["an id of no catalog", "gpu", (it) => it.predict({ gpu: "h1000" })],
  ["a model that is no model", "model", (it) => it.predict({ model: { id: "mine" } })],
  ["nothing", "link", (it) => it.predict()],
  ["null", "link", (it) => it.predict(null)],
  ["a list", "link", (it) => it.predict([1])],
  ["a number", "link", (it) => it.predict(7)],
  ["an object that holds itself", "link", (it) => it.predict(circle)],
  ["an object that throws", "link", (it) => it.predict(throwing)],
  ["broken JSON", "link", (it) => it.predict('{"tp": 2')],
  ["a link with a bad value", "isl", (it) => it.predict("#v=1&isl=abc")],
  ["a link far too long", "link", (it) => it.predict("x=" + "A".repeat(1e6))],
  ["half a surrogate", "link", (it) => it.predict({ gpu: "\ud800" })],
  ["an option of no meaning", "link", (it) => it.predict("v=1", { rum: true })],
  ["an option of another kind", "link", (it) => it.predict("v=1", { sweep: 1 })],
  ["a link of a field that has none", "link", (it) => it.encodeLink({ color: "red" })],
  ["a link of nothing", "link", (it) => it.encodeLink()],
  ["what is no link", "link", (it) => it.decodeLink({ tp: 2 })],
  ["a cut model in a link", "model", (it) => it.decodeLink("#x=AAAA")],
]) {
  test(`${name} is an issue`, async () => {
    const { issues, report, failure } = call(await inNode());
    assert.ok(issues.some((issue) => issue.field === field && issue.severity === "error" && issue.text), JSON.stringify(issues));
    assert.deepEqual([report ?? null, failure], [null, undefined]);
  });
}

test("what the caller's progress function throws is the caller's", async () => {
  const rooflight = await inNode();
  const request = { model: "llama-3.1-8b", rate: 20, slo_tpot: 30, vary: { weights: "all" } };
  const onProgress = () => {
    throw new RangeError("mine");
  };
  await assert.rejects(rooflight.plan(request, { onProgress, roofline: true }), { name: "RangeError", message: "mine" });
});

test("options and fields that are undefined are left out", async () => {
  const rooflight = await inNode();
  assert.deepEqual(rooflight.predict({ tp: undefined }, { sweep: undefined }), rooflight.predict({}));
});

test("null in place of options is none", async () => {
  const { load } = await import(pathToFileURL(join(installed, IN_NODE)));
  const rooflight = await load(null);
  assert.deepEqual(rooflight.predict("v=1", null), rooflight.predict("v=1"));
  const request = { model: "llama-3.1-8b", gpu: "l40s", tp: 1, concurrency: 2 };
  assert.deepEqual(await rooflight.plan(request, null), await rooflight.plan(request));
});

test("what does not fit is an issue beside the memory it would take", async () => {
  const { issues, report } = (await inNode()).predict({ model: "llama-3.1-405b", gpu: "l4" });
  assert.equal(report.headline, null);
  assert.ok(report.memory.weights > report.memory.total);
  assert.ok(issues.some(({ severity }) => severity === "error"));
});

/** A copy of the package in which `spoil(folder)` has changed something. */
async function spoilt(name, spoil) {
  const folder = join(project, name);
  cpSync(installed, folder, { recursive: true });
  spoil(folder);
  return import(pathToFileURL(join(folder, "rooflight.js")));
}

test("files that are missing or damaged reject the loading, by name", async () => {
  for (const [name, kind, reason, spoil] of [
    ["no-model", "unreachable", /gemm\.onnx/, (folder) => rmSync(join(folder, "models/gemm.onnx"))],
    ["cut-model", "damaged", /gemm/, (folder) => writeFileSync(join(folder, "models/gemm.onnx"), "garbage")],
    ["no-manifest", "unreachable", /manifest/, (folder) => rmSync(join(folder, "models/manifest.json"))],
    ["cut-manifest", "damaged", /manifest/, (folder) => writeFileSync(join(folder, "models/manifest.json"), "{")],
    ["strange-manifest", "damaged", /manifest/, (folder) => writeFileSync(join(folder, "models/manifest.json"), '{"families": {"gemm": null}}')],
    ["empty-manifest", "damaged", /manifest/, (folder) => writeFileSync(join(folder, "models/manifest.json"), "{}")],
    ["other-manifest", "damaged", /other\.onnx, which this release does not have/, (folder) => {
      writeFileSync(join(folder, "models/manifest.json"), '{"families": {"gemm": {"file": "other.onnx"}}}');
    }],
  ]) {
    const { load, RooflightError } = await spoilt(name, spoil);
    await assert.rejects(load(), (error) => {
      assert.ok(error instanceof RooflightError);
      assert.equal(error.failure.kind, kind, error.message);
      assert.match(error.failure.text, reason);
      return true;
    });
    // Without them there is still the roofline, and no silence about it.
    const rooflight = await load({ models: false });
    assert.equal(rooflight.release, null);
    assert.equal(rooflight.predict("v=1").failure.kind, "no_models");
    assert.equal(rooflight.predict("v=1", { roofline: true }).report.basis.kind, "roofline");
  }
});

test("in a page, a file that fails once is fetched by the next call", { timeout: 60_000 }, async () => {
  const html = `<!doctype html><link rel="icon" href="data:," /><script type="module">
    import { load } from "./rooflight.js";
    window.tried = () => load().then(() => "loaded", (error) => error.failure.kind);
  </script>`;
  const context = await browser.newContext();
  const page = await context.newPage();
  try {
    await page.route(`${url}retry.html`, (route) => route.fulfill({ contentType: "text/html", body: html }));
    await page.goto(`${url}retry.html`);
    await page.waitForFunction(() => window.tried);
    for (const file of [/worker_bg[^/]*\.wasm$/, /manifest\.json$/, /gemm\.onnx/]) {
      await page.route(file, (route) => route.abort());
      assert.equal(await page.evaluate(() => window.tried()), "unreachable", String(file));
      await page.unroute(file);
    }
    assert.equal(await page.evaluate(() => window.tried()), "loaded");
  } finally {
    await context.close();
  }
});

/** The examples of the manual: language, code, and what it says to print. */
function examples(manual) {
  const fence = "```";
  const blocks = [...manual.matchAll(new RegExp(`^${fence}(js|ts|html)\\n([^]*?)^${fence}\\n(?:\\n${fence}text\\n([^]*?)^${fence}$)?`, "gm"))];
  return blocks.map(([, language, code, output]) => ({ language, code, output }));
}

test("the manual's examples run and print what it says", { timeout: 120_000 }, async () => {
  const file = path("docs/api.md");
  let manual = readFileSync(file, "utf8");
  const found = examples(manual);
  assert.ok(found.length >= 5);
  for (const [index, { language, code, output }] of found.entries()) {
    if (language === "html") {
      const page = `<!doctype html><link rel="icon" href="data:," /><body></body>${code}`;
      const text = await inPage(`${url}example.html`, page, async (page) => {
        await page.waitForFunction(() => document.body.innerText.trim());
        return page.evaluate(() => document.body.innerText);
      });
      assert.match(text, /^\d+ tokens\/s/);
      continue;
    }
    const source = join(project, `example-${index}.${language === "ts" ? "mts" : "mjs"}`);
    writeFileSync(source, code);
    if (language === "ts") compile(source);
    const printed = execFileSync(process.execPath, [source.replace(/mts$/, "mjs")], { cwd: project, encoding: "utf8" });
    if (process.env.ROOFLIGHT_WRITE) manual = manual.replace(`${code}\`\`\`\n\n\`\`\`text\n${output}`, () => `${code}\`\`\`\n\n\`\`\`text\n${printed}`);
    else assert.equal(printed, output, `docs/api.md is stale: ROOFLIGHT_WRITE=1 node --test tests/e2e/api.test.mjs`);
  }
  if (process.env.ROOFLIGHT_WRITE) writeFileSync(file, manual);
});

/** Type-checks a module strictly, and writes it as JavaScript. */
function compile(source) {
  const flags = ["--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom", "--types", ""];
  try {
    execFileSync(process.execPath, [path("node_modules/typescript/bin/tsc"), ...flags, source], { cwd: project, encoding: "utf8" });
  } catch (error) {
    assert.fail(error.stdout);
  }
}

test("the types refuse what the functions would", () => {
  const source = join(project, "wrong.mts");
  for (const [line, message] of [
    ['rooflight.predict({ modle: "qwen3-8b" });', /modle/],
    ['rooflight.predict({ weights: "fp16" });', /fp16/],
    ["rooflight.predict({}).report.headline;", /null/],
    ["rooflight.predict({}, { rum: true });", /rum/],
    ['const kind: "late" = rooflight.predict({}).failure!.kind;', /late/],
  ]) {
    writeFileSync(source, `import { load } from "rooflight";\nconst rooflight = await load();\n${line}\n`);
    assert.throws(() => compile(source), message);
  }
});

test("the manual and the types state what is downloaded", () => {
  const dist = process.env.DIST ?? path("dist");
  const megabytes = (pattern, folder) => {
    const files = readdirSync(join(dist, folder)).filter((name) => pattern.test(name)).map((name) => readFileSync(join(dist, folder, name)));
    const bytes = files.map((content) => brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }).length);
    return (bytes.reduce((sum, bytes) => sum + bytes) / 1e6).toFixed(1);
  };
  const said = `${megabytes(/^worker.*\.wasm$/, ".")} MB of WebAssembly and ${megabytes(/\.onnx$/, "models")} MB of models (with Brotli)`;
  for (const file of ["docs/api.md", "static/api/rooflight.d.ts"]) assert.ok(readFileSync(path(file), "utf8").includes(said), `${file}: ${said}`);
});

test("the package packs whole", () => {
  const packed = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json"], { cwd: installed, encoding: "utf8" }));
  const files = packed[0].files.map(({ path }) => path);
  const manifest = JSON.parse(readFileSync(path("models/manifest.json")));
  const wanted = ["rooflight.js", "rooflight.d.ts", "rooflight-types.d.ts", "README.md", "LICENSE", "NOTICE", IN_NODE];
  for (const file of wanted) assert.ok(files.includes(file), `${file} is missing`);
  const models = ["manifest.json", ...Object.values(manifest.families).map(({ file }) => file)].map((file) => `models/${file}`);
  assert.deepEqual(files.filter((file) => file.startsWith("models/")).sort(), models.sort());
  assert.equal(files.filter((file) => /^worker/.test(file)).length, 2);
});
