// Studies: every view of the answer, what it offers to do, and the search.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";

import { desktop, pageTest, path, phone } from "./harness.mjs";
import { choose, fragmentHolds, settled, show as showPanel, studied } from "./page.mjs";

const axe = readFileSync(path("node_modules/axe-core/axe.min.js"), "utf8");
const screenshots = path("target/screenshots");
mkdirSync(screenshots, { recursive: true });

const topics = ["breakdown", "layers", "headroom", "sensitivity", "explain", "change", "shape", "compare", "sweep", "tradeoff", "evidence", "share", "export"];
const link = "v=1&m=qwen3-32b&tp=2&c=32&st=500&sp=25&vs=v~1~m~qwen3-32b~g~h200-sxm~tp~2~c~32";

async function show(page, topic) {
  await showPanel(page, topic);
  await studied(page);
}
const document_ = (page) => page.locator("#study-document");
async function sweepOverGpus(page) {
  await show(page, "sweep");
  await choose(page, "of-gpu");
  await document_(page).locator("th", { hasText: "H200 SXM" }).waitFor();
  await studied(page);
}

/** Types another prompt length, without moving the focus: the study is then asked again. */
const change = (page, isl) => page.getByTestId("isl").evaluate((input, text) => {
  input.value = text;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}, String(isl));
async function renew(page, isl) {
  await change(page, isl);
  await settled(page);
  await studied(page);
}
/** The document's text, once it is another than `before`. */
async function changed(page, before) {
  await page.waitForFunction((before) => document.querySelector("#study-document").textContent !== before, before);
}

function native(topic) {
  const binary = `${process.env.ROOFLIGHT_BIN ?? path("target/debug")}/predict`;
  const given = [link, "--study", topic, "--models", path("models")];
  return execFileSync(binary, given, { encoding: "utf8" });
}

for (const [theme, viewport] of [["light", desktop], ["dark", phone]]) {
  const name = viewport === phone ? "phone" : "desktop";
  pageTest(`${theme} ${name}: every view stands, fits, and is accessible`, { theme, viewport, timeout: 120_000 }, async ({ page, open }) => {
    await open(link);
    await settled(page);
    for (const topic of topics) {
      await show(page, topic);
      assert.ok((await document_(page).textContent()).length > 100, `${topic} says nothing`);
      await page.waitForFunction(() => [...document.querySelectorAll("#study-document canvas")].every((canvas) => canvas.dataset.drawn === "" || !canvas.clientWidth));
      await page.screenshot({ path: `${screenshots}/study-${topic}-${name}-${theme}.png`, fullPage: true });
      const [content, visible] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(content <= visible, `${topic} is ${content} px wide in a window of ${visible}`);
    }
    await page.evaluate(`${axe}; null`);
    for (const topic of ["explain", "layers", "headroom", "change", "compare"]) {
      await show(page, topic);
      const { violations } = await page.evaluate(() => window.axe.run());
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      assert.deepEqual(serious.map(({ id, nodes }) => [topic, id, nodes.map(({ html }) => html)]), []);
    }
  });
}

/** Whether two texts print the same, but for one unit of a number's last digit: the last bits differ in WebAssembly. */
function alike(one, other) {
  const numbers = (text) => text.match(/\d[\d.,\s]*/g) ?? [];
  const value = (number) => Number(number.replace(/[,\s]/g, ""));
  const unit = (number) => 10 ** -(number.trim().split(".")[1] ?? "").length;
  const words = (text) => text.replace(/\d[\d.,\s]*/g, "#");
  const others = numbers(other);
  return words(one) === words(other) && numbers(one).every((number, at) => Math.abs(value(number) - value(others[at])) <= 1.01 * unit(number));
}

pageTest("the page says what the native tool says", {}, async ({ page, open }) => {
  await open(link);
  await settled(page);
  await show(page, "change");
  const rows = await document_(page).locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  const plain = native("change").replaceAll("\\", "").split("\n");
  assert.ok(rows.length > 10);
  for (const [name, ...cells] of rows) {
    const row = plain.find((line) => line.startsWith(`| [${name}](`)) ?? "";
    assert.ok(alike(cells.join(" | "), row.slice(row.indexOf(") | ") + 4, -2)), `${name}: ${cells}\n${row}`);
  }
});

