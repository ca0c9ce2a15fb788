// Loads the page's wasm, and reports load failures and panics.
// `Trunk.toml` writes the script tag with the file names.
import { introduce, pin } from "./press.js";

const { js, wasm } = document.querySelector("script[data-wasm]").dataset;

function fail(text) {
  const banner = document.getElementById("failure");
  document.getElementById("failure-text").textContent = text;
  document.getElementById("failure-link").href = location.href;
  document.getElementById("failure-reload").onclick = () => location.reload();
  banner.hidden = false;
}

addEventListener("rooflight:panic", () => {
  fail("Rooflight stopped because of a bug. The link below keeps this configuration; please include it in a report.");
});

try {
  const page = await import(new URL(js, document.baseURI));
  await page.default({ module_or_path: new URL(wasm, document.baseURI) });
  // In a separate task: compiling and mounting in one would block the browser.
  await new Promise((next) => setTimeout(next));
  page.mount();
} catch (error) {
  fail("Rooflight could not be loaded. Check the connection, or use a browser with WebAssembly SIMD (2023 or later).");
  throw error;
}
introduce();
pin();

// Caches the page for offline use, once this visit has what it needs. Frames leave that to the page itself, and a browser without storage refuses or throws.
if (document.documentElement.dataset.view === undefined)
  setTimeout(async () => {
    try {
      await navigator.serviceWorker.register("sw.js");
    } catch {}
  }, 5000);
