// Loads the page's wasm, and says so when it cannot be loaded or has ended.
// `Trunk.toml` writes the script tag with the names of the files.
const { js, wasm, chart, chartWasm } = document.querySelector("script[data-wasm]").dataset;

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

// The first numbers do not wait for the chart's code.
let charts;
addEventListener("rooflight:chart", async ({ target, detail }) => {
  charts ??= load(chart, chartWasm);
  const loaded = await charts.catch(() => (charts = undefined));
  if (!loaded) return;
  loaded.paint(target, ...detail);
  target.dataset.drawn = "";
});

try {
  await load(js, wasm);
} catch (error) {
  fail("Rooflight could not be loaded. Check the connection, or use a browser with WebAssembly SIMD (2023 or later).");
  throw error;
}
