// The simulated run behind the headline, and the loads around it: they agree with the native tool, stop, and name what is too much.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { desktop, pageTest, path, phone } from "./harness.mjs";
import { cells, choose, fragmentHolds, issue, others, settled, simulation, unfold } from "./page.mjs";

function native(link) {
  const binary = `${process.env.ROOFLIGHT_BIN ?? path("target/debug")}/predict`;
  const text = execFileSync(binary, [link, "--sweep", "--models", path("models")], { encoding: "utf8" });
  return JSON.parse(text);
}

/** "123 ms" or "1 min 19 s" as seconds. */
function seconds(text) {
  const parts = text.replace(/[\u00a0\u202f]/g, " ").matchAll(/([\d.]+) (µs|ms|s|min|h)\b/g);
  const scales = { "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 };
  return [...parts].reduce((sum, [, number, unit]) => sum + Number(number) * scales[unit], 0);
}

const link = "v=1&osl=64&isl=300&c=8&st=200&sp=20";

pageTest("latencies by their spread, other loads and the largest within the limits, as natively", {}, async ({ page, open }) => {
  await open(link);
  await settled(page);
  await simulation(page, "done");
  const { report: { run, headline }, sweep } = native(link);
  assert.ok(Math.abs(headline.ttft / run.metrics.ttft.mean - 1) < 1e-9, "one number");
  assert.match(await page.locator("[data-spread=ttft]").textContent(), /^P50 .*, P90 .*, P99 /);
  assert.match(await page.locator("[data-spread=throughput]").textContent(), /goodput/);
  const table = await cells(page, "latencies");
  assert.deepEqual(table[0], ["Name", "Mean", "P50", "P90", "P99"]);
  for (const [row, name] of [[1, "ttft"], [2, "tpot"], [3, "itl"], [4, "e2e"]]) {
    for (const [column, part] of [[1, "mean"], [2, "p50"], [3, "p90"], [4, "p99"]]) {
      const [shown, ours] = [seconds(table[row][column]), run.metrics[name][part]];
      assert.ok(Math.abs(shown / ours - 1) < 6e-3, `${name} ${part}: ${table[row][column]} in the page, ${ours} s natively`);
    }
  }
  const points = await others(page);
  assert.equal(points.length - 1, sweep.points.length);
  points.slice(1).forEach((cells, index) => {
    const ours = sweep.points[index].ttft.mean;
    assert.ok(Math.abs(seconds(cells[1]) / ours - 1) < 6e-3, `${cells[0]} clients: ${cells[1]}, ${ours} s natively`);
  });
  assert.match(await page.getByTestId("largest").textContent(), new RegExp(`if all start together, or ${sweep.largest} if they start one after another`));
  for (const chart of ["timeline", "curve"]) await page.locator(`[data-testid=${chart}][data-drawn]`).waitFor();
});

pageTest("measured runs are drawn on the answer's own curve, fetched after it", {}, async ({ page, open }) => {
  // The learned answer needs the models and nothing else: the worker answers as soon as they have come.
  const [coming, came, early] = [new Set(), [], []];
  page.on("request", (request) => {
    if (request.url().includes(".onnx")) coming.add(request.url());
    if (request.url().endsWith("evidence.json") && (coming.size > 0 || came.length === 0)) early.push(request.url());
  });
  page.on("requestfinished", (request) => {
    if (coming.delete(request.url())) came.push(request.url());
  });
  await page.addInitScript(() => {
    window.shifts = [];
    new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map(({ value }) => value))).observe({ type: "layout-shift", buffered: true });
  });
  const measured = "v=1&m=minimax-m2.5&g=b200&tp=4&w=fp8_block&kv=fp8&isl=922&osl=922&rr=0.111&c=16";
  await open(measured);
  await settled(page);
  await simulation(page, "done");
  assert.deepEqual(early, []);
  assert.ok(came.length > 0, "the models came");
  await page.locator("[data-testid=curve] ~ .chart-tools [data-key=measured]").waitFor();
  assert.match(await page.getByTestId("curve-summary").textContent(), /\d+ measured runs are shown for comparison\.$/);
  const shifts = await page.evaluate(() => window.shifts);
  assert.ok(shifts.reduce((sum, shift) => sum + shift, 0) < 0.01, `the page shifts by ${shifts}`);
  // Of replicas nothing was measured; their totals say that they are.
  await open(`${measured.replace("&c=16", "&c=32")}&n=8`);
  await page.locator(".gauge", { has: page.getByTestId("throughput") }).filter({ hasText: "in all" }).waitFor();
  await settled(page);
  assert.match(await page.locator(".gauge", { has: page.getByTestId("running") }).textContent(), /per replica/);
  await simulation(page, "done");
  assert.equal(await page.locator("[data-key=measured]").count(), 0);
});

