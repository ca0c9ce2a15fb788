// A measurement of the visitor's own: pasted, set beside the prediction, sent as a link, removed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { desktop, pageTest, path, phone } from "./harness.mjs";
import { choose, curved, fragmentHolds, settled, show, value } from "./page.mjs";

/** What `vllm bench serve` prints of the default configuration's load. */
const report = `============ Serving Benchmark Result ============
Successful requests:                     320
Maximum request concurrency:             16
Benchmark duration (s):                  72.10
Total input tokens:                      327680
Total generated tokens:                  163840
Request throughput (req/s):              4.44
Output token throughput (tok/s):         2272.4
Total Token throughput (tok/s):          6817.1
---------------Time to First Token----------------
Mean TTFT (ms):                          61.25
Median TTFT (ms):                        52.18
P99 TTFT (ms):                           301.33
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          6.91
Median TPOT (ms):                        6.90
P99 TPOT (ms):                           7.02
==================================================`;

const me = "ttft-61.25-52.18,tpot-6.91-6.9,throughput-2272.4,requests-4.44,total-6817.1";

async function paste(page, text) {
  const panel = page.getByTestId("measured-panel");
  if (!(await panel.evaluate((details) => details.open))) await panel.locator("summary").click();
  await page.getByTestId("measured").fill(text);
  await page.getByTestId("measured-use").click();
}

const beside = (page, id) => page.locator(`[data-measured=${id}]`);
const said = (page, text) => page.locator("[data-testid=issue][data-field=measured]").filter({ hasText: text }).first().waitFor();

/** "-4.2 %" as a share. */
const share = (text) => Number(/([−+])([\d.]+)\s%$/.exec(text).slice(1).join("").replace("−", "-")) / 100;

pageTest("a measurement of another load opens as it was measured", {}, async ({ page, open }) => {
  await open("v=1&m=llama-3.1-8b&c=8");
  await settled(page);
  await paste(page, report);
  await page.getByTestId("measured-open").click();
  await fragmentHolds(page, { c: undefined, me });
  await page.getByTestId("measured-open").waitFor({ state: "detached" });
  await settled(page);
  await beside(page, "ttft").filter({ hasText: /^61\.3/ }).waitFor();
});

pageTest("what was measured stands beside the prediction, in the link too, until it is removed", {}, async ({ page, open, url }) => {
  await open();
  await settled(page);
  const plain = await page.locator(".headline").boundingBox();
  for (const id of ["ttft", "request-rate", "waiting"]) assert.equal(await beside(page, id).isVisible(), false, id);
  await paste(page, report);
  await fragmentHolds(page, { me });
  await settled(page);
  for (const [id, measured, text] of [["ttft", 0.06125, "61.3 ms"], ["tpot", 0.00691, "6.91 ms"], ["throughput", 2272.4, "2272"], ["request-rate", 4.44, "4.44 /s"]]) {
    const words = await beside(page, id).textContent();
    assert.ok(words.replace(/\s/g, " ").startsWith(text), `${id}: ${words}`);
    assert.ok(Math.abs(share(words) - (await value(page, id)) / measured + 1) < 6e-4, `${id}: ${words}`);
  }
  assert.equal(await beside(page, "e2e").isVisible(), false, "it was not measured");
  assert.equal(await page.locator("[data-testid=issue][data-field=measured]:not([data-severity=note])").count(), 0);
  await show(page, "explain");
  await page.getByTestId("measured-beside").waitFor();
  assert.match(await page.getByTestId("measured-beside").textContent(), /Median measured.*TTFT.*61\.3.*52\.2/s);
  await show(page, "export");
  await choose(page, "of-csv");
  await page.locator("#study-document").getByText("ttft,", { exact: false }).first().waitFor();
  // Whoever gets the link sees the same.
  const other = await page.context().newPage();
  await other.goto(page.url());
  await settled(other);
  assert.equal(await beside(other, "ttft").textContent(), await beside(page, "ttft").textContent());
  await other.close();
  await page.getByTestId("measured-remove").click();
  await fragmentHolds(page, { me: undefined, run: undefined });
  await settled(page);
  assert.equal(await beside(page, "ttft").isVisible(), false);
  assert.equal((await page.locator(".headline").boundingBox()).height, plain.height);
});

