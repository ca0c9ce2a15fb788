// What the page looks like and who can use it: phone width, keyboard, contrast, sharp charts, pictures to look at.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";

import { desktop, pageTest, path, phone } from "./harness.mjs";
import { charted, choose, settled } from "./page.mjs";

const axe = readFileSync(path("node_modules/axe-core/axe.min.js"), "utf8");
const screenshots = path("target/screenshots");
mkdirSync(screenshots, { recursive: true });

for (const theme of ["light", "dark"]) {
  for (const [name, viewport] of Object.entries({ desktop, phone })) {
    pageTest(`${theme} ${name}: no serious accessibility finding, no sideways scroll`, { theme, viewport }, async ({ page, open }) => {
      await open();
      await settled(page);
      await charted(page);
      await page.screenshot({ path: `${screenshots}/${name}-${theme}.png` });
      await page.screenshot({ path: `${screenshots}/${name}-${theme}-full.png`, fullPage: true });
      const [content, visible] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(content <= visible, `the page is ${content} px wide in a window of ${visible}`);
      await page.evaluate(`${axe}; null`);
      const { violations } = await page.evaluate(() => window.axe.run());
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), []);
    });
  }
}

pageTest("the theme buttons override the system's theme", { theme: "light" }, async ({ page, open }) => {
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await open();
  await settled(page);
  const light = await background();
  await choose(page, "theme-dark");
  await page.waitForFunction((before) => getComputedStyle(document.documentElement).backgroundColor !== before, light);
  await choose(page, "theme-system");
  await page.waitForFunction((before) => getComputedStyle(document.documentElement).backgroundColor === before, light);
});

pageTest("the keyboard reaches every control", {}, async ({ page, open }) => {
  await open();
  await settled(page);
  // Its button to stop goes when there is nothing left to stop.
  await page.locator("[data-testid=simulation-status][data-progress=done]").waitFor({ state: "attached" });
  // Radio buttons of one group share one tab stop, and closed details hide what is inside them.
  const wanted = await page.evaluate(() =>
    [...document.querySelectorAll("input, select, textarea, button, a[href], summary")]
      .filter((field) => field.checkVisibility({ visibilityProperty: true }) && !field.disabled && (field.type !== "radio" || field.checked))
      .map((field, index) => (field.dataset.probe = `${field.dataset.testid ?? field.tagName}#${index}`)),
  );
  const reached = new Set();
  for (let presses = 0; presses < wanted.length + 20; presses++) {
    await page.keyboard.press("Tab");
    const probe = await page.evaluate(() => document.activeElement?.dataset.probe);
    if (probe) reached.add(probe);
  }
  assert.deepEqual(wanted.filter((probe) => !reached.has(probe)), []);
});

for (const scale of [1, 2, 3]) {
  pageTest(`the roofline is drawn in device pixels at ratio ${scale}`, { scale }, async ({ page, open }) => {
    await open();
    await settled(page);
    await charted(page);
    const [drawn, shown] = await page.getByTestId("roofline").evaluate((canvas) => [canvas.width, canvas.getBoundingClientRect().width]);
    assert.ok(Math.abs(drawn - shown * scale) <= 1, `${drawn} pixels for ${shown} CSS pixels`);
    const colours = await page.getByTestId("roofline").evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    });
    assert.ok(colours > 10, "something is drawn");
  });
}

pageTest("the overview prints to one page", {}, async ({ page, open }) => {
  for (const link of ["v=1", "v=1&m=deepseek-r1&g=h200-sxm&tp=8&e=sglang&c=64&st=500&sp=50"]) {
    await open(link);
    await settled(page);
    await charted(page);
    await page.locator("[data-testid=simulation-status][data-progress=done]").waitFor({ state: "attached" });
    const pdf = await page.pdf({ format: "A4" });
    const pages = pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g) ?? [];
    assert.equal(pages.length, 1, link);
    await page.goto("about:blank");
  }
});
