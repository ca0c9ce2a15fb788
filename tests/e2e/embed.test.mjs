// The page in a frame of another origin, with no origin of its own where it is sandboxed.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";

import { pageTest, path, phone } from "./harness.mjs";
import { LOADS, KEYS } from "../../static/boot/keys.js";
import { numbers, settled, studied, value } from "./page.mjs";

const axe = readFileSync(path("node_modules/axe-core/axe.min.js"), "utf8");
const screenshots = path("target/screenshots");
mkdirSync(screenshots, { recursive: true });

const link = "v=1&m=qwen3-32b&g=h200-sxm&tp=2&isl=700&osl=100&c=8";

/** A page that holds frames, and keeps what they say. */
const around = (frames) => `<!doctype html><title>Around</title><meta name="viewport" content="width=device-width">
<style>iframe { width: 100%; height: 500px; border: 0 }</style>
<script>
  const messages = [];
  const named = (source) => [...document.querySelectorAll("iframe")].find((frame) => frame.contentWindow === source)?.name;
  addEventListener("message", ({ source, origin, data }) => messages.push({ frame: named(source), origin, ...data }));
  const last = (type, frame = "f") => messages.findLast((message) => message.type === type && message.frame === frame);
  const say = (data, frame = "f") => frames[frame].postMessage(data, "*");
</script>
${frames}`;

const frame = (site, { view = "card", query = "", fragment = link, name = "f", sandbox = 'sandbox="allow-scripts"' } = {}) =>
  `<iframe id="${name}" name="${name}" title="Prediction" ${sandbox} src="${site}embed.html?view=${view}${query}#${fragment}"></iframe>`;

/** A test on a page around one frame; `say(type, content)` is the host's word to it, `last(type)` the frame's newest. */
function frameTest(name, { frame: of = {}, more = () => "", ...options }, body) {
  const pages = (site) => ({ "/": around(frame(site, of) + more(site)), ...options.others?.(site) });
  pageTest(name, { ...options, pages }, async (test) => {
    const { page, host } = test;
    await page.goto(host);
    const say = (type, content = {}) => page.evaluate((data) => say(data), { ns: "rooflight", v: 1, type, ...content });
    const last = (type) => page.evaluate((type) => last(type), type);
    const until = (type, test, given) =>
      page.waitForFunction(([type, test, given]) => last(type) && new Function("message", "given", `return ${test}`)(last(type), given), [type, test, given]);
    await body({ ...test, inside: page.frameLocator("#f"), say, last, until });
  });
}

frameTest("a frame of a search names the configuration that it shows", { frame: { fragment: `${link}&f=all` } }, async ({ inside }) => {
  await settled(inside);
  assert.match(await inside.locator("h1.about").textContent(), /^Qwen3-32B on 2 × H200 SXM, vLLM: /);
});

for (const sandbox of ['sandbox="allow-scripts"', ""]) {
  frameTest(`a frame ${sandbox ? "without" : "with"} an origin predicts, and tells`, { frame: { sandbox } }, async ({ page, inside, last, until }) => {
    await settled(inside);
    await until("result", 'message.basis === "learned"');
    const result = await last("result");
    assert.equal(result.origin === "null", sandbox !== "");
    assert.deepEqual([result.ns, result.v, result.fits, result.link], ["rooflight", 1, true, link]);
    assert.match(result.release, /^\d{4}-\d\d-\d\d/);
    const shown = { ttft: "ttft", tpot: "tpot", e2e: "e2e", throughput: "output_per_s", "per-gpu": "output_per_s_per_gpu", "request-rate": "requests_per_s" };
    // The page's own attributes have 15 digits.
    for (const [id, name] of Object.entries(shown)) assert.ok(Math.abs(result[name] / (await value(inside, id)) - 1) < 1e-12, name);
    assert.equal((await last("state")).link, link);
    const { height } = await last("height");
    assert.ok(height > 150 && height < 450, `the card is ${height} px high`);
    assert.match(await inside.locator("h1.about").textContent(), /^Qwen3-32B on 2 × H200 SXM.*: 8 clients, 700 in, 100 out$/);
    const whole = inside.getByRole("link", { name: "Open in Rooflight" });
    assert.equal(await whole.getAttribute("href"), `./#${link}`);
    assert.deepEqual([await whole.getAttribute("target"), await whole.getAttribute("rel")], ["_blank", "noopener"]);
    assert.equal(await inside.locator("meta[name=robots]").getAttribute("content"), "noindex");
  });
}

