// A cold load: a roofline answer at once, the learned one right behind it.
import assert from "node:assert/strict";

import { mkdirSync } from "node:fs";

import { desktop, pageTest, path, phone } from "./harness.mjs";
import { numbers, settled, value } from "./page.mjs";

const screenshots = path("target/screenshots");
mkdirSync(screenshots, { recursive: true });

pageTest("learned numbers are slower than the roofline, and say what they are", {}, async ({ page, open }) => {
  await page.route(/\.onnx(\?|$)/, async (route) => {
    await new Promise((held) => setTimeout(held, 1500));
    await route.continue();
  });
  await open();
  await settled(page, "roofline");
  const ideal = await numbers(page);
  await settled(page, "learned");
  const learned = await numbers(page);
  for (const time of ["ttft", "tpot", "e2e"]) assert.ok(learned[time] > ideal[time], `${time} beats physics`);
  assert.ok(learned.throughput < ideal.throughput, "throughput beats physics");
});

pageTest("the headline keeps its definitions", {}, async ({ page, open }) => {
  await open("v=1&osl=101&c=8");
  await settled(page);
  const { ttft, tpot, e2e, throughput } = await numbers(page);
  const close = (a, b, what) => assert.ok(Math.abs(a / b - 1) < 1e-6, `${what}: ${a} against ${b}`);
  close(e2e, ttft + 100 * tpot, "E2E = TTFT + (OSL - 1) TPOT");
  close(await value(page, "per-user"), 1 / tpot, "tokens/s per user = 1 / TPOT");
  close(await value(page, "per-gpu"), throughput, "one GPU's share of one GPU");
});

pageTest("every kernel of both phases has a row in a table and the chart a summary", {}, async ({ page, open }) => {
  await open();
  await settled(page);
  for (const phase of ["prefill", "decode"]) {
    const rows = page.getByTestId(`kernels-${phase}`).locator("[data-kernel]");
    assert.ok((await rows.count()) >= 8, `a dense pass has more kernels than ${await rows.count()} (${phase})`);
    assert.match(await page.getByTestId(`limit-${phase}`).textContent(), /\w/);
  }
  assert.match(await page.getByTestId("roofline-summary").textContent(), /\d/);
});

const PAGE = /\/page-\w+_bg\.wasm$/;

for (const [name, viewport, theme] of [["desktop", desktop, "light"], ["phone", phone, "dark"]]) {
  pageTest(`${theme} ${name}: until the page is there it says that it loads, shows no number, and then stays in place`, { viewport, theme }, async ({ page, open }) => {
    let go;
    const held = new Promise((gone) => (go = gone));
    await page.route(PAGE, async (route) => {
      await held;
      await route.continue();
    });
    await page.addInitScript(() => {
      window.shifts = [];
      new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map(({ value }) => value))).observe({ type: "layout-shift", buffered: true });
    });
    await open("v=1&m=qwen3-32b&g=h200-sxm&tp=2");
    assert.match(await page.locator("#skeleton .loading").textContent(), /^Loading/);
    assert.deepEqual(await page.locator("#skeleton .figure").allTextContents(), Array(4).fill("–"));
    await page.screenshot({ path: `${screenshots}/loading-${name}-${theme}.png` });
    go();
    await settled(page);
    assert.equal(await page.locator("#skeleton").count(), 0);
    assert.equal(await page.locator("main").count(), 1);
    const shifts = await page.evaluate(() => window.shifts);
    assert.ok(shifts.reduce((sum, shift) => sum + shift, 0) < 0.01, `the page shifts by ${shifts}`);
    await page.screenshot({ path: `${screenshots}/page-${name}-${theme}.png` });
  });
}

for (const [what, answer] of Object.entries({
  "cannot be loaded": (route) => route.abort(),
  "is garbage": (route) => route.fulfill({ contentType: "application/wasm", body: "no module" }),
})) {
  pageTest(`a page that ${what} says so, with a way back`, {
    prepare: (page) => page.route(PAGE, answer),
    expected: /Failed to load resource|Failed to fetch|net::|WebAssembly/,
  }, async ({ page, open }) => {
    await open("v=1&m=qwen3-32b");
    await page.getByTestId("failure").waitFor();
    assert.match(await page.getByTestId("failure-link").getAttribute("href"), /#v=1&m=qwen3-32b$/);
    assert.equal(await page.locator("[data-testid=ttft]").count(), 0);
  });
}
