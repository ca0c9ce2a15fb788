// The element <roof-light> in pages of another origin.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { KEYS } from "../../static/boot/keys.js";
import { pageTest, path } from "./harness.mjs";
import { settled } from "./page.mjs";

/** A page with the element, that keeps what it tells. */
const around = (site, body, style = "") => `<!doctype html><html><title>Around</title><style>${style}</style>
<script>
  const events = [];
  for (const type of ["rooflight-result", "rooflight-state"])
    addEventListener(type, ({ target, detail }) => events.push({ type, on: target.id, ...detail }));
</script>
<script type="module" src="${site}roof-light.js"></script>
${body}</html>`;

const inside = (page, id) => page.locator(`#${id}`).locator("iframe").contentFrame();
const height = (page, id) => page.locator(`#${id}`).evaluate((element) => element.getBoundingClientRect().height);

const one = '<roof-light id="one" model="qwen3-32b" gpu="h200-sxm" tp="2" slo-ttft="800" view="card" lock="m"><span>Instead</span></roof-light>';

pageTest("attributes say what to predict; what stands inside shows until it is live", {
  pages: (site) => ({ "/": around(site, one) }),
  prepare: (page) => page.route(/embed\.html/, async (route) => {
    await new Promise((held) => setTimeout(held, 700));
    await route.continue();
  }),
}, async ({ page, host }) => {
  await page.goto(host);
  await page.getByText("Instead").waitFor();
  await settled(inside(page, "one"));
  await page.getByText("Instead").waitFor({ state: "hidden" });
  await page.waitForFunction(() => events.some(({ type, basis }) => type === "rooflight-result" && basis === "learned"));
  const result = await page.evaluate(() => events.findLast(({ type }) => type === "rooflight-result"));
  assert.equal(result.link, "v=1&m=qwen3-32b&g=h200-sxm&tp=2&st=800");
  assert.ok(result.ttft > 0.01 && result.fits);
  assert.ok(await inside(page, "one").getByTestId("model").isDisabled());
  const content = await inside(page, "one").locator("body").evaluate((body) => body.getBoundingClientRect().height);
  assert.ok(Math.abs((await height(page, "one")) - content) <= 1, "it is as high as its content");
});

pageTest("changed attributes are followed", { pages: (site) => ({ "/": around(site, one) }) }, async ({ page, host }) => {
  await page.goto(host);
  await settled(inside(page, "one"));
  const set = (name, text) => page.locator("#one").evaluate((element, [name, text]) => element.setAttribute(name, text), [name, text]);
  await set("isl", "3000");
  await page.waitForFunction(() => events.at(-1)?.link === "v=1&m=qwen3-32b&g=h200-sxm&tp=2&isl=3000&st=800");
  assert.equal(await inside(page, "one").getByTestId("isl").inputValue(), "3000");
  await set("height", "333");
  assert.equal(await height(page, "one"), 333);
  await set("view", "roofline");
  await inside(page, "one").locator("[data-testid=roofline][data-drawn]").waitFor();
});

pageTest("a link is one attribute, and others count over it", {
  pages: (site) => ({ "/": around(site, `<roof-light id="one" link="https://example.org/x/#v=1&m=qwen3-32b&isl=99" isl="77"></roof-light>`) }),
}, async ({ page, host }) => {
  await page.goto(host);
  await page.waitForFunction(() => events.some(({ link }) => link === "v=1&m=qwen3-32b&isl=77"));
});

const far = '<roof-light id="one">One</roof-light><p style="height: 4000px"></p><roof-light id="two" gpu="l4">Two</roof-light>';
pageTest("several load when they come near, and share one copy of the code", { pages: (site) => ({ "/": around(site, far) }) }, async ({ page, host }) => {
  await page.goto(host);
  await settled(inside(page, "one"));
  assert.equal(await page.locator("#two").locator("iframe").count(), 0);
  await page.locator("#two").scrollIntoViewIfNeeded();
  await settled(inside(page, "two"));
  const transferred = await inside(page, "two").locator("body").evaluate(() =>
    performance.getEntriesByType("resource").filter(({ name }) => name.endsWith("_bg.wasm")).map(({ transferSize }) => transferSize));
  assert.deepEqual(transferred, [0], "from the cache");
});

for (const [name, style, dark] of [
  ["a dark page", "body { background: #1a1a1a }", true],
  ["a light page in a dark system", "html { background: white }", false],
]) {
  pageTest(`the theme follows ${name}, and its changes`, { theme: "dark", pages: (site) => ({ "/": around(site, one, `${style} .other { background: ${dark ? "#fff" : "#000"} }`) }) }, async ({ page, host }) => {
    await page.goto(host);
    await settled(inside(page, "one"));
    const theme = (wanted) => inside(page, "one").locator(`html[data-theme=${wanted}]`).waitFor({ state: "attached" });
    await theme(dark ? "dark" : "light");
    await page.evaluate(() => (document.body.className = "other"));
    await theme(dark ? "light" : "dark");
  });
}

pageTest("without its script, and without the page, what stands inside stays", {
  pages: (site) => ({ "/": around(site, one), "/none": one }),
  prepare: (page) => page.route(/embed\.html/, (route) => route.abort()),
  expected: /Failed to load resource|ERR_FAILED/,
}, async ({ page, host }) => {
  await page.goto(host);
  await page.waitForTimeout(500);
  assert.ok(await page.getByText("Instead").isVisible());
  await page.goto(`${host}none`);
  assert.ok(await page.getByText("Instead").isVisible());
});

pageTest("empty, it shows a link instead", { pages: (site) => ({ "/": around(site, '<roof-light id="one" gpu="l4"></roof-light>') }), prepare: (page) => page.route(/embed\.html/, () => {}) }, async ({ page, host, url }) => {
  await page.goto(host, { waitUntil: "domcontentloaded" });
  const instead = page.getByRole("link", { name: "Open this prediction in Rooflight" });
  await instead.waitFor();
  assert.equal(await instead.getAttribute("href"), `${url}#v=1&g=l4`);
});

pageTest("under the strictest policy that lets the page in", {
  pages: (site) => {
    const origin = new URL(site).origin;
    const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${origin}; frame-src ${origin}">`;
    return { "/": `<!doctype html>${policy}<title>Strict</title><script type="module" src="${site}roof-light.js"></script>${one}` };
  },
}, async ({ page, host }) => {
  await page.goto(host);
  await settled(inside(page, "one"));
  assert.ok((await height(page, "one")) > 100);
});

test("attributes are the keys of a link", () => {
  const rows = readFileSync(path("docs/links.md"), "utf8").matchAll(/^\| `(\w+)` \| `(\w+)`(?:, in links only)? \|/gm);
  const documented = Object.fromEntries([...rows].filter(([, key]) => !["v", "x", "f"].includes(key)).map(([, key, field]) => [field, key]));
  assert.deepEqual(KEYS, documented);
});
