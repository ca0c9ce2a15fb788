// What the page looks like and who can use it: phone width, keyboard, contrast, sharp charts, pictures to look at.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";

import { desktop, pageTest, path, phone } from "./harness.mjs";
import { charted, choose, curved, fragmentHolds, settled, show } from "./page.mjs";

const axe = readFileSync(path("node_modules/axe-core/axe.min.js"), "utf8");
const screenshots = path("target/screenshots");
mkdirSync(screenshots, { recursive: true });

// Light once and dark once, wide once and narrow once.
for (const [name, viewport, theme] of [["desktop", desktop, "light"], ["phone", phone, "dark"]]) {
  pageTest(`${theme} ${name}: no serious accessibility finding, no sideways scroll`, { theme, viewport }, async ({ page, open }) => {
    await open();
    await settled(page);
    await curved(page);
    await page.screenshot({ path: `${screenshots}/${name}-${theme}.png` });
    await page.screenshot({ path: `${screenshots}/${name}-${theme}-full.png`, fullPage: true });
    const [content, visible] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(content <= visible, `the page is ${content} px wide in a window of ${visible}`);
    await page.evaluate(`${axe}; null`);
    const { violations } = await page.evaluate(() => window.axe.run());
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), []);
  });
}

pageTest("the theme buttons override the system's theme", { theme: "light" }, async ({ page, open }) => {
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await open();
  await settled(page);
  const light = await background();
  await choose(page, "theme-dark");
  await page.waitForFunction((before) => getComputedStyle(document.documentElement).backgroundColor !== before, light);
  await choose(page, "theme-system");
  await page.waitForFunction((before) => getComputedStyle(document.documentElement).backgroundColor === before, light);
});

pageTest("the keyboard reaches every control", {}, async ({ page, open }) => {
  await open();
  await settled(page);
  // Its button to stop goes when there is nothing left to stop.
  await page.locator("[data-testid=simulation-status][data-progress=done]").waitFor({ state: "attached" });
  // Radio buttons of one group share one tab stop, and closed details hide what is inside them.
  const wanted = await page.evaluate(() =>
    [...document.querySelectorAll("input, select, textarea, button, a[href], summary")]
      .filter((field) => field.checkVisibility({ visibilityProperty: true }) && !field.disabled && (field.type !== "radio" || field.checked))
      .map((field, index) => (field.dataset.probe = `${field.dataset.testid ?? field.tagName}#${index}`)),
  );
  const reached = new Set();
  for (let presses = 0; presses < wanted.length + 20; presses++) {
    await page.keyboard.press("Tab");
    const probe = await page.evaluate(() => document.activeElement?.dataset.probe);
    if (probe) reached.add(probe);
  }
  assert.deepEqual(wanted.filter((probe) => !reached.has(probe)), []);
});

for (const scale of [1, 2, 3]) {
  pageTest(`the roofline is drawn in device pixels at ratio ${scale}`, { scale }, async ({ page, open }) => {
    await open();
    await settled(page);
    await charted(page);
    const [drawn, shown] = await page.getByTestId("roofline").evaluate((canvas) => [canvas.width, canvas.getBoundingClientRect().width]);
    assert.ok(Math.abs(drawn - shown * scale) <= 1, `${drawn} pixels for ${shown} CSS pixels`);
    const colours = await page.getByTestId("roofline").evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    });
    assert.ok(colours > 10, "something is drawn");
  });
}

pageTest("the overview prints to one page", {}, async ({ page, open }) => {
  for (const link of ["v=1", "v=1&m=deepseek-r1&g=h200-sxm&tp=8&e=sglang&c=64&st=500&sp=50"]) {
    await open(link);
    await settled(page);
    await curved(page);
    const pdf = await page.pdf({ format: "A4" });
    const pages = pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g) ?? [];
    assert.equal(pages.length, 1, link);
    await page.goto("about:blank");
  }
});

const LIMITED = "v=1&m=qwen3-32b&tp=2&c=32&st=1000&sp=25";

