// The prerendered pages of well-known configurations, and what sites that ask by oEmbed are told.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { settled } from "./page.mjs";
import { desktop, pageTest, path, phone } from "./harness.mjs";

const { configurations } = JSON.parse(readFileSync(path("static/catalog/presets.json")));
const screenshots = path("target/screenshots");

pageTest("the list leads to each page, and each page to its configuration", {}, async ({ page, url }) => {
  await page.goto(`${url}presets/`);
  const links = page.locator("tbody a");
  assert.equal(await links.count(), configurations.length);
  for (const { id, name } of configurations) {
    await page.goto(`${url}presets/${id}.html`);
    assert.equal(await page.locator("h1").textContent(), name);
    assert.ok(await page.locator("img").evaluate((picture) => picture.decode().then(() => picture.naturalWidth)), `${id}: no picture`);
  }
  const ttft = await page.locator("dd").first().textContent();
  await page.locator(".open").click();
  await settled(page);
  assert.equal((await page.getByTestId("ttft").textContent()).replace(/\s+/g, " ").trim(), ttft.replace(/\s+/g, " ").trim(), "both say the same");
});

for (const [viewport, theme] of [[desktop, "dark"], [phone, "light"]]) {
  pageTest(`a prerendered page reads well (${theme})`, { viewport, theme }, async ({ page, url }) => {
    await page.goto(`${url}presets/`);
    await page.screenshot({ path: `${screenshots}/presets-${theme}.png` });
    await page.goto(`${url}presets/deepseek-r1-h200.html`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width);
    await page.screenshot({ path: `${screenshots}/preset-${theme}.png` });
  });
}

test("whoever publishes the page under an address answers oEmbed", () => {
  const folder = mkdtempSync(join(tmpdir(), "rooflight-"));
  try {
    writeFileSync(join(folder, "index.html"), "");
    const env = { ...process.env, TRUNK_STAGING_DIR: folder, ROOFLIGHT_URL: "https://example.org/rooflight" };
    execFileSync(process.execPath, [path("scripts/hooks/presets.mjs")], { env });
    const written = readdirSync(join(folder, "presets"));
    for (const { id, link } of configurations) {
      const page = readFileSync(join(folder, `presets/${id}.html`), "utf8");
      const [, at] = /type="application\/json\+oembed" href="https:\/\/example\.org\/rooflight\/presets\/([^"]+)"/.exec(page);
      assert.ok(written.includes(at));
      const answer = JSON.parse(readFileSync(join(folder, "presets", at)));
      assert.deepEqual([answer.version, answer.type], ["1.0", "rich"]);
      assert.ok(answer.width > 0 && answer.height > 0);
      const source = `https://example.org/rooflight/embed.html?view=card#${link}`.replaceAll("&", "&amp;");
      assert.ok(answer.html.includes(`src="${source}"`), answer.html);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
