// Without its worker the page says so and keeps the roofline.
import assert from "node:assert/strict";

import { pageTest } from "./harness.mjs";
import { numbers, settled } from "./page.mjs";

/** The browser's own line about a request that failed: these tests make it fail. */
const expected = /^Failed to load resource|^Loading (the )?(Worker|module)|MIME/i;

const answers = {
  "cannot be fetched": (route) => route.abort(),
  "is missing": (route) => route.fulfill({ status: 404, body: "not found" }),
  "is garbage": (route) => route.fulfill({ status: 200, body: "garbage" }),
};
const parts = { script: /worker[^/]*\.js$/, "wasm file": /worker[^/]*\.wasm$/, model: /\.onnx(\?|$)/, manifest: /manifest\.json(\?|$)/ };

for (const [part, pattern] of Object.entries(parts)) {
  for (const [what, answer] of Object.entries(answers)) {
    const prepare = (page) => page.context().route(pattern, answer);
    pageTest(`the worker's ${part} ${what}`, { prepare, expected }, async ({ page, open }) => {
      await open();
      await page.locator("[data-testid=worker][data-status=failed]").waitFor();
      assert.match(await page.getByTestId("worker").textContent(), /\w/);
      await settled(page, "roofline");
      const before = await numbers(page);
      await page.getByTestId("model").selectOption("qwen3-32b");
      await page.waitForFunction((ttft) => Number(document.querySelector("[data-testid=ttft]").dataset.value) !== ttft, before.ttft);
      await settled(page, "roofline");
    });
  }
}

pageTest("a worker that never answers is given up", { prepare: silence }, async ({ page, open }) => {
  await open();
  await settled(page, "roofline");
  await page.locator("[data-testid=worker]:is([data-status=late], [data-status=failed])").waitFor({ timeout: 40_000 });
  await numbers(page);
});

function silence(page) {
  return page.context().route(parts.script, (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
}