frameTest("it repeats that it is ready until the host says hello, then says all again", {}, async ({ page, inside, say, until }) => {
  await settled(inside);
  const count = (type) => page.evaluate((type) => messages.filter((message) => message.type === type).length, type);
  await page.waitForFunction(() => messages.filter(({ type }) => type === "ready").length > 2);
  await until("result", 'message.basis === "learned"');
  const results = await count("result");
  await say("hello");
  await page.waitForFunction((before) => messages.filter(({ type }) => type === "result").length > before, results);
  const ready = await count("ready");
  await page.waitForTimeout(800);
  assert.equal(await count("ready"), ready);
});

frameTest("the host sets another link; the way back stays the host's", {}, async ({ page, inside, say, until }) => {
  await settled(inside);
  const entries = await page.evaluate(() => history.length);
  await say("set", { link: "#v=1&g=b200&isl=900" });
  await until("result", 'message.link === given && message.basis === "learned"', "v=1&g=b200&isl=900");
  assert.equal(await inside.getByTestId("gpu").inputValue(), "b200");
  await inside.getByText("Change this configuration").click();
  await inside.getByTestId("gpu").selectOption("l4");
  await until("state", 'message.link.includes("g=l4")');
  assert.equal(await inside.getByRole("link", { name: "Open in Rooflight" }).getAttribute("href"), "./#v=1&g=l4&isl=900");
  assert.equal(await page.evaluate(() => history.length), entries);
});

const panels = { card: "answer", roofline: "roofline", breakdown: "study", curve: "simulation", pareto: "study" };
for (const [view, panel] of Object.entries(panels)) {
  frameTest(`the view ${view} shows its panel, and the inputs behind a fold`, { frame: { view } }, async ({ page, inside, last, until }) => {
    await settled(inside);
    // A study takes no room before the module that shows it has come.
    await inside.locator(`.results .panel.${panel}`).first().waitFor();
    const visible = await inside.locator(".results .panel:visible").evaluateAll((all) => all.map(({ className }) => className));
    assert.ok(visible.some((name) => name.includes(panel)), visible.join());
    assert.ok(visible.length <= 2, visible.join());
    assert.deepEqual(await inside.locator(".embed-notes li").count(), 0);
    if (panel === "study") await studied(inside, { timeout: 30_000 });
    assert.equal(await inside.getByTestId("model").isVisible(), false);
    if (view === "curve") await inside.locator("#simulation-loads canvas[data-drawn]").first().waitFor();
    if (view === "roofline") await inside.locator("[data-testid=roofline][data-drawn]").waitFor();
    // Nobody sees a run in the others: none is simulated.
    if (view === "card") assert.equal(await inside.getByTestId("simulation-status").getAttribute("data-progress"), "none");
    await until("height", "message.height > 100");
    await page.locator("#f").evaluate((frame, height) => (frame.style.height = `${height}px`), (await last("height")).height);
    await page.screenshot({ path: `${screenshots}/embed-${view}.png`, fullPage: true });
  });
}

frameTest("full shows the whole page, without its header", { frame: { view: "full" }, expected: /Permissions policy violation: The Clipboard API/ }, async ({ inside }) => {
  await settled(inside);
  for (const part of ["model", "ttft", "memory-bar", "time-decode", "latencies"]) assert.ok(await inside.getByTestId(part).isVisible(), part);
  assert.equal(await inside.getByTestId("theme-dark").isVisible(), false);
  await inside.locator("[data-testid=simulation-status][data-progress=done]").waitFor({ state: "attached", timeout: 40_000 });
  // A frame may not write to the clipboard unless its host lets it.
  await inside.getByTestId("measure").locator("summary").click();
  await inside.getByTestId("copy-launch").click();
  await inside.getByText("Select it").waitFor();
});

frameTest("an unknown view is named, and the card shown", { frame: { view: "pie<b>", query: "&lock=m,nonsense&theme=mauve" } }, async ({ inside }) => {
  await settled(inside);
  const notes = await inside.locator(".embed-notes li").allTextContents();
  assert.equal(notes.length, 3);
  for (const [index, name] of ["pie<b>", "mauve", "nonsense"].entries()) assert.ok(notes[index].includes(`“${name}”`), notes[index]);
  assert.ok(await inside.getByTestId("ttft").isVisible());
  assert.ok(await inside.getByTestId("model").isDisabled());
});