pageTest("a fold stays open as its document is renewed", {}, async ({ page, open }) => {
  await open(link);
  await settled(page);
  await show(page, "explain");
  const fold = document_(page).locator("details").first();
  await fold.locator("summary").first().click();
  await fold.locator("p, table, dl").first().waitFor();
  const before = await document_(page).textContent();
  await renew(page, 1500);
  await changed(page, before);
  assert.equal(await fold.evaluate((fold) => fold.open), true);
  await fold.locator("p, table, dl").first().waitFor();
});

pageTest("a link is followed though its document is renewed while it is pressed", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-32b&tp=2&c=32");
  await settled(page);
  await show(page, "compare");
  const offer = document_(page).getByRole("link", { name: "H200 SXM", exact: true });
  const pressed = await offer.elementHandle();
  const before = await document_(page).textContent();
  await offer.hover();
  await page.mouse.down();
  await renew(page, 1500);
  assert.ok(await pressed.evaluate((link) => link.isConnected), "a document being pressed stays");
  assert.equal(await document_(page).textContent(), before);
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes("vs="));
});

pageTest("a press that follows another at once is a press of its own", {}, async ({ page, open }) => {
  await open(link);
  await settled(page);
  await show(page, "compare");
  const before = await document_(page).textContent();
  const press = (...types) => document_(page).locator("a").first().evaluate((link, types) => {
    for (const type of types) link.dispatchEvent(new PointerEvent(type, { bubbles: true }));
  }, types);
  await press("pointerdown");
  await renew(page, 1500);
  await press("pointerup", "pointerdown");
  await page.waitForTimeout(200);
  assert.equal(await document_(page).textContent(), before, "it is pressed again");
  await press("pointerup");
  await changed(page, before);
});

pageTest("the focus stays where it is as its document is renewed", {}, async ({ page, open }) => {
  await open(link);
  await settled(page);
  await sweepOverGpus(page);
  assert.equal(await page.evaluate(() => document.activeElement.id), "of-gpu");
  await show(page, "change");
  const second = document_(page).locator("a").nth(1);
  const name = await second.textContent();
  await second.focus();
  const before = await document_(page).textContent();
  await renew(page, 1500);
  await changed(page, before);
  await page.waitForFunction((name) => document.activeElement.textContent === name, name);
});

pageTest("a single change is one click, and back takes it back", {}, async ({ page, open }) => {
  await open("v=1&m=llama-3.1-70b");
  await page.locator("[data-verdict=unfit]").waitFor();
  await page.locator("[data-testid=worker][data-status=ready]").waitFor({ state: "attached" });
  await show(page, "change");
  const offer = document_(page).locator("p a").first();
  await page.getByTestId("advice").waitFor();
  await offer.click();
  await page.locator("[data-testid=verdict]:not([data-verdict=unfit])").waitFor();
  await settled(page);
  await page.goBack();
  await page.locator("[data-verdict=unfit]").waitFor();
  await fragmentHolds(page, { m: "llama-3.1-70b", tp: undefined });
});

