// The first answer, which stands before the page does: a module of its own, whose place the page takes.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";

import { desktop, pageTest, path, phone } from "./harness.mjs";
import { settled } from "./page.mjs";

const screenshots = path("target/screenshots");
mkdirSync(screenshots, { recursive: true });

const link = "v=1&m=qwen3-32b&g=h200-sxm&n=2&tp=2&e=sglang&c=48";
/** Files of the page itself, and of all that comes after it. */
const LATER = /\/page-\w+(_bg\.wasm|\.js)$|\/(chart|documents|worker)[-_]|\/models\//;

/** Holds back what comes after the first answer until `let_go` is called, and notes what was fetched before. */
async function held(page) {
  let let_go;
  const gone = new Promise((go) => (let_go = go));
  const fetched = [];
  page.on("request", (request) => fetched.push(new URL(request.url()).pathname));
  await page.route(LATER, async (route) => {
    await gone;
    await route.continue().catch(() => {});
  });
  return { let_go, fetched };
}

const answered = (page) => page.locator("#first[data-answered]").waitFor({ state: "attached" });
/** What its gauges read, or those of the page's headline: number and unit each, and where on the screen. */
const gauges = (page, within) => page.locator(`${within} .headline .gauge`).evaluateAll((gauges) => gauges.map((gauge) => {
  const { left, top } = gauge.querySelector(".figure").getBoundingClientRect();
  const [name, number, unit] = ["dt", ".figure", ".unit"].map((part) => gauge.querySelector(part).textContent);
  return { name, number, unit, left: Math.round(left), top: Math.round(top) };
}));

/** What is seen at once of what the numbers are. */
const labels = (page, within) => page.locator(`${within} .basis, ${within} .bound`).evaluateAll((labels) => labels
  .filter((label) => label.checkVisibility() && label.getBoundingClientRect().bottom <= innerHeight)
  .map((label) => label.textContent));

for (const [name, viewport] of Object.entries({ desktop, phone })) {
  for (const theme of ["light", "dark"]) {
    pageTest(`${theme} ${name}: the first numbers come without the page, and stand where its own will`, { viewport, theme }, async ({ page, open }) => {
      const { let_go, fetched } = await held(page);
      await page.addInitScript(() => {
        window.shifts = [];
        new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map(({ value }) => value))).observe({ type: "layout-shift", buffered: true });
      });
      await open(link);
      await answered(page);
      const first = await gauges(page, "#first");
      assert.match(await page.locator("#first .title").textContent(), /^Qwen\/Qwen3-32B on 2 x H200 SXM with SGLang$/);
      assert.equal(await page.locator("#first .workload").textContent(), "1024 tokens in, 512 out, 48 clients");
      for (const { name, number, unit } of first) assert.match(`${name} ${number} ${unit}`, /^(TTFT|TPOT|E2E|Output) \d[\d.]* (ms|s|tok\/s)$/);
      assert.deepEqual(await labels(page, "#first"), ["Roofline (upper bound)"]);
      await page.screenshot({ path: `${screenshots}/first-${name}-${theme}.png` });
      assert.deepEqual(fetched.filter((file) => /\/(worker|chart|documents)[-_]|\/models\//.test(file)), [], "later than the first numbers");
      // The learned numbers would take the place of the page's first ones.
      await page.route(/\.onnx(\?|$)/, () => {});
      let_go();
      await settled(page, "roofline");
      assert.equal(await page.locator("#first").count(), 0);
      assert.deepEqual(await gauges(page, "#page"), first);
      assert.deepEqual(await labels(page, "#page"), ["Roofline (upper bound)"]);
      assert.equal(await page.locator("main").count(), 1);
      const shifts = await page.evaluate(() => window.shifts);
      assert.ok(shifts.reduce((sum, shift) => sum + shift, 0) < 0.01, `the page shifts by ${shifts}`);
    });
  }
}

pageTest("the first answer speaks the visitor's language", {}, async ({ page, url }) => {
  await held(page);
  await page.goto(`${url}?lang=zh#${link}`);
  await answered(page);
  const said = await page.locator("#first").textContent();
  for (const words of ["2 × H200 SXM 上的 Qwen/Qwen3-32B，SGLang", "输入 1024 token，输出 512，48 个客户端", "屋顶线（性能上界）"])
    assert.ok(said.includes(words), `${words} in ${said}`);
});

pageTest("a link with a fault is left to the page, which names it", {}, async ({ page, open }) => {
  await open("v=1&isl=many&m=qwen3-32b");
  await page.locator("[data-testid=issue][data-field=isl]").first().waitFor();
  assert.equal(await page.locator("#first").count(), 0);
});

pageTest("without the first answer's module the page answers", {
  prepare: (page) => page.route(/\/first_bg-/, (route) => route.abort()),
  expected: /Failed to load resource/,
}, async ({ page, open }) => {
  await open(link);
  await settled(page);
});

pageTest("a first answer's module that is garbage is none", {
  prepare: (page) => page.route(/\/first_bg-/, (route) => route.fulfill({ contentType: "application/wasm", body: "no module" })),
}, async ({ page, open }) => {
  await open(link);
  await settled(page);
});

pageTest("where the page cannot be loaded, the first numbers stand, and it says so", {
  prepare: (page) => page.route(/\/page-\w+_bg\.wasm$/, (route) => route.abort()),
  expected: /Failed to load resource|Failed to fetch|net::/,
}, async ({ page, open }) => {
  await open(link);
  await answered(page);
  await page.getByTestId("failure").waitFor();
  assert.match((await gauges(page, "#first"))[0].number, /^\d/);
});
