// The page in Chinese: every sentence of it, the switch, and what browsers keep of the choice.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";

import { say, table, unsaid } from "./language.mjs";
import { charted, choose, fragmentHolds, settled, studied } from "./page.mjs";
import { desktop, pageTest, path, phone } from "./harness.mjs";
import { translator } from "../../static/boot/language/translate.js";

const screenshots = path("target/screenshots");

/** All texts that the page shows or says, and those on its canvases. */
const texts = (page) =>
  page.evaluate(() => {
    const found = new Set(window.drawn);
    const silent = "script, style, pre, code, textarea, [translate=no], option, .language";
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
      if (element.closest(silent)) continue;
      if (node.nodeType === Node.TEXT_NODE) found.add(node.data);
      else for (const name of ["aria-label", "title", "placeholder"]) found.add(element.getAttribute(name) ?? "");
    }
    return [...found];
  });

const watchCanvas = (page) =>
  page.addInitScript(() => {
    window.drawn = new Set();
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (words, ...rest) {
      window.drawn.add(words);
      return fillText.call(this, words, ...rest);
    };
  });

/** Configurations that between them say most of what the page can say. */
const LINKS = {
  plain: "v=1",
  experts: "v=1&m=deepseek-r1&g=h200-sxm&tp=8&e=sglang&c=64",
  batch: "v=1&m=qwen3-32b&b=16&e=trtllm",
  rate: "v=1&r=2&rr=0.5&st=500&sp=20",
  drafts: "v=1&m=qwen3-8b&r=4&bu=0.3&ls=0.5&pc=0.4&sd=3&sa=1.5",
  histogram: "v=1&hl=512-64x3,2048-256&c=8",
  overload: "v=1&r=500",
  misfit: "v=1&m=llama-3.1-70b&g=l4",
  wrong: "v=1&m=nothing&tp=3&isl=-4&osl=x&c=0&mem=2&zz=1",
  machines: "v=1&m=deepseek-v4-flash&g=h200-sxm&tp=8&pp=2&n=16",
  hybrid: "v=1&m=qwen3.5-397b-a17b&g=b200&tp=8&e=vllm",
};
const VIEWS = ["breakdown", "explain", "change", "compare", "sweep", "tradeoff", "evidence", "share", "export"];

async function visit(page, open, link) {
  const said = new Set();
  const hear = async () => (await texts(page)).forEach((text) => said.add(text));
  await open(link);
  await page.locator("[data-testid=basis]").first().waitFor({ state: "attached" });
  // What is wrong with a link is said without an answer, and a run comes after its numbers.
  await page.waitForTimeout(2500);
  await hear();
  for (const view of VIEWS) {
    await choose(page, `tab-${view}`);
    await studied(page);
    await page.evaluate(() => document.querySelectorAll("#study-document details").forEach((fold) => (fold.open = true)));
    await page.waitForTimeout(100);
    await hear();
  }
  return said;
}

const missing = (said) => [...said].filter((text) => unsaid(text).length > 0);

function report(name, left) {
  mkdirSync(path("target"), { recursive: true });
  writeFileSync(path(`target/unsaid-${name}.txt`), left.join("\n"));
  const words = left.slice(0, 20).map((text) => `${text}  [${unsaid(text).join(" ")}]`);
  assert.equal(left.length, 0, `not said in Chinese (all in target/unsaid-${name}.txt):\n${words.join("\n")}`);
}

for (const [name, link] of Object.entries(LINKS)) {
  pageTest(`every view speaks Chinese: ${name}`, { prepare: watchCanvas, timeout: 120_000 }, async ({ page, url }) => {
    const said = await visit(page, (fragment) => page.goto(`${url}?lang=zh#${fragment}`), link);
    assert.ok(said.size > 100);
    report(name, missing(said));
  });
}

pageTest("the switch keeps the configuration, and the browser the choice", {}, async ({ page, open }) => {
  await open("v=1&g=h200-sxm");
  await settled(page);
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
  await page.getByTestId("language").click();
  await page.locator("html[lang=zh-CN]").waitFor();
  await settled(page);
  await fragmentHolds(page, { g: "h200-sxm" });
  assert.equal(await page.getByTestId("copy-link").textContent(), "复制链接");
  await open("v=1");
  await page.locator("html[lang=zh-CN]").waitFor();
  await settled(page);
  await page.getByTestId("language").click();
  await page.locator("html[lang=en]").waitFor();
});