pageTest("a number and a kernel open their formula", {}, async ({ page, open }) => {
  await open(link);
  await settled(page);
  await page.getByRole("button", { name: "TPOT", exact: true }).first().click();
  await page.locator(".definition", { hasText: "Time per output token after the first" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("explain-tpot").click();
  await studied(page);
  const fold = page.locator("#fold-tpot[open]");
  await fold.waitFor();
  assert.match(await fold.textContent(), /A decode step of about the run's mean batch takes/);
  await showPanel(page, "roofline");
  await page.locator("[data-testid=kernels-decode] [data-kernel=gate_up_proj] button").click();
  await page.locator("details[id^=fold-kernel-decode-][open]").filter({ hasText: "With this kernel at its ceiling, the step would take" }).waitFor();
  // It stays open when the form changes.
  await page.getByTestId("isl").fill("512");
  await settled(page);
  await studied(page);
  await page.locator("details[id^=fold-kernel-decode-][open]").waitFor();
});

pageTest("configurations are set beside each other, swapped and removed by links", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-32b&tp=2&c=32");
  await settled(page);
  await show(page, "compare");
  await document_(page).getByRole("link", { name: "H200 SXM", exact: true }).click();
  await page.waitForFunction(() => location.hash.includes("vs="));
  await page.locator("#study-document th", { hasText: /^A$/ }).waitFor();
  await studied(page);
  await page.getByTestId("ranked").filter({ hasText: /^A against This: better in .*TPOT \((over )?\d+ %\)/ }).waitFor();
  await document_(page).getByRole("link", { name: "edit", exact: true }).click();
  await fragmentHolds(page, { g: "h200-sxm" });
  await page.reload();
  await settled(page);
  await show(page, "compare");
  await document_(page).getByRole("link", { name: "remove" }).click();
  await fragmentHolds(page, { g: "h200-sxm", vs: undefined });
});

pageTest("a sweep goes along the setting chosen", {}, async ({ page, open }) => {
  await open(link);
  await settled(page);
  await sweepOverGpus(page);
  assert.equal(await page.locator("#study-document tr.own").count(), 1);
  await page.getByTestId("osl").fill("100");
  await settled(page);
  await studied(page);
  await page.locator("[data-testid=of-gpu]:checked").waitFor({ state: "attached" });
});

pageTest("exports are files, and snippets are copied", {}, async ({ page, open }) => {
  await open(link);
  await settled(page);
  await show(page, "export");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByTestId("save").click()]);
  assert.equal(download.suggestedFilename(), "rooflight.json");
  const file = JSON.parse(readFileSync(await download.path(), "utf8"));
  assert.equal(file.scenario.gpu, "h100-sxm");
  await show(page, "share");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const copy = document_(page).getByRole("button", { name: "Copy" }).first();
  await copy.click();
  await document_(page).getByRole("button", { name: "Copied" }).waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^http:\/\/127\.0\.0\.1:\d+\/rooflight\/#v=1&m=qwen3-32b/);
});

pageTest("charts are read out by pointer and by keys", {}, async ({ page, open }) => {
  await open(link);
  await settled(page);
  await showPanel(page, "roofline");
  const chart = page.getByTestId("roofline");
  await page.locator("[data-testid=roofline][data-drawn]").waitFor();
  const picture = () => chart.evaluate((canvas) => canvas.toDataURL());
  const plain = await picture();
  await chart.focus();
  await page.keyboard.press("ArrowRight");
  const voice = page.locator("[data-testid=roofline] + [aria-live]");
  assert.match(await voice.textContent(), /^gate_up_proj, (prefill|decode): .* FLOP\/B, .* of its ceiling/);
  const read = await picture();
  assert.notEqual(read, plain);
  const first = await voice.textContent();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await voice.textContent(), first);
  await page.keyboard.press("Escape");
  assert.equal(await picture(), plain);
  await show(page, "breakdown");
  const bars = document_(page).locator("canvas").first();
  await bars.scrollIntoViewIfNeeded();
  const { width, height } = await bars.boundingBox();
  const before = await bars.evaluate((canvas) => canvas.toDataURL());
  await bars.hover({ position: { x: width * 0.3, y: height * 0.45 } });
  assert.notEqual(await bars.evaluate((canvas) => canvas.toDataURL()), before);
  await page.screenshot({ path: `${screenshots}/chart-read-out.png` });
});

