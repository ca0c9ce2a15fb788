// A link holds everything: reload, back and forward restore it, and a bad one never breaks the page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { pageTest, path } from "./harness.mjs";
import { fragmentHolds, gpuShown, issue, numbers, settled, show } from "./page.mjs";

const link = "v=1&m=qwen3-32b&g=h200-sxm&n=2&tp=2&e=sglang&w=fp8&kv=fp8&isl=3000&osl=300&c=48";

pageTest("a link fills the form", {}, async ({ page, open }) => {
  await open(link);
  await settled(page);
  const wanted = { model: "qwen3-32b", gpu: "h200-sxm", engine: "sglang", weights: "fp8", kv: "fp8", tp: "2", isl: "3000", osl: "300", concurrency: "48" };
  for (const [control, text] of Object.entries(wanted))
    assert.equal(await page.getByTestId(control).inputValue(), text, control);
});

pageTest("a reload restores what was chosen and typed", {}, async ({ page, open }) => {
  await open();
  await settled(page);
  await page.getByTestId("model").selectOption("qwen3-32b");
  await page.getByTestId("isl").fill("3000");
  await fragmentHolds(page, { m: "qwen3-32b", isl: "3000" });
  await settled(page);
  const before = await numbers(page);
  await page.reload();
  await settled(page);
  assert.deepEqual(await numbers(page), before);
  assert.equal(await page.getByTestId("model").inputValue(), "qwen3-32b");
});

pageTest("back and forward restore; loading pushes nothing", {}, async ({ page, open }) => {
  await open(link);
  await settled(page);
  const entries = await page.evaluate(() => history.length);
  const first = await numbers(page);
  await page.getByTestId("gpu").selectOption("b200");
  await fragmentHolds(page, { g: "b200" });
  await settled(page);
  const second = await numbers(page);
  assert.equal(await page.evaluate(() => history.length), entries + 1, "choosing pushes one entry");
  await page.goBack();
  await fragmentHolds(page, { g: "h200-sxm" });
  await gpuShown(page, "h200-sxm");
  await settled(page);
  assert.equal(await page.getByTestId("gpu").inputValue(), "h200-sxm");
  assert.deepEqual(await numbers(page), first);
  await page.goForward();
  await fragmentHolds(page, { g: "b200" });
  await gpuShown(page, "b200");
  await settled(page);
  assert.deepEqual(await numbers(page), second);
});

pageTest("typing replaces the history entry", {}, async ({ page, open }) => {
  await open();
  await settled(page);
  const entries = await page.evaluate(() => history.length);
  await page.getByTestId("isl").pressSequentially("7");
  await page.getByTestId("osl").fill("99");
  await fragmentHolds(page, { osl: "99" });
  assert.equal(await page.evaluate(() => history.length), entries);
});

pageTest("a changed fragment is read without a reload", {}, async ({ page, open }) => {
  await open();
  await settled(page);
  await page.evaluate(() => (location.hash = "v=1&g=l4&isl=500"));
  await gpuShown(page, "l4");
  await settled(page);
});

pageTest("a link in the query gives way to what is chosen", {}, async ({ page, url }) => {
  await page.goto(`${url}?utm=x&tp=2&c=32`);
  await settled(page);
  await fragmentHolds(page, { tp: "2", c: "32" });
  await page.getByTestId("tp").fill("1");
  await fragmentHolds(page, { tp: undefined, c: "32" });
  assert.equal(new URL(page.url()).search, "?utm=x");
  await page.reload();
  await settled(page);
  assert.equal(await page.getByTestId("tp").inputValue(), "1");
});

for (const [key, field] of [["m", "model"], ["g", "gpu"], ["e", "engine"], ["w", "weights"]]) {
  pageTest(`an unknown id of ${field} is named`, {}, async ({ page, open }) => {
    await open(`v=1&${key}=no-such-thing`);
    assert.match(await issue(page, field), /no-such-thing/);
  });
}

pageTest("a link of another release names both, until it is edited", {}, async ({ page, open }) => {
  await open("v=1&tp=2&d=2001-01-31");
  await settled(page);
  const { release } = JSON.parse(readFileSync(path("models/manifest.json")));
  assert.match(await issue(page, "data"), new RegExp(`2001-01-31.*${release}`));
  await page.getByTestId("isl").fill("2000");
  await fragmentHolds(page, { tp: "2", isl: "2000", d: undefined });
  await page.locator("[data-testid=issue][data-field=data]").waitFor({ state: "detached" });
});

const copying = (page) => page.context().grantPermissions(["clipboard-read", "clipboard-write"]);

pageTest("the link copied names the release of its numbers", { prepare: copying }, async ({ page, open }) => {
  await open("v=1&tp=2");
  await settled(page);
  await page.getByTestId("copy-link").click();
  await page.getByTestId("copy-link").getByText("Copied").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  const { release } = JSON.parse(readFileSync(path("models/manifest.json")));
  assert.equal(copied, `${page.url()}&d=${release}`);
  await page.goto("about:blank");
  await page.goto(copied);
  await settled(page);
  assert.equal(await page.locator("[data-testid=issue][data-field=data]").count(), 0);
});

const CLIPBOARDS = {
  "no clipboard": () => Object.defineProperty(Navigator.prototype, "clipboard", { value: undefined }),
  "a clipboard that refuses": () => (Clipboard.prototype.writeText = () => Promise.reject(new DOMException("denied", "NotAllowedError"))),
};
for (const [what, without] of Object.entries(CLIPBOARDS)) {
  pageTest(`with ${what} the buttons say where the text is`, { prepare: (page) => page.addInitScript(without) }, async ({ page, open }) => {
    await open("v=1");
    await settled(page);
    const link = page.getByTestId("copy-link");
    await link.click();
    await link.getByText("See address bar").waitFor();
    await link.getByText("Copy link").waitFor();
    await show(page, "share");
    const snippet = page.locator("#study-document .command button").first();
    await snippet.click();
    await snippet.getByText("Select it").waitFor();
    // Asked again while it still says so, it says in the end what it does.
    await snippet.click();
    await page.waitForTimeout(4500);
    assert.equal(await snippet.textContent(), "Copy");
    assert.equal(await link.textContent(), "Copy link");
  });
}

for (const bad of ["v=1&isl=-5&osl=1e99&c=NaN", "v=99&m=qwen3-32b", "%E0%A4%A", "=&=&&&", "x=AAAA", "v=1&tp=3&pp=7", "m=".repeat(5000)]) {
  pageTest(`a bad link leaves a page that works: ${bad.slice(0, 40)}`, {}, async ({ page, open }) => {
    await open(bad);
    await page.getByTestId("results").waitFor();
    assert.equal(await page.getByTestId("failure").isVisible(), false);
    await page.evaluate(() => (location.hash = "v=1"));
    await settled(page);
    await numbers(page);
  });
}