pageTest("a report of another load is read, and the difference said", {}, async ({ page, open }) => {
  await open("v=1&c=32&isl=2048");
  await settled(page);
  await page.getByTestId("measured-panel").locator("summary").click();
  await page.getByTestId("measured-file").setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from(report) });
  await fragmentHolds(page, { me });
  await said(page, /with 16 concurrent requests, configured with 32 clients/);
  await said(page, /prompts average 1024 tokens, the configured ones 2048/);
});

for (const [text, wrong] of [
  ["nothing of the kind", /No measurement found.*Mean TTFT \(ms\)/],
  ['{"mean_ttft_ms": 1', /Not JSON/],
]) {
  pageTest(`a text is refused by name: ${wrong}`, {}, async ({ page, open }) => {
    await open();
    await settled(page);
    await paste(page, text);
    await said(page, wrong);
    assert.equal(await page.getByTestId("measured").inputValue(), text);
    await fragmentHolds(page, { me: undefined });
  });
}

pageTest("what is wrong with a measurement in a link withholds no answer", {}, async ({ page, open }) => {
  await open("v=1&me=ttft-0");
  await settled(page);
  await said(page, /A measured time must be .* not 0/);
  assert.ok((await value(page, "ttft")) > 0);
  assert.equal(await beside(page, "ttft").isVisible(), false);
});

pageTest("page and native agree on what was measured", {}, async ({ page, open }) => {
  const link = `v=1&me=${me},e2e--3600`;
  const binary = `${process.env.ROOFLIGHT_BIN ?? path("target/debug")}/predict`;
  const { measured } = JSON.parse(execFileSync(binary, [link, "--models", path("models")], { encoding: "utf8" }));
  assert.deepEqual(measured.map(({ name }) => name), ["ttft", "tpot", "e2e", "throughput", "requests", "total"]);
  await open(link);
  await settled(page);
  for (const { name, difference } of measured) {
    const id = name === "requests" ? "request-rate" : name;
    assert.ok(Math.abs(share(await beside(page, id).textContent()) - difference) < 6e-4, name);
  }
});

for (const [name, viewport, theme] of [["desktop", desktop, "light"], ["phone", phone, "dark"]]) {
  pageTest(`a measurement at a ${name}'s size, ${theme}`, { viewport, theme }, async ({ page, open }) => {
    await open(`v=1&me=${me}`);
    await settled(page);
    await curved(page);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width);
    const cut = await page.locator("[data-measured]:visible").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
    assert.equal(cut, 0, "every difference can be read");
    await page.locator(".headline").scrollIntoViewIfNeeded();
    await page.screenshot({ path: path(`target/screenshots/measured-${name}-${theme}.png`) });
  });
}

pageTest("a sweep that is pasted calibrates its neighbours, and says so, in the link too", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-32b&tp=2&c=32");
  await settled(page);
  const before = await value(page, "tpot");
  await paste(page, "concurrency,mean_ttft_ms,mean_tpot_ms\n8,154,20.5\n128,682,42.3\n");
  await page.getByText("2 runs of yours are loaded").waitFor();
  await settled(page);
  assert.notEqual(await value(page, "tpot"), before);
  assert.match(await page.getByTestId("calibration").textContent(), /Calibrated on your 2 runs; without: TTFT .*, TPOT/);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await settled(other);
  assert.equal(await value(other, "tpot"), await value(page, "tpot"));
  await other.close();
  // One of them alone, which may be wrong.
  await page.getByTestId("measured-runs").locator("summary").click();
  await page.getByText("8 clients: TTFT 154 ms, TPOT 20.5 ms").waitFor();
  await page.getByTestId("measured-remove-0").click();
  await page.getByText("1 run of yours is loaded").waitFor();
  await settled(page);
  assert.match(await page.getByTestId("calibration").textContent(), /Calibrated on your (1 )?run/);
  await page.getByTestId("measured-remove").click();
  await settled(page);
  assert.equal(await value(page, "tpot"), before);
});