pageTest("the answer stays in view and under 200 px, and the first chart needs no scrolling", { viewport: { width: 1280, height: 720 } }, async ({ page, open }) => {
  await open(LIMITED);
  await settled(page);
  await curved(page);
  const answer = page.locator(".answer");
  const { height } = await answer.boundingBox();
  assert.ok(height < 200, `${height} px high`);
  const chart = await page.getByTestId("curve").boundingBox();
  assert.ok(chart.y + chart.height <= 720, `the chart ends at ${chart.y + chart.height}`);
  assert.match(await page.getByTestId("verdict").textContent(), /^Misses the TTFT limit\s*TTFT P99 .*, limit 1\.00\ss \(\+\d+\s%\)/);
  // Inputs and views scroll, the answer does not.
  for (const part of [".side", ".below"]) await page.locator(part).evaluate((part) => part.scrollTo(0, part.scrollHeight));
  assert.ok((await answer.boundingBox()).y >= 0);
});

for (const [viewport, edge] of [[desktop, "right"], [phone, "left"]]) {
  pageTest(`what the numbers are leaves the verdict whole, and stands at an edge (${viewport.width} px)`, { viewport }, async ({ page, open }) => {
    await open("");
    await page.locator("[data-verdict=meets]").waitFor();
    await settled(page);
    const [lead, verdict, basis] = await page.evaluate(() => [".lead", ".verdict", ".basis"].map((part) => document.querySelector(part).getBoundingClientRect().toJSON()));
    if (viewport === desktop) assert.ok(verdict.height < 30, `the verdict is ${verdict.height} px high`);
    assert.ok(basis.top >= verdict.bottom - 1 || basis.left >= verdict.right, "beside it, or in a line of its own");
    assert.ok(Math.abs(basis[edge] - lead[edge]) <= 1, `${basis[edge]} of ${lead[edge]}`);
  });
}

pageTest("zoomed in to 400 %, the numbers leave the window to what is below", { viewport: { width: 320, height: 256 } }, async ({ page, open }) => {
  await open("v=1&m=qwen3-32b&tp=2&c=32");
  await settled(page);
  const headline = page.locator(".headline");
  await page.getByTestId("curve").scrollIntoViewIfNeeded();
  assert.ok((await headline.boundingBox()).y < -100, "scrolled away");
});

pageTest("what would be better is said, and one press away", {}, async ({ page, open }) => {
  await open("v=1&m=llama-3.3-70b-instruct&tp=8&r=2&st=2000&sp=60");
  await settled(page);
  const better = page.getByTestId("better");
  await better.waitFor({ timeout: 45_000 });
  assert.match(await better.textContent(), /^Better: .*: \d+ % cheaper, still meets the limits \((over )?\d+ % likely( \([a-z ]+\))? to hold when measured\)\. Apply$/);
  const before = await page.getByTestId("cost").getAttribute("data-value");
  await better.getByRole("link", { name: "Apply" }).click();
  await page.waitForFunction((before) => Number(document.querySelector("[data-testid=cost]").dataset.value) < Number(before), before);
  await page.locator("[data-verdict=meets]").waitFor();
});

pageTest("what an update removes or hides leaves the focus near, not at the top of the page", {}, async ({ page, open }) => {
  await open("v=1&m=llama-3.3-70b-instruct&tp=8&r=2&st=2000&sp=60");
  await settled(page);
  const focused = (selector) => page.waitForFunction((selector) => document.activeElement.matches(selector), selector);
  const apply = page.getByTestId("better").getByRole("link", { name: "Apply" });
  await apply.waitFor({ timeout: 45_000 });
  await apply.press("Enter");
  await focused("#results");
  await page.getByTestId("trace-panel").locator("summary").click();
  await page.getByTestId("trace").fill("arrival,prompt,output\n0,300,20\n1,300,20");
  await page.getByTestId("trace-use").press("Enter");
  const remove = page.getByTestId("trace-remove");
  await remove.waitFor();
  // What stays keeps it.
  await settled(page);
  await focused("[data-testid=trace-use]");
  await remove.press("Enter");
  await focused("fieldset:has([data-testid=trace-remove])");
});

