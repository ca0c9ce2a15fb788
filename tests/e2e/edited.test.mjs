// GPUs and models with figures of the visitor's own.
import assert from "node:assert/strict";

import { pageTest, path, phone } from "./harness.mjs";
import { fragmentHolds, issue, numbers, settled, show, studied, unfold } from "./page.mjs";

const link = "v=1&m=qwen3-32b&tp=2&c=16";
const screenshot = (page, name) => page.screenshot({ path: path(`target/screenshots/edited-${name}.png`), fullPage: true });

pageTest("twice the bandwidth of a GPU decodes faster, and the page says that nobody measured it", {}, async ({ page, open }) => {
  await open(link);
  await settled(page);
  const before = await numbers(page);
  await unfold(page);
  await page.getByTestId("bandwidth").fill("6700");
  await fragmentHolds(page, { hbw: "6700" });
  await settled(page);
  assert.ok((await numbers(page)).tpot < 0.8 * before.tpot);
  assert.match(await issue(page, "gpu"), /measured/);
  assert.match(await page.getByTestId("hardware-fold").locator("summary").textContent(), /Memory bandwidth 6700/);
  await screenshot(page, "gpu");
  // Another GPU has figures of its own.
  await page.getByTestId("gpu").selectOption("h200-sxm");
  await fragmentHolds(page, { hbw: undefined, g: "h200-sxm" });
});

pageTest("a rate without kernels is refused beside its field", {}, async ({ page, open }) => {
  await open(`${link}&hf4=4000`);
  assert.match(await issue(page, "fp4_tflops"), /have no FP4 mode/);
});

pageTest("fewer layers are faster, and the link holds the model", {}, async ({ page, open }) => {
  await open(link);
  await settled(page);
  const before = await numbers(page);
  await unfold(page);
  await page.getByTestId("layers").fill("32");
  await page.waitForFunction(() => location.hash.includes("x="));
  await settled(page);
  assert.ok((await numbers(page)).tpot < 0.7 * before.tpot);
  assert.match(await page.getByTestId("architecture-fold").locator("summary").textContent(), /edited/);
  assert.equal(await page.getByTestId("experts").count(), 0, "a dense model has none");
  await screenshot(page, "model");
});

for (const [name, viewport] of [["desktop", undefined], ["phone", phone]]) {
  pageTest(`${name}: what figures and shapes are worth is listed, and a click tries one`, { ...(viewport && { viewport }), timeout: 120_000 }, async ({ page, open }) => {
    await open(link);
    await settled(page);
    for (const topic of ["sensitivity", "shape"]) {
      await show(page, topic);
      await studied(page, { timeout: 60_000 });
      assert.ok(await page.locator("#study-document tbody tr").count() > 3);
      await screenshot(page, `${topic}-${name}`);
    }
    await page.locator("#study-document").getByRole("link", { name: "Half the KV heads" }).click();
    await page.waitForFunction(() => location.hash.includes("x="));
    await settled(page);
  });
}
