// Loads the page's wasm, and says so when it cannot be loaded or has ended. Ahead of it the first answer, which is less
// than half as much to wait for.
// `Trunk.toml` writes the script tag with the names of the files.
import { show } from "./first.js";
import { chosen, offer } from "./language/choice.js";

const { js, wasm, first, firstWasm, chart, chartWasm, style, zh } = document.querySelector("script[data-wasm]").dataset;

function fail(text) {
  const banner = document.getElementById("failure");
  document.getElementById("failure-text").textContent = text;
  document.getElementById("failure-link").href = location.href;
  document.getElementById("failure-reload").onclick = () => location.reload();
  banner.hidden = false;
}

addEventListener("rooflight:panic", () => {
  fail("Rooflight stopped over a defect of its own. The link below keeps this configuration; a report with it helps.");
});

/** A module of the page, its wasm started. */
async function load(js, wasm) {
  const module = await import(new URL(js, document.baseURI));
  await module.default({ module_or_path: new URL(wasm, document.baseURI) });
  return module;
}

/** The styles of documents. Without them a document reads all the same. */
function styled() {
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL(style, document.baseURI) });
  return new Promise((done) => {
    link.onload = link.onerror = done;
    document.head.append(link);
  });
}

// The first numbers do not wait for the code of charts and documents.
let second;
function when(event, act) {
  addEventListener(event, async ({ target, detail }) => {
    second ??= Promise.all([load(chart, chartWasm), styled()]).then(([module]) => (module.install(), module));
    const loaded = await second.catch(() => (second = undefined));
    if (!loaded) return;
    act(loaded, target, ...detail);
    target.dataset.drawn = "";
  });
}
// Every change of the form is drawn: the past is noted with it.
when("rooflight:chart", (loaded, canvas, chart, dark) => (loaded.paint(canvas, chart, dark), loaded.note()));
when("rooflight:document", (loaded, holder, document, dark, sought) => loaded.show(holder, document, dark, sought));

// Before the page, so that nobody sees it change its words. Without them it speaks English.
const language = chosen();
const spoken = language === "zh" && import(new URL(zh, document.baseURI)).catch(() => {});

/** Inside another page. */
const framed = document.documentElement.dataset.view !== undefined;

// Frames have no place for it. Whatever keeps it away, the page answers by itself.
const early = !framed && (await load(first, firstWasm).catch(() => {}));
// Not before: they would share the network.
const coming = load(js, wasm);
// What comes of it is looked at below.
coming.catch(() => {});
await spoken;
try {
  if (early) show(early.answer);
} catch {
  // Nor does a defect of it: the page has the same code, and says so.
}

try {
  const page = await coming;
  // In a task of its own: compiling and mounting in one would hold the browser up.
  await new Promise((next) => setTimeout(next));
  page.mount();
  offer(language);
} catch (error) {
  fail("Rooflight could not be loaded. Check the connection, or use a browser with WebAssembly SIMD (2023 or later).");
  throw error;
}

// Kept for visits without a network, once this one has what it needs. Frames leave that to the page itself, and a browser
// that keeps nothing refuses or throws.
if (!framed)
  setTimeout(async () => {
    try {
      await navigator.serviceWorker.register("sw.js");
    } catch {}
  }, 5000);