pageTest("in forced colours what is chosen can be told, and colours that mean something stay", {}, async ({ page, open }) => {
  await page.emulateMedia({ forcedColors: "active" });
  await open(LIMITED);
  await settled(page);
  await curved(page);
  const [chosen, other, bars, list] = await page.evaluate(() => {
    const style = (selector) => [...document.querySelectorAll(selector)].map((element) => getComputedStyle(element));
    const backs = (selector) => [...new Set(style(selector).map((of) => of.backgroundColor))];
    return [
      backs(".segments input:checked + label"), backs(".segments input:not(:checked) + label"), backs(".time .bar > span"), style(".picked > select").map((of) => of.color),
    ];
  });
  assert.equal(chosen.length, 1);
  assert.ok(!other.includes(chosen[0]), `${chosen} among ${other}`);
  assert.ok(bars.length >= 3, `${bars}`);
  assert.deepEqual([...new Set(list)], ["rgba(0, 0, 0, 0)"]);
});

for (const [name, viewport] of [["desktop", desktop], ["phone", phone]]) {
  pageTest(`${name}: the outline of a term in the headline is whole, and a phone's are as high as a finger needs`, { viewport }, async ({ page, open }) => {
    await open(LIMITED);
    await settled(page);
    const terms = await page.locator(".gauge dt .term:visible").evaluateAll((terms) => terms.map((term) => {
      term.focus({ focusVisible: true });
      const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(term);
      const [box, around] = [term, term.closest("dt")].map((element) => element.getBoundingClientRect());
      const reach = outlineStyle === "none" ? NaN : parseFloat(outlineWidth) + parseFloat(outlineOffset);
      return { height: box.height, room: Math.min(box.left - around.left, box.top - around.top, around.bottom - box.bottom) - reach };
    }));
    assert.ok(terms.length >= 4 && terms.every(({ room }) => room >= 0), JSON.stringify(terms));
    if (viewport !== phone) return;
    const heights = await page.locator(".term:visible, .why:visible").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
    assert.ok(Math.min(...heights) >= 24, `${heights}`);
  });
}

pageTest("a phone shows what is set in a line, which opens the form", { viewport: phone }, async ({ page, open }) => {
  await open(LIMITED);
  await settled(page);
  const line = page.getByTestId("configure");
  assert.match(await line.textContent(), /^Qwen3-32B on 2 × H100 SXM, vLLM: 32 clients, 1024 in, 512 out/);
  assert.equal(await page.getByTestId("isl").isVisible(), false);
  for (const part of ["verdict", "ttft", "cost", "time-decode"]) assert.ok((await page.getByTestId(part).boundingBox()).y < phone.height, part);
  // At the upper edge too, and what is below keeps its place.
  const gauges = page.locator(".headline .gauges");
  const views = () => page.locator(".views").evaluate((views) => views.getBoundingClientRect().top + scrollY);
  const place = await views();
  await page.evaluate(() => scrollTo(0, 700));
  await page.locator(".headline.pinned:not(.low)").waitFor();
  const high = await gauges.boundingBox();
  assert.ok(high.y < 40 && high.height < 60, JSON.stringify(high));
  assert.ok(Math.abs((await views()) - place) < 1, "nothing moves");
  await page.evaluate(() => scrollTo(0, 0));
  await line.click();
  await page.getByTestId("isl").fill("2000");
  await fragmentHolds(page, { isl: "2000" });
  await settled(page);
  assert.ok(await page.getByTestId("ttft").isVisible(), "numbers stay beside the form");
  // In two lines at the lower edge: the verdict, and the numbers.
  await page.locator(".headline.pinned.low").waitFor();
  const low = await gauges.boundingBox();
  assert.ok(low.height < 60 && Math.abs(low.y + low.height - phone.height) <= 1, JSON.stringify(low));
  await line.click();
  for (const panel of ["roofline", "change", "evidence"]) {
    await show(page, panel);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), panel);
  }
});

pageTest("bars hold whole words or none, and inputs say what they mean", { viewport: phone }, async ({ page, open }) => {
  await open(LIMITED);
  await settled(page);
  // Words on the line that is in sight, and how far they reach beyond their part of the bar.
  const reach = () => page.locator(".time .bar span").evaluateAll((parts) => parts.map((part) => {
    const [box, range] = [part.getBoundingClientRect(), document.createRange()];
    range.selectNodeContents(part);
    const seen = [...range.getClientRects()].filter((line) => line.top < box.bottom - 4);
    return Math.max(0, ...seen.map((line) => line.right - box.right));
  }));
  const parts = await reach();
  assert.ok(parts.length > 2 && parts.every((beyond) => beyond < 1), `${parts}`);
  await page.getByTestId("configure").click();
  await page.locator("label[for=isl]:not(.unit)").click();
  await page.locator(".definition", { hasText: /prompt/i }).waitFor();
});

