// Every input changes the answer, and what is typed wrong is named and kept.
import assert from "node:assert/strict";

import { pageTest } from "./harness.mjs";
import { choose, fragmentHolds, issue, numbers, settled, unfold, value } from "./page.mjs";

/** Control, what is chosen or typed, the key of the link that then holds it. */
const changes = [
  ["model", "select", "qwen3-32b", { m: "qwen3-32b" }],
  ["gpu", "select", "h200-sxm", { g: "h200-sxm" }],
  ["engine", "select", "sglang", { e: "sglang" }],
  ["weights", "select", "fp8", { w: "fp8" }],
  ["kv", "select", "fp8", { kv: "fp8" }],
  ["tp", "type", "2", { tp: "2" }],
  ["isl", "type", "4000", { isl: "4000" }],
  ["osl", "type", "100", { osl: "100" }],
  ["concurrency", "type", "64", { c: "64" }],
  ["cached_share", "type", "0.5", { pc: "0.5" }],
  ["drafted", "type", "3", { sd: "3" }],
];

pageTest("each control changes the numbers and the link", {}, async ({ page, open }) => {
  await open();
  await settled(page);
  const ttft = (before) => page.waitForFunction((ttft) => Number(document.querySelector("[data-testid=ttft]").dataset.value) === ttft, before.ttft);
  const before = await numbers(page);
  await unfold(page);
  for (const [control, manner, text, wanted] of changes) {
    const field = page.getByTestId(control);
    await (manner === "select" ? field.selectOption(text) : field.fill(text));
    await fragmentHolds(page, wanted);
    await settled(page);
    assert.notDeepEqual(await numbers(page), before, control);
    await page.evaluate(() => (location.hash = "v=1"));
    await ttft(before);
    await settled(page);
  }
});

pageTest("a slider moves its number", {}, async ({ page, open }) => {
  await open();
  await settled(page);
  const before = await numbers(page);
  const typed = await page.getByTestId("isl").inputValue();
  await page.getByTestId("isl-range").focus();
  await page.keyboard.press("ArrowRight");
  await settled(page);
  assert.notEqual(await page.getByTestId("isl").inputValue(), typed);
  await page.waitForFunction((ttft) => document.querySelector("[data-testid=ttft]").dataset.value > ttft, before.ttft);
});

pageTest("an offline batch answers in place of clients", {}, async ({ page, open }) => {
  await open();
  await settled(page);
  await choose(page, "load-batch");
  await page.getByTestId("batch").fill("8");
  await fragmentHolds(page, { b: "8" });
  await settled(page);
  await value(page, "ttft");
});

pageTest("a number beyond its limits, none or nothing gets an issue and stays as typed", {}, async ({ page, open }) => {
  await open();
  await settled(page);
  for (const [index, text] of ["0", "99999999", "12x", ""].entries()) {
    await page.getByTestId("isl").fill(text);
    assert.match(await issue(page, "isl"), /\w/, text);
    assert.equal(await page.getByTestId("isl").inputValue(), text);
    await page.getByTestId("osl").fill(String(7 + index));
    assert.equal(await page.getByTestId("isl").inputValue(), text, "typing elsewhere must not correct it");
    await page.getByTestId("isl").fill("2000");
    await settled(page);
    assert.equal(await page.locator("[data-testid=issue][data-field=isl]").count(), 0, text);
  }
});

pageTest("choosing a model resets what only experts have, and says so", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-30b-a3b&tp=4&ep=4");
  await settled(page);
  const before = await numbers(page);
  await page.getByTestId("model").selectOption("qwen3-32b");
  await fragmentHolds(page, { m: "qwen3-32b", tp: "4", ep: undefined });
  await settled(page);
  assert.match(await issue(page, "model"), /reset from 4 to 1/);
  assert.notDeepEqual(await numbers(page), before);
});

const BAD = [["r=1,5", "rate"], ["dp=x", "dp"], ["ep=4", "ep"], ["mem=5", "memory_share"], ["hl=5", "histogram"], ["vs=m~", "compared"], ["qwen3-32b", "link"]];

pageTest("what is wrong with a link is seen", {}, async ({ page, open }) => {
  for (const [fragment, field] of BAD) {
    await page.goto("about:blank");
    await open(fragment);
    assert.match(await issue(page, field), /\w/, fragment);
    assert.ok(await page.locator(`[data-testid=issue][data-field=${field}]`).first().isVisible(), fragment);
    // The control is there too, where there is one.
    const control = page.getByTestId(field);
    if (await control.count()) assert.ok(await control.isVisible(), fragment);
  }
});

