// Find: plans that serve a load within limits, from the form or from words, with what is wrong beside its field.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";

import { desktop, pageTest, path, phone } from "./harness.mjs";
import { choose, fragmentHolds, issue, settled } from "./page.mjs";

const axe = readFileSync(path("node_modules/axe-core/axe.min.js"), "utf8");
const screenshots = path("target/screenshots");
mkdirSync(screenshots, { recursive: true });

// A search of some dozens of layouts.
const small = "v=1&m=llama-3.1-8b&isl=512&osl=64&r=8&np=200&st=1000&sp=30";
const link = `${small}&f=gpu~l40s,h100-sxm~engine~vllm`;
const timeout = 120_000;

const plans = (page) => page.locator("#plans-document");
const rows = (page) => plans(page).locator("[data-testid=plans-table] tbody tr");
async function found(page) {
  await page.locator("[data-testid=plans-status][data-progress=done]").waitFor({ timeout });
  await plans(page).locator("[data-testid=plans-lead]").waitFor();
}
const lead = (page) => plans(page).getByTestId("plans-lead").textContent();

pageTest("what is said in one line leads to a plan that meets it, in two actions", { timeout }, async ({ page, open }) => {
  await open("");
  await settled(page);
  await choose(page, "mode-find");
  const say = page.getByTestId("say");
  await say.fill("Llama-3.3-70B, 20 requests/s, TTFT 1 s, TPOT 30 ms, on b200 nvfp4 TensorRT-LLM");
  await say.press("Enter");
  await fragmentHolds(page, { m: "llama-3.3-70b-instruct", r: "20", st: "1000", sp: "30" });
  await found(page);
  assert.match(await lead(page), /: \d+ × B200, NVFP4, TensorRT-LLM, TP \d: \$[\d.]+ per hour \(\$[^)]+ a month\), \d+ % likely to meet/);
  const cells = await rows(page).first().locator("td").allTextContents();
  assert.ok(parseFloat(cells[4]) >= 99, `${cells}`);
  await say.fill("gpt-5, 10 req/s");
  await say.press("Enter");
  await page.locator("#say-issues [data-severity=error]", { hasText: "gpt-5" }).waitFor();
  await fragmentHolds(page, { m: "llama-3.3-70b-instruct", r: "20" });
  await say.fill("please hurry");
  await say.press("Enter");
  await page.locator("#say-issues [data-severity=error]").waitFor();
  await say.fill("qwen3-8b, -5 req/s, TPOT 30 ms");
  await say.press("Enter");
  await page.locator("#say-issues [data-severity=error]", { hasText: "-5 req/s" }).waitFor();
  await say.fill("");
  await say.press("Enter");
  await page.locator("#say-issues [data-severity=error]").waitFor({ state: "detached" });
  await say.fill("qwen3-8b, 5 req/s, TPOT 30 ms, on l40s");
  await say.press("Enter");
  await fragmentHolds(page, { m: "qwen3-8b", r: "5", st: undefined });
  await page.goBack();
  await fragmentHolds(page, { m: "llama-3.3-70b-instruct", r: "20", st: "1000" });
  await page.waitForFunction(() => document.querySelector("[data-testid=say]").value === "");
});