for (const view of ["card", "full"]) {
  frameTest(`locked inputs are shown and fixed (${view})`, { frame: { view, query: "&lock=m,g,tp,isl,c" } }, async ({ inside }) => {
    await settled(inside);
    if (view === "card") await inside.getByText("Change this configuration").click();
    for (const id of ["model", "gpu", "tp", "tp-range", "isl", "isl-range", "concurrency", "concurrency-range", "load-rate", "load-batch"])
      assert.ok(await inside.getByTestId(id).isDisabled(), id);
    for (const id of ["config-json", "config-json-use", "config-json-file", "trace-use", "layers"]) assert.ok(await inside.getByTestId(id).isDisabled(), id);
    for (const id of ["osl", "engine", "weights", "kv", "slo_ttft"]) assert.ok(await inside.getByTestId(id).isEnabled(), id);
    assert.equal(await inside.getByTestId("isl").inputValue(), "700");
    const before = await numbers(inside);
    await inside.getByTestId("osl").fill("300");
    await inside.locator(`[data-testid=e2e]:not([data-value="${before.e2e}"])`).waitFor();
  });
}

for (const load of LOADS) {
  const fragment = `v=1&m=qwen3-32b&g=h200-sxm&tp=2&isl=700&osl=100&${KEYS[load]}=9`;
  frameTest(`a frame of ${load} is arranged, and its load can be locked`, { frame: { fragment, query: `&lock=${KEYS[load]}` } }, async ({ inside }) => {
    await settled(inside);
    assert.match(await inside.locator("h1.about").textContent(), /^Qwen3-32B on 2 × H200 SXM, vLLM: .*\b9\b.*, 700 in, 100 out$/);
    assert.equal(await inside.getByRole("link", { name: "Open in Rooflight" }).getAttribute("href"), `./#${fragment}`);
    for (const id of [load, "load-rate", "load-batch"]) assert.ok(await inside.getByTestId(id).isDisabled(), id);
  });
}

frameTest("neither a preset nor a pasted command changes locked inputs", { frame: { query: "&lock=isl,tp,c" } }, async ({ page, inside, last, until }) => {
  await settled(inside);
  await until("result", 'message.basis === "learned"');
  await inside.getByText("Change this configuration").click();
  const kept = (link) => {
    const of = new URLSearchParams(link);
    assert.ok(link.startsWith("v=1&") && !link.includes("lock"), link);
    assert.deepEqual(["isl", "tp", "c", "on"].map((key) => of.get(key)), ["700", "2", "8", null], link);
  };
  // A preset of every load, and one with a load of its own.
  for (const preset of await inside.locator(".presets button").all()) {
    await preset.click();
    await settled(inside);
    kept((await last("state")).link);
    assert.deepEqual([await inside.getByTestId("isl").inputValue(), await inside.getByTestId("concurrency").inputValue()], ["700", "8"]);
  }
  assert.match(await inside.locator(".embed-notes").textContent(), /^Fixed by the embedding page, and kept: .*Input length/);
  // Their other inputs were changed.
  assert.notEqual(new URLSearchParams((await last("state")).link).get("osl"), "100");
  await inside.getByText("Use a config.json, a name or a launch command").click();
  await inside.getByTestId("config-json").fill("vllm serve Qwen/Qwen3-14B --tensor-parallel-size 8 --max-num-seqs 99");
  await inside.getByTestId("config-json-use").click();
  await until("state", 'message.link.includes("ms=99")');
  kept((await last("state")).link);
  assert.equal(await inside.getByTestId("tp").inputValue(), "2");
  // Nor was any other configuration answered in between.
  for (const { link } of await page.evaluate(() => messages.filter(({ type }) => type === "result"))) kept(link);
  // A change of a free input is not refused.
  await inside.getByTestId("osl").fill("300");
  await until("state", 'message.link.includes("osl=300")');
  assert.equal(await inside.locator(".embed-notes li").count(), 0);
});

