// The guide's snippets and the example sites, with the page under test in place of their address.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, test } from "node:test";

import { VIEWS } from "../../static/boot/embed/query.js";
import { pageTest, path } from "./harness.mjs";
import { settled } from "./page.mjs";
import { serve } from "./server.mjs";

const PLACEHOLDER = "https://example.org/rooflight/";
const guide = readFileSync(path("docs/embedding.md"), "utf8");
const snippets = [...guide.matchAll(/```html\n([\s\S]*?)```/g)].map(([, html]) => html);

for (const [index, snippet] of snippets.entries()) {
  // The element's script stands in the first of its snippets only.
  const page = (site) => `<!doctype html><html><title>Snippet</title>${snippet.includes("roof-light") ? `<script type="module" src="${site}roof-light.js"></script>` : ""}
    ${snippet.replaceAll(PLACEHOLDER, site)}</html>`;
  pageTest(`snippet ${index + 1} of the guide works`, { pages: (site) => ({ "/": page(site) }) }, async ({ page, host }) => {
    await page.goto(host);
    const frame = page.locator("iframe").first();
    await settled(frame.contentFrame());
    if (snippet.includes("seconds")) await page.locator("#seconds", { hasText: /^\d+\.\d s$/ }).waitFor();
    if (snippet.includes('"hello"')) {
      await frame.contentFrame().locator("html[data-theme=dark]").waitFor({ state: "attached" });
      for (let tries = 0; ; tries++) {
        const [given, content] = [await page.evaluate(() => Number(frame.height)), await frame.contentFrame().locator("html").evaluate((html) => html.offsetHeight)];
        if (Math.abs(given - content) < 4) break;
        assert.ok(tries < 100, `the frame is ${given} px high, its content ${content}`);
        await page.waitForTimeout(50);
      }
    }
  });
}

const rows = [...guide.matchAll(/^\| `(\w+)` \| [^|]+ \| (\d* ?(?:px)?) ?\|$/gm)].map(([, view, height]) => [view, Number.parseInt(height)]);
test("all snippets have the heights of the guide", () => {
  const heights = Object.fromEntries(rows.filter(([, height]) => height));
  const snippets = readFileSync(path("src/study/share.rs"), "utf8");
  const shared = [...snippets.matchAll(/\("(\w+)", "[^"]+", (\d+)\)/g)].map(([, view, height]) => [view, Number(height)]);
  assert.deepEqual(Object.fromEntries(shared), heights);
  for (const html of [guide, readFileSync(path("examples/plain/index.html"), "utf8")])
    for (const [, height] of html.matchAll(/<iframe[^>]* height="(\d+)"/g)) assert.equal(Number(height), heights.card);
});

pageTest("the guide lists all views, and how high they are", { pages: (site) => ({ "/": `<!doctype html><title>Views</title><script>
  const heights = {};
  addEventListener("message", ({ source, data }) => {
    const frame = [...document.querySelectorAll("iframe")].find(({ contentWindow }) => contentWindow === source);
    if (data.type === "height") heights[frame.name] = data.height;
  });
</script>${rows.filter(([, height]) => height).map(([view]) => `<iframe name="${view}" id="${view}" style="width: 720px; border: 0" src="${site}embed.html?view=${view}#v=1&amp;m=qwen3-32b&amp;g=h200-sxm&amp;tp=2&amp;c=32&amp;st=1000&amp;sp=50"></iframe>`).join("")}` }) }, async ({ page, host, t }) => {
  assert.deepEqual(rows.map(([view]) => view), Object.keys(VIEWS));
  await page.goto(host);
  for (const [view, height] of rows.filter(([, height]) => height)) {
    await settled(page.frameLocator(`#${view}`));
    if (view === "curve") await page.frameLocator("#curve").locator("[data-testid=simulation-status][data-progress=done]").waitFor({ state: "attached", timeout: 40_000 });
    const measured = await page.evaluate((view) => heights[view], view);
    t.diagnostic(`${view}: ${measured} px`);
    // Other fonts have other lines.
    assert.ok(Math.abs(measured / height - 1) < 0.1, `${view} is ${measured} px high, the guide says ${height}`);
  }
});

pageTest("the plain site works", { pages: (site) => ({ "/": readFileSync(path("examples/plain/index.html"), "utf8").replaceAll(PLACEHOLDER, site) }) }, async ({ page, host }) => {
  await page.goto(host);
  await settled(page.locator("#card iframe").contentFrame());
  await page.locator("#seconds", { hasText: /^\d+\.\d$/ }).waitFor();
  for (const id of ["#roofline iframe", "#frame"]) {
    await page.locator(id.split(" ")[0]).scrollIntoViewIfNeeded();
    await settled(page.locator(id).contentFrame());
  }
});

const tools = join(process.env.ROOFLIGHT_TOOLS ?? join(process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? "/", ".cache"), "rooflight/tools"), "docs/bin");
const find = (program) => [tools, ...(process.env.PATH ?? "").split(delimiter)].map((folder) => join(folder, program)).find(existsSync);
const built = mkdtempSync(join(tmpdir(), "rooflight-sites-"));
after(() => rmSync(built, { recursive: true }));

/** How each site is built into `out`, where its tool is there. */
const sites = {
  Sphinx: [find("sphinx-build"), (out) => ["-q", "-W", "-d", join(built, "doctrees"), path("examples/sphinx"), out]],
  MkDocs: [find("mkdocs"), (out) => ["build", "-q", "--strict", "-f", path("examples/mkdocs/mkdocs.yml"), "-d", out]],
  VitePress: [[path("examples/vitepress/node_modules/.bin/vitepress")].find(existsSync), (out) => ["build", path("examples/vitepress"), "--outDir", out]],
  Docusaurus: [[path("examples/docusaurus/node_modules/.bin/docusaurus")].find(existsSync), (out) => ["build", path("examples/docusaurus"), "--out-dir", out]],
};

for (const [name, [program, options]] of Object.entries(sites)) {
  const skip = !program && `${name} is not installed: examples/README.md says how`;
  pageTest(`the ${name} site works`, { skip, foreign: true, timeout: 180_000, expected: /Failed to load resource|search/ }, async ({ page, url }) => {
    const out = join(built, name);
    execFileSync(program, options(out), { env: { ...process.env, ROOFLIGHT_URL: url, ROOFLIGHT_SCRIPT: `${url}roof-light.js`, NO_COLOR: "1" }, stdio: "pipe" });
    const host = await serve(out, "/");
    try {
      await page.goto(host.url);
      for (const id of ["card", "roofline"]) {
        await page.locator(`#${id}`).scrollIntoViewIfNeeded();
        await settled(page.locator(`#${id} iframe`).contentFrame());
      }
    } finally {
      await host.stop();
    }
  });
}