pageTest("a plan is taken to the form, and two are compared", { timeout }, async ({ page, open }) => {
  await open(link);
  await found(page);
  assert.ok((await rows(page).count()) > 1);
  assert.match(await plans(page).getByTestId("plan-2").textContent(), /costs/);
  const boxes = rows(page).locator("input[type=checkbox]");
  await boxes.nth(0).check();
  assert.equal(await page.getByTestId("plans-compare").count(), 0);
  await boxes.nth(1).check();
  const compare = page.getByTestId("plans-compare");
  assert.match(await compare.getAttribute("href"), /^#v=1&.*&vs=/);
  await compare.click();
  await page.locator("[data-testid=tab-compare]:checked").waitFor({ state: "attached" });
  await settled(page);
  await page.locator("#study-document th", { hasText: /^A$/ }).waitFor();
  await page.goBack();
  await page.locator("[data-testid=plans]").waitFor();
  // What was found stands.
  assert.equal(await page.getByTestId("plans-status").getAttribute("data-progress"), "done");
  const first = rows(page).first().locator("th a");
  const [name, href] = [await first.textContent(), await first.getAttribute("href")];
  await first.click();
  await settled(page);
  assert.equal(await page.evaluate(() => location.hash), href);
  assert.ok(name.includes("vLLM") && await page.getByTestId("plans").isHidden());
});

pageTest("the most load, a day, and prefill apart are asked for in the form", { timeout }, async ({ page, open }) => {
  await open(`${small}&f=gpu~h100-sxm~engine~vllm~tp~1~pp~1~budget_gpus~2`);
  await found(page);
  await page.locator("label[for=vary-most-yes]").click();
  await fragmentHolds(page, { f: "gpu~h100-sxm~tp~1~pp~1~engine~vllm~budget_gpus~2~most~yes" });
  await found(page);
  assert.match(await plans(page).getByTestId("plans-most").textContent(), /^Th(is|ese) .* up to [\d.]+ requests\/s; at [\d.]+ a limit is missed/);
  await page.locator("label[for=vary-most-yes]").click();
  await page.getByTestId("vary-day").fill(Array.from({ length: 24 }, (_, hour) => hour * 4).join(","));
  await page.getByTestId("vary-day").press("Enter");
  await page.locator("[data-testid=plans-status][data-progress=running]").waitFor();
  await found(page);
  assert.match(await plans(page).getByTestId("plans-days").textContent(), /\d+ from \d+:00, \d+ from/);
  assert.match(await page.getByTestId("load-of-day").textContent(), /24 rates, 0 to 92 requests\/s/);
  await page.getByTestId("vary-day").fill("");
  await page.getByTestId("vary-day").press("Enter");
  await page.locator("label[for=vary-prefill_workers-all]").click();
  // A search of one layout runs too briefly to be seen running.
  await plans(page).getByTestId("plans-pools").waitFor({ timeout: 60_000 });
  await found(page);
  assert.match(await plans(page).getByTestId("plans-pools").textContent(), /workers (do not )?(pay|make|meet)/);
});

pageTest("a link restores what is to be found, and evaluating keeps it", { timeout }, async ({ page, open }) => {
  await open(`${small}&f=gpu~l40s,h100-sxm~engine~vllm~owned~l40s,4~budget_gpus~8`);
  await found(page);
  assert.ok(await page.getByTestId("vary-gpu-l40s").isChecked());
  assert.equal(await page.getByTestId("owned-l40s").inputValue(), "4");
  assert.equal(await page.getByTestId("vary-budget_gpus").inputValue(), "8");
  await page.getByTestId("vary-budget_gpus").fill("x");
  await page.getByTestId("vary-budget_gpus").press("Enter");
  await choose(page, "mode-evaluate");
  await fragmentHolds(page, { f: undefined, r: "8" });
  await settled(page);
  await choose(page, "mode-find");
  assert.equal(await page.getByTestId("vary-budget_gpus").inputValue(), "x");
  await page.getByTestId("vary-budget_gpus").fill("");
  await page.getByTestId("vary-budget_gpus").press("Enter");
  await page.locator("label[for=vary-weights-fp8]").click();
  await fragmentHolds(page, { f: "gpu~l40s,h100-sxm~engine~vllm~weights~bf16,fp8~owned~l40s,4" });
  await found(page);
});

pageTest("a view found by the search is that of the form's configuration", { timeout }, async ({ page, open }) => {
  await open(`${small}&f=gpu~l40s~engine~vllm`);
  await found(page);
  await page.getByTestId("find").click();
  await page.getByTestId("search-words").fill("roofline");
  await page.locator('#found[data-chosen="roofline"] a', { hasText: /^Roofline$/ }).click();
  await fragmentHolds(page, { f: undefined });
  await page.locator("[data-testid=tab-roofline]:checked").waitFor({ state: "attached" });
  await settled(page);
  await page.goBack();
  await page.locator("[data-testid=plans]").waitFor();
  assert.equal(await page.getByTestId("plans-status").getAttribute("data-progress"), "done");
  // So is an input that Find does not have.
  await page.getByTestId("find").click();
  await page.getByTestId("search-words").fill("memory bandwidth");
  await page.locator('#found[data-chosen="memory bandwidth"] a', { hasText: /^Memory bandwidth$/ }).click();
  await fragmentHolds(page, { f: undefined });
  await page.waitForFunction(() => document.activeElement.id === "bandwidth");
});

pageTest("a search for plans goes on beside the search of the page", { timeout }, async ({ page, open }) => {
  await open("v=1&m=llama-3.3-70b-instruct&r=20&st=1000&sp=30&f=all");
  const status = page.getByTestId("plans-status").filter({ hasText: /[1-9]\d* of \d+/ });
  await status.waitFor();
  const done = async () => Number((await status.textContent()).match(/(\d+) of/)[1]);
  const before = await done();
  await page.keyboard.press("/");
  await page.locator('#found[data-chosen=""]').waitFor({ state: "attached" });
  await page.keyboard.press("Escape");
  assert.ok((await done()) >= before);
});

pageTest("a search is cancelled, and goes on when asked", { timeout }, async ({ page, open }) => {
  await open("v=1&m=llama-3.3-70b-instruct&r=20&st=1000&sp=30&f=all");
  await page.locator("[data-testid=plans-status][data-progress=running]").waitFor();
  const status = page.getByTestId("plans-status").filter({ hasText: /[1-9]\d* of \d+/ });
  await status.waitFor();
  const done = async () => Number((await status.textContent()).match(/(\d+) of/)[1]);
  await page.getByTestId("plans-act").click();
  await page.locator("[data-testid=plans-status][data-progress=stopped]").waitFor();
  const before = await done();
  // The worker is free: the form is answered.
  await choose(page, "mode-evaluate");
  await settled(page);
  await choose(page, "mode-find");
  await page.getByTestId("plans-act").click();
  await page.locator("[data-testid=plans-status][data-progress=running]").waitFor();
  // From where it was.
  await status.waitFor();
  assert.ok((await done()) >= before);
});

for (const [name, fragment, field, says] of [
  ["a fleet that is too small says what would do", `${small.replace("r=8", "r=400")}&f=gpu~h100-sxm~engine~vllm~budget_gpus~1`, "budget_gpus", /needs \d+ GPUs, and only 1 is available/],
  ["a budget that is no number", `${small}&f=budget_gpus~many`, "budget_gpus", /a whole number between/],
  ["drafts of which nobody says how many are accepted", `${small}&f=gpu~l40s~drafted~0,1`, "accepted", /there is no default: give [A-Z]/],
  ["a static batch is not a serving load", "v=1&b=8&f=all", "batch", /not a serving load/],
]) {
  pageTest(`${name}, beside its field`, { timeout }, async ({ page, open }) => {
    await open(fragment);
    assert.match(await issue(page, field), says);
  });
}

pageTest("a number with a decimal comma is kept, marked and named in its row", { timeout }, async ({ page, open }) => {
  await open(`${small}&f=gpu~l40s,l4`);
  await found(page);
  await page.getByTestId("vary-gpus").locator("summary").click();
  const [own, other] = [page.getByTestId("owned-l40s"), page.getByTestId("owned-l4")];
  await own.fill("1,5");
  await own.press("Enter");
  assert.match(await issue(page, "owned"), /L40S/);
  const described = await own.getAttribute("aria-describedby");
  await page.locator(`#${described} [data-severity=error]`, { hasText: "L40S" }).waitFor();
  assert.notEqual(described, await other.getAttribute("aria-describedby"));
  assert.deepEqual([await own.inputValue(), await own.getAttribute("aria-invalid"), await other.getAttribute("aria-invalid")], ["1,5", "true", "false"]);
  await own.fill("1,500");
  await own.press("Enter");
  await fragmentHolds(page, { f: "gpu~l40s,l4~owned~l40s,1500" });
  await page.locator("[data-testid=owned-l40s][aria-invalid=false]").waitFor();
  const issues = page.getByTestId("issue").and(page.locator("[data-field=owned]"));
  await issues.first().waitFor({ state: "detached" });
  assert.equal(await issues.count(), 0);
});

pageTest("Share gives the link of the search, and Export its plans", { timeout }, async ({ page, open }) => {
  await open(link);
  await found(page);
  await page.getByTestId("open-share").click();
  const shared = await page.getByTestId("plans-share-link").textContent();
  assert.match(shared, /\/#v=1&isl=512&osl=64&r=8&.*&f=gpu~l40s,h100-sxm~engine~vllm$/);
  await page.getByTestId("open-export").click();
  const rowsOfCsv = (await page.getByTestId("plans-csv").textContent()).trim().split("\n");
  assert.ok(rowsOfCsv.length > (await rows(page).count()), `${rowsOfCsv}`);
  assert.ok(JSON.parse(await page.getByTestId("plans-json").textContent()).plans.length > 0);
  assert.equal(await page.getByTestId("plans-status").getAttribute("data-progress"), "done");
  await page.screenshot({ path: `${screenshots}/find-export.png` });
});

pageTest("Find lists GPUs in the order of the list of GPUs", { timeout }, async ({ page, open }) => {
  await open(small);
  await settled(page);
  const listed = await page.locator("[data-testid=gpu] option").evaluateAll((all) => all.map((option) => option.value));
  assert.ok(listed.length > 1);
  await choose(page, "mode-find");
  await page.getByTestId("vary-gpus").waitFor();
  const tried = await page.locator("input[data-wish=gpu]").evaluateAll((all) => all.map((box) => box.dataset.of));
  assert.deepEqual(tried, listed);
});

for (const [theme, viewport] of [["light", desktop], ["dark", phone]]) {
  const name = viewport === phone ? "phone" : "desktop";
  pageTest(`${theme} ${name}: plans fit and are accessible`, { theme, viewport, timeout }, async ({ page, open }) => {
    await open(link);
    await found(page);
    if (viewport === phone) await page.getByTestId("configure").click();
    // Beside the form the plans scroll on their own.
    const { overflowY } = await page.getByTestId("plans").evaluate((plans) => getComputedStyle(plans));
    assert.equal(overflowY, viewport === phone ? "visible" : "auto");
    for (const fold of ["vary-gpus", "vary-degrees", "vary-settings", "plan-1"]) await page.getByTestId(fold).locator("summary").click();
    await page.waitForFunction(() => [...document.querySelectorAll("#plans-document canvas")].every((canvas) => canvas.dataset.drawn === "" || !canvas.clientWidth));
    await page.screenshot({ path: `${screenshots}/find-${name}-${theme}.png`, fullPage: true });
    const [content, visible] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(content <= visible, `it is ${content} px wide in a window of ${visible}`);
    await page.evaluate(`${axe}; null`);
    const { violations } = await page.evaluate(() => window.axe.run());
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), []);
  });
}
