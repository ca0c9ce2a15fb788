// What stands below a chart: its legend, which leaves parts out, and the chart as a file.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { charted, settled } from "./page.mjs";
import { desktop, pageTest, path, phone } from "./harness.mjs";

const screenshots = path("target/screenshots");
const tools = (page) => page.locator("[data-testid=roofline] ~ .chart-tools");
const picture = (page) => page.getByTestId("roofline").evaluate((canvas) => canvas.toDataURL());

async function saved(page, format) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    tools(page).locator(`[data-save=${format}]`).click(),
  ]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

pageTest("the legend leaves parts of a chart out and takes them in again", {}, async ({ page, open }) => {
  await open("v=1");
  await settled(page);
  await charted(page);
  const whole = await picture(page);
  const decode = tools(page).getByRole("button", { name: "decode", exact: true });
  await decode.focus();
  await page.keyboard.press("Space");
  assert.equal(await decode.getAttribute("aria-pressed"), "false");
  assert.notEqual(await picture(page), whole);
  await page.getByTestId("roofline").focus();
  await page.keyboard.press("End");
  const voice = page.locator("[data-testid=roofline] + [aria-live]");
  assert.match(await voice.textContent(), /, prefill: /, "what is left out is not read out");
  await page.keyboard.press("Escape");
  await page.screenshot({ path: `${screenshots}/chart-without-decode.png` });
  await decode.click();
  assert.equal(await picture(page), whole);
  // All but one left out, the last one brings all of them back.
  const keys = tools(page).locator("[data-key]");
  for (let index = 0; index < (await keys.count()); index++) await keys.nth(index).click();
  assert.equal(await tools(page).locator("[aria-pressed=false]").count(), 0);
  assert.equal(await picture(page), whole);
});

// Reading a canvas often is this test's doing.
pageTest("every panel of a chart has room, however wide the window", { expected: /willReadFrequently/ }, async ({ page, open }) => {
  await open("v=1");
  await settled(page);
  await page.locator("[data-testid=simulation-status][data-progress=done]").waitFor({ state: "attached" });
  const curve = page.getByTestId("curve");
  for (const width of [1440, 1140, 1024, 920, 760, 705, 390]) {
    await page.setViewportSize({ width, height: 768 });
    await curve.scrollIntoViewIfNeeded();
    await page.waitForFunction(() => {
      const canvas = document.querySelector("[data-testid=curve]");
      if (canvas.width !== canvas.clientWidth || canvas.height !== canvas.clientHeight) return false;
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size > 10;
    });
  }
});

pageTest("a chart is saved as SVG, PNG and CSV", { scale: 2 }, async ({ page, open }) => {
  await open("v=1");
  await settled(page);
  await charted(page);
  const svg = await saved(page, "SVG");
  assert.equal(svg.name, "rooflight-roofline.svg");
  assert.match(svg.bytes.toString(), /^<svg [\s\S]*Roofline chart[\s\S]*Llama-3[\s\S]*gate_up_proj[\s\S]*<\/svg>\s*$/);
  const png = await saved(page, "PNG");
  const [width, height] = await page.getByTestId("roofline").evaluate((canvas) => [canvas.width, canvas.height]);
  assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
  assert.equal(png.bytes.readUInt32BE(16), width, "at the pixels of the screen");
  assert.ok(png.bytes.readUInt32BE(20) > height, "with a caption above");
  const csv = (await saved(page, "CSV")).bytes.toString().trim().split("\n");
  assert.equal(csv[0], 'phase,kernel,FLOP per byte,FLOP/s,"ceiling, FLOP/s",share of step,limited by');
  assert.ok(csv.length > 10);
  for (const line of csv.slice(1)) assert.match(line, /^(prefill|decode),[\w ]+(,[\d.]+){4},(compute|memory|network|launch)$/);
});

for (const [name, viewport, theme] of [["desktop", desktop, "dark"], ["phone", phone, "light"]]) {
  pageTest(`charts keep their place while their tools come (${name})`, { viewport, theme }, async ({ page, open }) => {
    await page.addInitScript(() => {
      window.shifted = 0;
      new PerformanceObserver((list) => {
        for (const shift of list.getEntries()) if (!shift.hadRecentInput) window.shifted += shift.value;
      }).observe({ type: "layout-shift", buffered: true });
    });
    await open("v=1");
    await settled(page);
    await charted(page);
    await page.waitForTimeout(300);
    assert.ok((await page.evaluate(() => window.shifted)) < 0.1, `moved by ${await page.evaluate(() => window.shifted)}`);
    await page.getByTestId("roofline").scrollIntoViewIfNeeded();
    await page.screenshot({ path: `${screenshots}/chart-tools-${name}-${theme}.png` });
  });
}

pageTest("a point of the roofline and the row of its kernel lead to each other", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-32b&tp=4");
  await settled(page);
  await charted(page);
  const before = await picture(page);
  const row = page.getByTestId("kernels-decode").locator("tr[data-kernel=gate_up_proj]");
  await row.hover();
  const marked = await picture(page);
  assert.notEqual(marked, before, "the row marks its point");
  await page.getByTestId("ttft").hover();
  assert.equal(await picture(page), before);
  // By keys: the first point is that of the kernel that takes most of its step.
  await page.getByTestId("roofline").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  const focused = await page.evaluate(() => document.activeElement.closest("tr")?.dataset.kernel);
  assert.ok(focused, "the point leads to its row");
  const place = await page.evaluate(() => document.activeElement.getBoundingClientRect().top < innerHeight);
  assert.ok(place, "which is in view");
});