pageTest("a rate in place of clients, like the load shown, and its limits in the link", {}, async ({ page, open }) => {
  await open("v=1&isl=300&osl=64&c=4");
  await settled(page);
  await choose(page, "load-rate");
  await settled(page);
  await page.getByTestId("rate").fill("2.5");
  await page.getByTestId("slo_ttft").fill("250");
  await page.getByTestId("slo_tpot").fill("12.5");
  await fragmentHolds(page, { r: "2.5", st: "250", sp: "12.5", c: undefined });
  await settled(page);
  await simulation(page, "done");
  assert.match(await page.getByTestId("simulation-what").textContent(), /1000 requests, 2\.50? per second/);
  assert.match(await page.getByTestId("simulation-facts").textContent(), /goodput/);
  await page.getByTestId("rate").fill("0");
  assert.match(await issue(page, "rate"), /between 0\.001 and 1\s000\s000/);
});

pageTest("arrivals beyond capacity are named, with what can be served", {}, async ({ page, open }) => {
  await open("v=1&isl=1024&osl=128&r=500");
  await settled(page);
  assert.match(await issue(page, "rate"), /Arrivals exceed capacity.*TTFT grows without bound/);
  const { served_per_s } = native("v=1&isl=1024&osl=128&r=500").report.run.saturation;
  const served = Number((await issue(page, "rate")).match(/arrive, ([\d.]+) can be served/)[1]);
  assert.ok(Math.abs(served / served_per_s - 1) < 6e-3, `${served} of ${served_per_s}`);
  assert.equal(await page.getByTestId("fit").getAttribute("data-fits"), "true", "memory is not what it lacks");
  await simulation(page, "done");
});

for (const [name, viewport] of Object.entries({ desktop, phone })) {
  pageTest(`its charts have words and tables, and fit a ${name}`, { viewport }, async ({ page, open }) => {
    await open(link);
    await settled(page);
    await simulation(page, "done");
    assert.match(await page.getByTestId("curve-summary").textContent(), /From 1 client to 64 clients: mean TTFT/);
    assert.match(await page.getByTestId("timeline-summary").textContent(), /KV cache [\d.]+\s*%\s*full/);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.ok(!wide, "the page scrolls sideways");
  });
}

/** `count` requests, one every `gap` seconds. */
const trace = (count, gap) =>
  ["arrival,prompt,output", ...Array.from({ length: count }, (_, index) => `${index * gap},${200 + (index % 3) * 100},${20 + (index % 5)}`)].join("\n");

pageTest("a trace is replayed, at its own pace and at another, until a reload", {}, async ({ page, open }) => {
  await open();
  await settled(page);
  await page.getByTestId("trace-panel").locator("summary").click();
  await page.getByTestId("trace-file").setInputFiles({ name: "a.csv", mimeType: "text/csv", buffer: Buffer.from(trace(90, 0.5)) });
  await fragmentHolds(page, { isl: "300", osl: "22", r: "2" });
  assert.match(await page.getByTestId("traced").textContent(), /Trace of 90 requests: prompts of 300 tokens on average, up to 400/);
  const what = page.getByTestId("simulation-what");
  await what.filter({ hasText: "90 requests of the trace at 2.00 per second" }).or(what.filter({ hasText: "at 2 per second" })).waitFor();
  await simulation(page, "done");
  await page.getByTestId("rate").fill("8");
  await what.filter({ hasText: "90 requests of the trace at 8" }).waitFor();
  // The trace is gone with a reload, which is said beside the load until it is chosen again or dismissed.
  await page.reload();
  await settled(page);
  assert.match(await page.getByTestId("traced").textContent(), /no longer has this trace: choose it again\..* Trace of 90 requests/);
  await what.filter({ hasText: "1000 requests, 8" }).waitFor();
  await page.getByTestId("trace-remove").click();
  await page.getByTestId("traced").waitFor({ state: "hidden" });
  await page.reload();
  await settled(page);
  assert.ok(await page.getByTestId("traced").isHidden());
});

