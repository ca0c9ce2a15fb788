// Without its models the page says so and shows the roofline; without its worker it says why there are no numbers.
import assert from "node:assert/strict";

import { pageTest } from "./harness.mjs";
import { issue, numbers, settled, unfold } from "./page.mjs";

/** The browser's own line about a request that failed: these tests make it fail. */
const expected = /^Failed to load resource|MIME/;

const answers = {
  "cannot be fetched": (route) => route.abort(),
  "is missing": (route) => route.fulfill({ status: 404, body: "not found" }),
  "is garbage": (route) => route.fulfill({ status: 200, body: "garbage" }),
};
const parts = { script: /worker[^/]*\.js$/, "wasm file": /worker[^/]*\.wasm$/, model: /\.onnx(\?|$)/, manifest: /manifest\.json(\?|$)/ };

// Each part goes through code of its own; what goes wrong with it, only two of them need show in full.
const failuresOf = (part) => Object.entries(answers).filter(([what]) => ["model", "script"].includes(part) || what === "is missing");

for (const part of ["model", "manifest"]) {
  for (const [what, answer] of failuresOf(part)) {
    const prepare = (page) => page.context().route(parts[part], answer);
    pageTest(`the worker's ${part} ${what}`, { prepare, expected }, async ({ page, open }) => {
      await open();
      await page.locator("[data-testid=worker][data-status=failed]").waitFor();
      assert.match(await page.getByTestId("worker").textContent(), /roofline/);
      await settled(page, "roofline");
      const before = await numbers(page);
      await page.getByTestId("model").selectOption("qwen3-32b");
      await page.waitForFunction((ttft) => Number(document.querySelector("[data-testid=ttft]").dataset.value) !== ttft, before.ttft);
      await settled(page, "roofline");
    });
  }
}

for (const part of ["script", "wasm file"]) {
  for (const [what, answer] of failuresOf(part)) {
    const prepare = (page) => page.context().route(parts[part], answer);
    pageTest(`the worker's ${part} ${what}`, { prepare, expected }, async ({ page, open }) => {
      await open();
      await page.locator("[data-testid=worker][data-status=failed]").waitFor();
      assert.match(await issue(page, "data"), /prediction worker failed/);
      assert.equal(await page.getByTestId("ttft").getAttribute("data-value"), "");
      // The form still says what is wrong with it.
      await unfold(page);
      await page.getByTestId("tp").fill("3");
      assert.match(await issue(page, "tp"), /power of two/);
    });
  }
}

pageTest("without its worker a config.json is refused with the reason", { prepare: (page) => page.context().route(parts.script, answers["is missing"]), expected }, async ({ page, open }) => {
  await open();
  await page.locator("[data-testid=worker][data-status=failed]").waitFor();
  await page.getByTestId("config-json-panel").locator("summary").click();
  await page.getByTestId("config-json").fill('{"model_type": "llama"}');
  await page.getByTestId("config-json-use").click();
  assert.match(await issue(page, "model"), /worker/);
});

pageTest("a worker that never answers is called late", { prepare: silence }, async ({ page, open }) => {
  await page.clock.install();
  await open();
  await page.locator("#page main").waitFor({ state: "attached" });
  // The page waits 15 s before it says so.
  await page.clock.fastForward(15_000);
  await page.locator("[data-testid=worker][data-status=late]").waitFor();
  assert.equal(await page.getByTestId("basis").getAttribute("data-basis"), "none");
});

/** The worker's script loads and starts, and then nothing comes. */
function silence(page) {
  const body = "export default async () => {}; export const listen = () => {};";
  return page.context().route(parts.script, (route) => route.fulfill({ contentType: "text/javascript", body }));
}