pageTest("the search finds what a reader of Chinese reads", {}, async ({ page, url }) => {
  await page.goto(`${url}?lang=zh#v=1`);
  await settled(page);
  await charted(page);
  await page.getByTestId("find").click();
  const words = page.getByTestId("search-words");
  const found = async (typed) => {
    await words.fill(typed);
    await page.locator(`#found[data-chosen="${typed}"]`).waitFor();
    // Words enter the document in English.
    return page.locator("#found tbody a").allTextContents();
  };
  assert.ok((await found("视图")).includes(say("Trade-off")), "all of a kind");
  assert.equal((await found(say("Trade-off")))[0], say("Trade-off"));
  assert.deepEqual(await found(`${say("Tensor parallel {}").replace(/[^\p{Script=Han}]/gu, "")}4`), [say("Tensor parallel 4")]);
  assert.equal((await found("h200 sxm"))[0], "H200 SXM");
  assert.deepEqual(await found("屋顶 没有这个"), []);
  assert.deepEqual(missing(new Set(await texts(page))), []);
  for (const text of await found(say("Compare"))) assert.deepEqual(unsaid(text), []);
  await page.screenshot({ path: `${screenshots}/search-chinese.png` });
  await page.keyboard.press("Enter");
  await page.locator("[data-testid=tab-compare]:checked").waitFor({ state: "attached" });
});

pageTest("configurations looked at are called in the language of the page", {}, async ({ page, url }) => {
  const recent = async (language) => {
    await page.goto(`${url}?lang=${language}#v=1`);
    await settled(page);
    await charted(page);
    await page.getByTestId("find").click();
    return page.locator("#recent a", { hasText: "H200" }).textContent();
  };
  // In either language, one that is known and one that is not.
  for (const [language, link] of [["zh", "v=1&m=nothing"], ["zh", "v=1&g=h200-sxm&r=2"], ["en", "v=1&m=no-such"], ["en", "v=1&g=h200-sxm&r=2"]]) {
    await page.goto("about:blank");
    await page.goto(`${url}?lang=${language}#v=1`);
    await charted(page);
    await page.evaluate((link) => (location.hash = link), link);
    const kept = () => page.evaluate(() => localStorage.getItem("rooflight-recent") ?? "");
    for (let left = 60; left > 0 && !(await kept()).includes(link); left--) await page.waitForTimeout(200);
    assert.match(await kept(), new RegExp(link), language);
    assert.doesNotMatch(await kept(), /\p{Script=Han}|unknown/u, "kept in English");
  }
  assert.match(await recent("en"), / on H200 SXM, .* requests\/s$/);
  assert.deepEqual(unsaid(await recent("zh")), []);
});

for (const [name, viewport, theme] of [["desktop", desktop, "light"], ["phone", phone, "dark"]]) {
  pageTest(`in Chinese at a ${name}'s size nothing overflows`, { viewport, theme }, async ({ page, url }) => {
    await page.goto(`${url}?lang=zh#v=1`);
    await settled(page);
    await charted(page);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), viewport.width);
    await page.screenshot({ path: `${screenshots}/chinese-${name}-${theme}.png` });
  });
}

test("holes are filled in the other language's order, and their contents said", () => {
  const say = translator({ "{} takes {} of {}": "{2}中{0}占{1}", "the KV cache": "KV 缓存", prefill: "预填充", "{} ms": "{} 毫秒" });
  assert.equal(say("the KV cache takes 30 % of prefill"), "预填充中 KV 缓存占 30 %");
  assert.equal(say(" 12 ms "), " 12 毫秒 ");
  assert.equal(say("unknown words"), "unknown words");
  assert.equal(say("12.5"), "12.5");
});

test("no template of the table asks for a hole that is not there", () => {
  for (const [english, other] of Object.entries(table)) {
    const holes = (english.match(/\{\}/g) ?? []).length;
    const asked = [...other.matchAll(/\{(\d*)\}/g)];
    const numbered = asked.filter(([, place]) => place !== "");
    assert.ok(numbered.length === 0 || numbered.length === asked.length, `${other}: either all holes are numbered or none`);
    assert.ok(asked.length <= holes || numbered.length > 0, `${other}: more holes than ${english}`);
    for (const [, place] of numbered) assert.ok(Number(place) < holes, `${other}: no hole ${place}`);
    assert.match(other, /\p{Script=Han}|^[^A-Za-z]*$|\{|^[A-Z]|^(token|sigma)$/u, `${english} is not said: ${other}`);
  }
});