frameTest("the host changes locked inputs, and the new values are kept", { frame: { query: "&lock=isl,m" } }, async ({ inside, last, say, until }) => {
  await settled(inside);
  await say("set", { link: "v=1&m=qwen3-8b&isl=900" });
  await until("result", 'message.basis === "learned" && message.link === given', "v=1&m=qwen3-8b&isl=900");
  assert.equal(await inside.getByTestId("isl").inputValue(), "900");
  await inside.getByText("Change this configuration").click();
  await inside.locator(".presets button").first().click();
  await inside.locator(".embed-notes").getByText("kept: Input length").waitFor();
  assert.equal(new URLSearchParams((await last("state")).link).get("isl"), "900");
  // A published name: the page looks it up, and writes what it found.
  await say("set", { link: "v=1&m=Qwen%2FQwen3-14B&isl=800" });
  await until("result", 'message.basis === "learned" && message.link.includes("isl=800")');
  assert.equal(await inside.getByTestId("isl").inputValue(), "800");
});

frameTest("a new fragment is the host's in the frame's src, and the reader's inside", { frame: { query: "&lock=isl", sandbox: "" } }, async ({ page, inside, until }) => {
  await settled(inside);
  await until("result", 'message.basis === "learned"');
  await page.evaluate(() => {
    const frame = document.getElementById("f");
    frame.src = frame.src.replace("isl=700", "isl=900");
  });
  await until("result", 'message.basis === "learned" && message.link.includes("isl=900")');
  await inside.getByText("Change this configuration").click();
  const [within] = page.frames().slice(1);
  await within.evaluate(() => (location.hash = location.hash.replace("isl=900", "isl=50").replace("osl=100", "osl=200")));
  await until("state", 'message.link.includes("osl=200")');
  assert.equal(await inside.getByTestId("isl").inputValue(), "900");
});

frameTest("what the page makes anew stays locked", { frame: { query: "&lock=ep" } }, async ({ inside }) => {
  await settled(inside);
  await inside.getByText("Change this configuration").click();
  assert.equal(await inside.getByTestId("ep").count(), 0, "a dense model has no experts");
  await inside.getByTestId("model").selectOption("qwen3-30b-a3b");
  await inside.getByTestId("ep").waitFor({ state: "attached" });
  assert.ok(await inside.getByTestId("ep").isDisabled());
});

const ground = (inside) => inside.locator("html").evaluate((root) => getComputedStyle(root).backgroundColor);

frameTest("the theme is the host's word, else the query's, else the system's", { frame: { query: "&theme=dark" }, theme: "light", more: (site) => frame(site, { name: "system" }) }, async ({ page, inside, say }) => {
  await settled(inside);
  await settled(page.frameLocator("#system"));
  const [dark, light] = [await ground(inside), await ground(page.frameLocator("#system"))];
  assert.notEqual(dark, light);
  const becomes = async (wanted) => {
    for (let tries = 0; (await ground(inside)) !== wanted; tries++) {
      assert.ok(tries < 50, `the ground stays ${await ground(inside)}`);
      await page.waitForTimeout(50);
    }
  };
  await say("hello", { theme: "light" });
  await becomes(light);
  await say("theme", { theme: "dark" });
  await becomes(dark);
  await say("theme", { theme: "auto" });
  await becomes(light);
  await page.emulateMedia({ colorScheme: "dark" });
  await becomes(dark);
});

pageTest("a frame's theme is not the visitor's choice for the page", { pages: (site) => ({ "/": around(frame(site, { query: "&theme=dark", sandbox: "" })) }) }, async ({ page, host, url }) => {
  await page.goto(host);
  await settled(page.frameLocator("#f"));
  await page.goto(url);
  await settled(page);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "system");
});