pageTest("a layer's kernels stand in order, a graph for each kind of layer, and open their explanation by key", { viewport: phone }, async ({ page, open }) => {
  await open("v=1&m=deepseek-r1&g=b200&tp=8&c=64");
  await settled(page);
  await show(page, "layers");
  assert.equal(await page.locator("[data-testid^=layer-]").count(), 4);
  const nodes = page.getByTestId("layer-1-experts").locator("tbody tr");
  assert.match(await nodes.filter({ hasText: "fused_moe" }).textContent(), /^Routed experts.*%.*(Memory|Compute)$/);
  const [first, second] = await Promise.all([0, 1].map((at) => nodes.nth(at).boundingBox()));
  assert.ok(second.y >= first.y + first.height, "one below the other on a phone");
  await nodes.filter({ hasText: "fused_moe" }).locator("a").focus();
  await page.keyboard.press("Enter");
  await page.locator("details[id^=fold-kernel-decode-][open]").filter({ hasText: "experts ×" }).waitFor();
});

pageTest("the roofline is zoomed by buttons and keys, dragged, and shown whole again", {}, async ({ page, open }) => {
  await open(link);
  await settled(page);
  await showPanel(page, "roofline");
  const chart = page.getByTestId("roofline");
  await page.locator("[data-testid=roofline][data-drawn]").waitFor();
  const frame = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const picture = async () => frame().then(() => chart.evaluate((canvas) => canvas.toDataURL()));
  const summary = () => page.getByTestId("roofline-summary").textContent();
  const [whole, words] = [await picture(), await summary()];
  await page.getByRole("button", { name: "Zoom in" }).click();
  const larger = await picture();
  assert.notEqual(larger, whole);
  await chart.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await chart.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2 + 80, y + height / 2, { steps: 4 });
  await page.mouse.up();
  await page.mouse.move(x + 5, y + 5);
  assert.notEqual(await picture(), larger, "dragged");
  await page.getByRole("button", { name: "Show all" }).click();
  assert.equal(await picture(), whole);
  await chart.focus();
  await page.keyboard.press("+");
  assert.ok(await chart.evaluate((canvas) => "zoomed" in canvas.dataset));
  await page.keyboard.press("0");
  assert.equal(await picture(), whole);
  assert.equal(await summary(), words);
  // A trackpad.
  await page.keyboard.down("Control");
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  await page.locator("[data-testid=roofline][data-zoomed]").waitFor();
});

pageTest("two fingers zoom the roofline, and one scrolls the page", { viewport: phone }, async ({ page, open }) => {
  await open(link);
  await settled(page);
  await showPanel(page, "roofline");
  const chart = page.getByTestId("roofline");
  await page.locator("[data-testid=roofline][data-drawn]").waitFor();
  await chart.evaluate((canvas) => canvas.scrollIntoView({ block: "center" }));
  const { x, y, width, height } = await chart.boundingBox();
  const [left, top] = [x + width / 2, y + height / 2];
  const fingers = await page.context().newCDPSession(page);
  const touch = (type, ...points) => fingers.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  // One after the other, as fingers come, and upright, so that the page could scroll.
  await touch("touchStart", [left, top - 20]);
  await touch("touchStart", [left, top - 20], [left, top + 20]);
  for (const apart of [30, 45, 60, 75, 90]) {
    await touch("touchMove", [left, top - apart], [left, top + apart]);
    await page.waitForTimeout(30);
  }
  await touch("touchEnd");
  await page.locator("[data-testid=roofline][data-zoomed]").waitFor();
  const tools = page.locator("[data-testid=roofline] ~ .chart-tools");
  await tools.getByRole("button", { name: "Show all" }).click();
  await page.locator("[data-testid=roofline]:not([data-zoomed])").waitFor();
  const scrolled = () => page.evaluate(() => document.scrollingElement.scrollTop);
  const before = await scrolled();
  await touch("touchStart", [left, top]);
  for (const up of [20, 60, 100, 140]) {
    await touch("touchMove", [left, top - up]);
    await page.waitForTimeout(30);
  }
  await touch("touchEnd");
  assert.ok((await scrolled()) > before, "one finger scrolls");
  assert.equal(await page.locator("[data-testid=roofline][data-zoomed]").count(), 0);
});

