// Undo, redo, and the configurations looked at last.
import assert from "node:assert/strict";

import { fragmentHolds, settled } from "./page.mjs";
import { pageTest } from "./harness.mjs";

/** Longer than changes that count as one. */
const pause = (page) => page.waitForTimeout(900);

pageTest("changes are undone and redone, by button and by key", {}, async ({ page, open }) => {
  await open("v=1&osl=200");
  await settled(page);
  const undo = page.getByTestId("undo");
  assert.equal(await undo.getAttribute("aria-disabled"), "true");
  await page.getByTestId("gpu").selectOption("h200-sxm");
  await settled(page);
  await pause(page);
  await page.getByTestId("isl").fill("3000");
  await settled(page);
  await fragmentHolds(page, { g: "h200-sxm", isl: "3000" });
  await undo.click();
  await fragmentHolds(page, { g: "h200-sxm", isl: undefined });
  assert.notEqual(await page.getByTestId("isl").inputValue(), "3000");
  await settled(page);
  await page.keyboard.press("Control+z");
  await fragmentHolds(page, { g: undefined, osl: "200" });
  await settled(page);
  assert.equal(await undo.getAttribute("aria-disabled"), "true");
  await page.keyboard.press("Control+Shift+Z");
  await fragmentHolds(page, { g: "h200-sxm" });
  await settled(page);
  await page.getByTestId("redo").click();
  await fragmentHolds(page, { g: "h200-sxm", isl: "3000" });
  assert.equal(await page.getByTestId("redo").getAttribute("aria-disabled"), "true");
});

pageTest("a number being typed is one change, and its text undoes itself", {}, async ({ page, open }) => {
  await open("v=1");
  await settled(page);
  await pause(page);
  await page.getByTestId("isl").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("4096", { delay: 30 });
  await fragmentHolds(page, { isl: "4096" });
  await settled(page);
  await page.keyboard.press("Control+z");
  assert.notEqual(await page.getByTestId("isl").inputValue(), "4096", "keys of a text are its own");
  await page.getByTestId("isl").fill("4096");
  await settled(page);
  await page.getByTestId("undo").click();
  await fragmentHolds(page, { isl: undefined });
});

pageTest("what was looked at is offered again", {}, async ({ page, open }) => {
  await open("v=1&g=h200-sxm");
  await settled(page);
  await page.waitForFunction(() => localStorage.getItem("rooflight-recent"));
  await page.getByTestId("gpu").selectOption("b200");
  await settled(page);
  await page.keyboard.press("Escape");
  await page.locator("h1").click();
  await page.keyboard.press("/");
  const recent = page.locator("#recent a");
  assert.match(await recent.first().textContent(), /on H200 SXM, vLLM/);
  // Keys wait for what the worker finds.
  await page.locator('#found[data-chosen=""]').waitFor({ state: "attached" });
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await fragmentHolds(page, { g: "h200-sxm" });
  assert.equal(await page.getByTestId("search").evaluate((dialog) => dialog.open), false);
});

pageTest("without storage nothing is offered, and nothing fails", {
  prepare: (page) =>
    page.addInitScript(() => {
      Object.defineProperty(window, "localStorage", {
        get() {
          throw new DOMException("denied", "SecurityError");
        },
      });
    }),
}, async ({ page, open }) => {
  await open("v=1");
  await settled(page);
  await page.waitForTimeout(4500);
  await page.locator("h1").click();
  await page.keyboard.press("/");
  await page.getByTestId("search-words").waitFor();
  assert.equal(await page.locator("#recent a").count(), 0);
});
