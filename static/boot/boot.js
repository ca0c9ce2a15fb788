// Loads the page's wasm, and says so when it cannot be loaded or has ended.
// `Trunk.toml` writes the script tag with the names of the files.
const { js, wasm } = document.querySelector("script[data-wasm]").dataset;

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

try {
  const page = await import(new URL(js, document.baseURI));
  await page.default({ module_or_path: new URL(wasm, document.baseURI) });
} catch (error) {
  fail("Rooflight could not be loaded. Check the connection, or use a browser with WebAssembly SIMD (2023 or later).");
  throw error;
}