pageTest("search finds models, GPUs, workloads and views, by keys alone", {}, async ({ page, open }) => {
  await open("v=1");
  await settled(page);
  await page.locator("[data-testid=simulation-status][data-progress=done]").waitFor({ state: "attached" });
  await page.keyboard.press("/");
  const words = page.getByTestId("search-words");
  await words.waitFor();
  await page.locator("#found", { hasText: "Ctrl Z" }).waitFor();
  await words.fill("h200 sxm");
  await page.locator('#found[data-chosen="h200 sxm"] a', { hasText: "H200 SXM" }).waitFor();
  await page.screenshot({ path: `${screenshots}/search.png` });
  await page.keyboard.press("Enter");
  await fragmentHolds(page, { g: "h200-sxm" });
  await words.waitFor({ state: "hidden" });
  await page.keyboard.press("Control+k");
  await words.fill("trade");
  await page.locator('#found[data-chosen="trade"] a', { hasText: "Trade-off" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator("[data-testid=tab-tradeoff]:checked").waitFor({ state: "attached" });
  await studied(page);
  await page.keyboard.press("Control+k");
  await words.fill(`${page.url().split("#")[0]}#v=1&g=b200&osl=77`);
  await page.locator("#found a", { hasText: "on 1 × B200 with vLLM" }).waitFor();
  await page.keyboard.press("Enter");
  await fragmentHolds(page, { g: "b200", osl: "77" });
  await page.keyboard.press("Control+k");
  await words.fill("ttft");
  await page.locator('#found[data-chosen="ttft"] a').first().filter({ hasText: "TTFT" }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator("details#fold-ttft[open]").waitFor();
  await page.locator(".definition", { hasText: /^TTFT: time to first token/ }).waitFor();
  // An input is shown in its fold.
  await page.keyboard.press("Escape");
  await page.getByTestId("find").click();
  await words.fill("disaggregated");
  await page.locator('#found[data-chosen="disaggregated"] a', { hasText: "Prefill workers" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.id === "prefill_workers");
  await page.getByTestId("find").click();
  await words.fill("no such thing");
  await page.getByTestId("no-results").waitFor();
  await page.keyboard.press("Escape");
  await words.waitFor({ state: "hidden" });
  await studied(page);
});

pageTest("a term that is searched for is defined, and ? lists the shortcuts first", {}, async ({ page, open }) => {
  await open("v=1");
  await settled(page);
  const words = page.getByTestId("search-words");
  for (const [sought, begins] of [["MBU", /^MBU: model bandwidth utilisation/], ["prefix cache", /^prefix cache: KV cache of earlier prompts/]]) {
    await page.keyboard.press("/");
    await words.fill(sought);
    await page.locator(`#found[data-chosen="${sought}"] tbody tr`).first().filter({ hasText: "Term" }).waitFor();
    await page.keyboard.press("Enter");
    await words.waitFor({ state: "hidden" });
    await page.locator(".definition", { hasText: begins }).waitFor();
    await page.keyboard.press("Escape");
  }
  await page.keyboard.press("?");
  const first = page.locator('#found[data-chosen="?"] tbody tr').first();
  await first.filter({ hasText: "Ctrl K" }).waitFor();
  const [row, dialog] = await Promise.all([first.boundingBox(), page.getByTestId("search").boundingBox()]);
  assert.ok(row.y + row.height < dialog.y + dialog.height);
  // Words take the place of the question mark.
  await page.keyboard.type("mi300x");
  await page.locator('#found[data-chosen="mi300x"] a', { hasText: "MI300X" }).first().waitFor();
  await page.keyboard.press("Escape");
});

pageTest("without its worker the page says so in every view", {
  prepare: (page) => page.route(/worker/, (route) => route.abort()),
  expected: /Failed to load resource|worker/i,
}, async ({ page, open }) => {
  await open(link);
  await page.locator("[data-testid=worker][data-status=failed]").waitFor({ state: "attached" });
  await showPanel(page, "change");
  await page.getByTestId("study-status").filter({ hasText: "prediction worker failed" }).waitFor();
});