pageTest("heads of tables have a definition, and P99 is among a phone's numbers", { viewport: phone }, async ({ page, open }) => {
  await open("v=1&m=qwen3-32b&tp=2&c=32");
  await settled(page);
  assert.match(await page.locator("[data-spread=ttft]").innerText(), /^P99 [\d.]+\s\w+$/);
  assert.match(await page.locator("[data-spread=per-user]").textContent(), /^99 % get [\d.]+ or more$/);
  await show(page, "headroom");
  await page.getByTestId("headroom-decode").getByRole("button", { name: "Fastest elsewhere" }).click();
  await page.locator(".definition", { hasText: "other engines' kernels" }).waitFor();
});

pageTest("tables of kernels fit a desktop, and an error on a first visit leaves no empty panel", {}, async ({ page, open }) => {
  await open("v=1&isl=-5");
  await page.locator("[data-testid=issue][data-field=isl]").first().waitFor();
  assert.equal(await page.getByTestId("simulation").isVisible(), false);
  await open("v=1&m=deepseek-r1&g=h200-sxm&tp=8&e=sglang&c=64");
  await settled(page);
  await charted(page);
  const beyond = await page.locator(".kernels .scroll").evaluateAll((all) => all.map((one) => one.scrollWidth - one.clientWidth));
  assert.deepEqual(beyond, [0, 0]);
});

pageTest("an error out of sight is listed with a way to its input, and every word can be read", { viewport: phone }, async ({ page, open }) => {
  await open(LIMITED);
  await settled(page);
  await page.evaluate(() => (location.hash = "v=1&m=qwen3-32b&tp=2&c=32&isl=-5"));
  const problem = page.getByTestId("problems").locator("[data-field=isl]");
  await problem.waitFor();
  await page.evaluate(`${axe}; null`);
  const { violations } = await page.evaluate(() => window.axe.run());
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), []);
  await problem.getByRole("button", { name: "Show" }).click();
  await page.waitForFunction(() => document.activeElement.id === "isl");
});

pageTest("a first visit is told what this is, with an example that meets its limits", {}, async ({ page, open }) => {
  await open("");
  await settled(page);
  await page.getByTestId("intro").waitFor();
  await page.locator("[data-verdict=meets]").waitFor();
  // Over both columns, and the limits need no scrolling.
  const intro = await page.getByTestId("intro").boundingBox();
  for (const part of [".side", ".results:not(.plans)"]) assert.ok((await page.locator(part).boundingBox()).y >= intro.y + intro.height, part);
  const limits = await page.locator("fieldset", { has: page.getByTestId("slo_tpot") }).boundingBox();
  assert.ok(limits.y + limits.height <= desktop.height, `the limits end at ${limits.y + limits.height}`);
  // A change leaves the inputs where they are.
  const top = async () => (await page.getByTestId("isl").boundingBox()).y;
  const before = await top();
  await page.getByTestId("isl").fill("2000");
  await settled(page);
  assert.equal(await top(), before);
  await page.getByTestId("intro-dismiss").click();
  assert.equal(await page.getByTestId("intro").count(), 0);
  assert.ok(await page.evaluate(() => document.querySelector(".side").contains(document.activeElement)));
  await page.goto("about:blank");
  await open("v=1");
  await settled(page);
  assert.equal(await page.getByTestId("intro").count(), 0);
});

pageTest("a skip link leads to the results, and terms are defined in the documentation", {}, async ({ page, open, url }) => {
  await open();
  await settled(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "results");
  const docs = await page.context().newPage();
  await docs.goto(`${url}docs/glossary.html`);
  assert.match(await docs.locator("main").textContent(), /TPOT.*time per output token/s);
  await docs.getByRole("link", { name: "Documentation" }).click();
  await docs.getByRole("link", { name: "The method" }).click();
  await docs.locator("h1").waitFor();
});