pageTest("a trace is removed, and comes and goes with the configurations of a visit", {}, async ({ page, open }) => {
  await open("v=1&c=8");
  await settled(page);
  const before = await page.getByTestId("simulation-what").textContent();
  await page.getByTestId("trace-panel").locator("summary").click();
  await page.getByTestId("trace-file").setInputFiles({ name: "a.csv", mimeType: "text/csv", buffer: Buffer.from(trace(90, 0.5)) });
  const what = page.getByTestId("simulation-what");
  await what.filter({ hasText: "90 requests of the trace" }).waitFor();
  // Longer than changes that count as one.
  await page.waitForTimeout(900);
  await page.getByTestId("trace-remove").click();
  await what.filter({ hasText: "1000 requests, 2" }).waitFor();
  await page.getByTestId("undo").click();
  await what.filter({ hasText: "90 requests of the trace" }).waitFor();
  await page.getByTestId("undo").click();
  await what.filter({ hasText: before }).waitFor();
  assert.ok(await page.getByTestId("traced").isHidden());
  await page.goBack();
  await what.filter({ hasText: "90 requests of the trace" }).waitFor();
});

for (const [text, said] of [
  ["time,prompt\n1,2", /no output/],
  ["arrival,prompt,output\n0,10,5\n1,200000,5", /Request 2 .*leave it out, or shorten it/],
]) {
  pageTest(`a trace is refused by name: ${said}`, {}, async ({ page, open }) => {
    await open();
    await settled(page);
    await page.getByTestId("trace-panel").locator("summary").click();
    await page.getByTestId("trace").fill(text);
    await page.getByTestId("trace-use").click();
    await page.locator("[data-testid=issue][data-field=trace]").filter({ hasText: said }).first().waitFor();
    assert.equal(await page.getByTestId("trace").inputValue(), text);
  });
}

pageTest("lengths without arrivals become a histogram in the link, until one length is typed", {}, async ({ page, open }) => {
  await open();
  await settled(page);
  await page.getByTestId("trace-panel").locator("summary").click();
  await page.getByTestId("trace").fill("prompt,output,weight\n1000,90,1\n100,10,3");
  await page.getByTestId("trace-use").click();
  await fragmentHolds(page, { hl: "100-10x3,1000-90" });
  assert.equal(await page.getByTestId("isl").inputValue(), "325");
  assert.equal(await page.getByTestId("osl").inputValue(), "30");
  await page.getByTestId("osl").fill("40");
  await fragmentHolds(page, { hl: undefined, isl: "325", osl: "40" });
});

pageTest("a job says how long it takes and what that costs", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-8b&on=200");
  await settled(page);
  await page.getByTestId("job").waitFor();
  assert.match(await page.locator("[data-spread=job]").textContent(), /^\$[\d.]+ in all$/);
  await choose(page, "load-concurrency");
  await settled(page);
  assert.equal(await page.getByTestId("job").count(), 0);
});

pageTest("bursts are asked for with a rate, and simulated", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-8b&r=4");
  await settled(page);
  await unfold(page);
  await page.getByTestId("burstiness").fill("0.5");
  await fragmentHolds(page, { bu: "0.5" });
  await page.getByTestId("simulation-what").filter({ hasText: "gamma, burstiness 0.5" }).waitFor();
  await choose(page, "load-concurrency");
  assert.equal(await page.getByTestId("burstiness").count(), 0);
  await page.locator("[data-testid=issue][data-field=load]").filter({ hasText: /was reset from 0.5 to 1/ }).waitFor();
});

pageTest("the commands that would measure this configuration are at hand", {}, async ({ page, open }) => {
  await open(`${link}&tp=2`);
  await settled(page);
  await simulation(page, "done");
  await page.getByTestId("measure").locator("summary").click();
  assert.match(await page.getByTestId("launch").textContent(), /vllm serve meta-llama\/\S+.*--tensor-parallel-size 2/s);
  const { commands } = native(`${link}&tp=2`);
  assert.equal(await page.getByTestId("bench").textContent(), commands.bench);
  assert.match(commands.bench, /--max-concurrency 8/);
});