const stranger = '<!doctype html><script>parent.frames.f.postMessage({ ns: "rooflight", v: 1, type: "set", link: "v=1&g=l4" }, "*")</script>';
frameTest("strangers and malformed messages change nothing", { others: () => ({ "/stranger": stranger }) }, async ({ page, inside, last, host }) => {
  await settled(inside);
  await page.evaluate(
    (source) => new Promise((loaded) => {
      document.body.append(Object.assign(document.createElement("iframe"), { src: source, onload: loaded }));
    }),
    `${host}stranger`,
  );
  await page.evaluate(() => {
    const of = (message) => ({ ns: "rooflight", v: 1, ...message });
    const bad = [
      null, "set", 7, [], {}, { ns: "rooflight" }, of({}), of({ type: 7 }), of({ type: "constructor" }), of({ type: "__proto__" }), of({ type: "set" }),
      of({ type: "set", link: 5 }), of({ type: "set", link: { toString: null } }), of({ type: "set", link: "g=l4&x=" + "A".repeat(200_000) }),
      of({ type: "theme", theme: "mauve" }), of({ type: "theme", theme: 1 }), of({ type: "hello", theme: [] }),
      { ns: "rooflight", v: 2, type: "set", link: "v=1&g=l4" }, { ns: "other", v: 1, type: "set", link: "v=1&g=l4" },
    ];
    for (const message of bad) say(message);
  });
  await page.waitForTimeout(500);
  assert.equal((await last("state")).link, link);
  assert.equal(await inside.getByTestId("gpu").inputValue(), "h200-sxm");
});

frameTest("what is wrong with the link is seen", { frame: { fragment: "v=1&m=no-such-model" } }, async ({ inside, until }) => {
  await inside.locator("[data-testid=issue][data-field=model]").first().waitFor();
  assert.ok(await inside.getByTestId("model").isVisible(), "the fold is open");
  await until("state", "message.errors === true");
});

frameTest("a configuration that does not fit says why, and gives no numbers", { frame: { fragment: "v=1&m=deepseek-v3&g=l4" } }, async ({ inside, until, last }) => {
  await until("result", 'message.basis === "learned"');
  assert.deepEqual([(await last("result")).fits, (await last("result")).ttft], [false, null]);
  assert.ok(await inside.getByTestId("fit").isVisible());
  assert.match(await inside.getByTestId("fit").textContent(), /Does not fit/);
});

/** What axe tries and the page's policy forbids. */
const byAxe = /Applying inline style violates|Couldn't load preload assets/;

for (const [theme, viewport] of [["light", undefined], ["dark", phone]]) {
  frameTest(`keyboard and screen reader inside, ${theme}`, { theme, viewport, expected: byAxe }, async ({ page, inside, last, until }) => {
    await settled(inside);
    await until("height", "message.height > 100");
    await page.locator("#f").evaluate((frame, height) => (frame.style.height = `${height}px`), (await last("height")).height);
    await page.screenshot({ path: `${screenshots}/embed-card-${theme}.png` });
    const [within] = page.frames().slice(1);
    await within.evaluate(`${axe}; null`);
    const { violations } = await within.evaluate(() => window.axe.run());
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), []);
    assert.ok(await within.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no sideways scroll");
    const focused = () => within.evaluate(() => document.activeElement?.textContent);
    // Past the numbers: what each means, and its formula.
    for (let tabs = 0; tabs < 30 && (await focused()) !== "Change this configuration"; tabs++) await page.keyboard.press("Tab");
    assert.equal(await focused(), "Change this configuration");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.ok(await within.evaluate(() => document.activeElement.closest("form.inputs") !== null));
    // Folded out, it is higher, and says so.
    await until("height", "message.height > 500");
  });
}

frameTest("a link inside the frame leaves locked inputs, and the way back, as they are", { frame: { query: "&lock=m,tp,x" } }, async ({ page, inside, until }) => {
  await settled(inside);
  const entries = await page.evaluate(() => history.length);
  // As documents of the page have them.
  await inside.locator("main").evaluate((main) => {
    const link = Object.assign(document.createElement("a"), { href: "#v=1&m=gpt-oss-120b&g=b200&tp=4&isl=900", id: "other", textContent: "Another" });
    main.append(link);
  });
  await inside.locator("#other").click();
  await until("result", 'message.link === given && message.basis === "learned"', "v=1&m=qwen3-32b&g=b200&tp=2&isl=900");
  assert.equal(await page.evaluate(() => history.length), entries);
});

frameTest("a number of the card is explained below it", {}, async ({ inside }) => {
  await settled(inside);
  assert.equal(await inside.locator(".views").isVisible(), false);
  await inside.getByTestId("explain-ttft").click();
  await inside.getByTestId("study").getByText(/TTFT/).first().waitFor();
  await inside.getByText("Answer", { exact: true }).click();
  await inside.getByTestId("study").waitFor({ state: "hidden" });
  assert.equal(await inside.locator(".views").isVisible(), false);
});