pageTest("another load takes the place of one that could not be read", {}, async ({ page, open }) => {
  await open("r=1,5");
  await page.getByTestId("rate").fill("1.5");
  await fragmentHolds(page, { r: "1.5" });
  await settled(page);
  assert.equal(await page.locator("[data-testid=issue][data-field=rate][data-severity=error]").count(), 0);
});

pageTest("what does not fit gets the reason and no throughput", {}, async ({ page, open }) => {
  await open("v=1&m=llama-3.3-70b-instruct&g=l4");
  await settled(page);
  await page.locator('[data-testid=fit][data-fits="false"]').waitFor();
  assert.equal(await page.getByTestId("throughput").getAttribute("data-value"), "");
  assert.match((await page.getByTestId("issue").allTextContents()).join(), /TP 8 fits/, "the smallest change that fixes it");
});

for (const [text, what] of [["{", "that is not JSON"], ['{"model_type": "llama"}', "that lacks fields"]]) {
  pageTest(`a config.json ${what} is refused with the reason, and kept`, {}, async ({ page, open }) => {
    await open();
    await settled(page);
    const before = await numbers(page);
    await page.getByTestId("config-json-panel").locator("summary").click();
    await page.getByTestId("config-json").fill(text);
    await page.getByTestId("config-json-use").click();
    assert.match(await issue(page, "model"), /\w/);
    assert.equal(await page.getByTestId("config-json").inputValue(), text);
    assert.deepEqual(await numbers(page), before, "the model before it stays");
  });
}

pageTest("a config.json becomes the model, in the link too", {}, async ({ page, open }) => {
  await open();
  await settled(page);
  const before = await numbers(page);
  const config = {
    model_type: "llama", hidden_size: 2048, intermediate_size: 8192, num_hidden_layers: 16, num_attention_heads: 32,
    num_key_value_heads: 8, vocab_size: 128256, max_position_embeddings: 131072, hidden_act: "silu", rms_norm_eps: 1e-5,
  };
  await page.getByTestId("config-json-panel").locator("summary").click();
  await page.getByTestId("config-json").fill(JSON.stringify(config, null, 2));
  await page.getByTestId("config-json-use").click();
  await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).has("x"));
  await settled(page);
  assert.equal(await page.getByTestId("model").inputValue(), "custom");
  const own = await numbers(page);
  assert.ok(own.tpot < before.tpot, "a smaller model is faster");
  await page.reload();
  await settled(page);
  assert.deepEqual(await numbers(page), own);
});

pageTest("a launch command sets how many tokens are drafted", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-32b&g=h200-sxm&c=32");
  await settled(page);
  await page.getByTestId("config-json-panel").locator("summary").click();
  await page.getByTestId("config-json").fill("python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 8 --speculative-algorithm EAGLE --speculative-num-steps 3");
  await page.getByTestId("config-json-use").click();
  await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).get("sd") === "3");
  assert.equal(await page.getByTestId("drafted").inputValue(), "3");
});

pageTest("every issue is seen: beside its input, or in a list while that is folded away", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-32b&tp=4&ep=4&mem=7");
  for (const field of ["ep", "memory_share"]) await page.locator(`[data-testid=issue][data-field=${field}]:visible`).first().waitFor();
  const problems = page.getByTestId("problems");
  await page.getByTestId("engine-fold").evaluate((fold) => (fold.open = false));
  await problems.locator("[data-field=memory_share]").waitFor();
  await page.getByTestId("engine-fold").evaluate((fold) => (fold.open = true));
  await page.getByTestId("memory_share").scrollIntoViewIfNeeded();
  await problems.locator("[data-field=memory_share]").waitFor({ state: "detached" });
});

pageTest("a fold says what is set in it, and opens where something is wrong", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-32b&pp=4&w=fp8&e=sglang");
  await settled(page);
  for (const [id, said] of [["layout", "PP 4"], ["formats", "FP8"], ["engine", /^SGLang [\d.]+, defaults$/], ["rates", "defaults"]]) {
    const set = await page.getByTestId(`${id}-fold`).locator(".set").textContent();
    assert.ok(typeof said === "string" ? set === said : said.test(set), `${id}: ${set}`);
    assert.equal(await page.getByTestId(`${id}-fold`).evaluate((fold) => fold.open), false);
  }
  await page.evaluate(() => (location.hash = "v=1&m=qwen3-32b&pp=x"));
  await page.locator("[data-testid=layout-fold][open]").waitFor();
});

pageTest("a typical workload is one press", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-32b&tp=4");
  await settled(page);
  await page.getByTestId("osl").fill("abc");
  await issue(page, "osl");
  await page.getByTestId("preset-agents").click();
  assert.equal(await page.getByTestId("osl").inputValue(), "182");
  await fragmentHolds(page, { isl: "8596", osl: "182", pc: "0.59" });
  await page.getByTestId("preset-batch").click();
  await fragmentHolds(page, { isl: undefined, osl: "128", pc: undefined, on: "1000" });
  await settled(page);
});

pageTest("an offline workload sets load and limits aside until somebody waits again", {}, async ({ page, open }) => {
  await open("v=1&m=llama-3.1-8b&r=6&st=500&sp=30");
  await settled(page);
  await page.getByTestId("preset-batch").click();
  await fragmentHolds(page, { osl: "128", on: "1000", r: undefined, st: undefined, sp: undefined });
  assert.match(await issue(page, "load"), /they return/);
  await page.getByTestId("preset-chat").click();
  await fragmentHolds(page, { isl: "1020", osl: "129", on: undefined, r: "6", st: "500", sp: "30" });
  await settled(page);
  assert.equal(await page.getByTestId("slo_ttft").inputValue(), "500");
});

pageTest("models and GPUs are found by what is typed, with what fits marked", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-32b");
  await settled(page);
  const [model, gpu] = [page.getByTestId("pick-model"), page.getByTestId("pick-gpu")];
  assert.match(await model.inputValue(), /^Qwen3-32B /);
  await model.click();
  await model.pressSequentially("llama 70");
  const options = page.getByTestId("model-list").getByRole("option");
  const llama = options.filter({ hasText: /^Llama-3.3-70B-Instruct\d/ });
  await llama.waitFor();
  assert.match(await llama.textContent(), /70\.6 B.*does not fit as laid out/s);
  // The keys go through the list, and leave it as it was.
  await model.press("ArrowDown");
  assert.equal(await page.locator("[role=option][aria-selected=true]").getAttribute("id"), await model.getAttribute("aria-activedescendant"));
  await model.press("Escape");
  assert.equal(await model.getAttribute("aria-expanded"), "false");
  assert.match(await model.inputValue(), /^Qwen3-32B /);
  await gpu.click();
  await gpu.pressSequentially("b200");
  await page.getByTestId("gpu-list").getByRole("option").first().filter({ hasText: /^B200/ }).waitFor();
  await gpu.press("Enter");
  await fragmentHolds(page, { g: "b200", m: "qwen3-32b" });
  await settled(page);
  assert.equal(await gpu.inputValue(), "B200");
  // One step back is the GPU before; the list then has what was looked at in front.
  await page.waitForFunction(() => localStorage.getItem("rooflight-recent")?.includes("b200"));
  await page.getByTestId("undo").click();
  await fragmentHolds(page, { g: undefined });
  await gpu.focus();
  await gpu.press("ArrowDown");
  await page.getByTestId("gpu-list").getByRole("option").first().filter({ hasText: /^B200.*recent/s }).waitFor();
  await page.getByTestId("gpu-list").getByRole("option").nth(2).filter({ hasText: /often measured/ }).waitFor();
  await page.getByTestId("gpu-list").getByRole("option").filter({ hasText: "MI300X" }).click();
  await fragmentHolds(page, { g: "mi300x" });
});

pageTest("a model or GPU that is not in the catalog stays typed, with an issue beside it", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-32b");
  await settled(page);
  for (const [field, leave] of [["model", "Enter"], ["gpu", "Tab"]]) {
    const picker = page.getByTestId(`pick-${field}`);
    await picker.click();
    await picker.pressSequentially("nonsense-9");
    await page.locator(`#${field}-list [aria-disabled=true]`).filter({ hasText: "No match" }).waitFor();
    await picker.press(leave);
    await page.locator(`.inputs [data-testid=issue][data-field=${field}]`).first().filter({ hasText: "nonsense-9" }).waitFor();
    assert.equal(await picker.inputValue(), "nonsense-9");
  }
});

pageTest("a published name in the list of models is taken with its format", {}, async ({ page, open }) => {
  await open("v=1&tp=2");
  await settled(page);
  await page.getByTestId("pick-model").fill("RedHatAI/Qwen3-32B-FP8-dynamic");
  await page.getByTestId("model-list").getByRole("option").first().waitFor();
  await page.getByTestId("pick-model").press("Enter");
  await fragmentHolds(page, { m: "qwen3-32b-fp8-static-pertensor", tp: "2" });
  await settled(page);
});

pageTest("an error is listed beside the answer while its input is scrolled away", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-32b&tp=4");
  await settled(page);
  await page.getByTestId("isl").fill("12x");
  const listed = page.getByTestId("problems").locator("[data-field=isl]");
  assert.equal(await listed.count(), 0, "it stands beside its input");
  await page.locator(".side").evaluate((side) => {
    side.querySelectorAll("details").forEach((fold) => (fold.open = true));
    side.scrollTop = side.scrollHeight;
  });
  await listed.waitFor();
  await listed.getByRole("button", { name: "Show" }).click();
  await listed.waitFor({ state: "detached" });
});
