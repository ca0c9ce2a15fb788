// The built page as any static host serves it: below any path, without a network, after an update.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { launch, path } from "./browser.mjs";
import { settled, value } from "./page.mjs";
import { serve, servePages } from "./server.mjs";
import { NAMED } from "../../scripts/hooks/named.mjs";

const dist = process.env.DIST ?? path("dist");

/** A test with a browser of its own: what it keeps must not outlive it. */
function hostTest(name, body) {
  test(name, { timeout: 90_000 }, async (t) => {
    const browser = await launch();
    const context = await browser.newContext();
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    const findings = [];
    page.on("pageerror", (error) => findings.push(`page error: ${error}`));
    page.on("console", (line) => findings.push(`console ${line.type()}: ${line.text()}`));
    const folder = mkdtempSync(join(tmpdir(), "rooflight-"));
    cpSync(dist, folder, { recursive: true });
    const sites = [];
    /** Serves the built page, or this test's copy of it, until the test ends. */
    const host = async (...of) => sites[sites.push(await serve(folder, ...of)) - 1];
    try {
      await body({ context, page, folder, host, findings, t });
    } finally {
      await browser.close();
      for (const site of sites) await site.stop();
      rmSync(folder, { recursive: true });
    }
  });
}

/** Waits until the page is kept for visits without a network. */
const kept = (page) =>
  page.evaluate(async () => {
    const { active } = await navigator.serviceWorker.ready;
    while (active.state !== "activated") await new Promise((changed) => active.addEventListener("statechange", changed, { once: true }));
  });

/** Waits until another version is there, and waits for its turn. */
const updated = (page) =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.getRegistration();
    while (!registration.waiting) await new Promise((later) => setTimeout(later, 50));
  });

for (const base of ["/", "/docs/tools/rooflight/", "/a%20b/"]) {
  hostTest(`the page works below ${base}, asks nobody else, and leaves nothing open`, async ({ page, folder, host, findings }) => {
    const site = await host(decodeURIComponent(base));
    const foreign = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(site.url) && !/^(blob|data):/.test(request.url())) foreign.push(request.url());
    });
    await page.goto(`${site.url}#v=1&m=qwen3-32b&tp=2`);
    await settled(page);
    await page.goto(`${site.url}embed.html?view=roofline#v=1&m=qwen3-32b&tp=2`);
    await settled(page);
    await page.locator("[data-testid=roofline][data-drawn]").waitFor();
    assert.deepEqual([foreign, findings], [[], []]);
  });
}

hostTest("after a first visit it answers without a network, learned numbers too", async ({ page, folder, host, findings }) => {
  const site = await host();
  await page.goto(`${site.url}#v=1&m=qwen3-32b&tp=2`);
  await settled(page);
  const before = await value(page, "ttft");
  await kept(page);
  await site.stop();
  await page.reload();
  await settled(page);
  assert.equal(await value(page, "ttft"), before);
  await page.locator("[data-testid=curve][data-drawn]").waitFor();
  await page.goto(`${site.url}embed.html?view=card#v=1&m=qwen3-32b&tp=2`);
  await settled(page);
  assert.equal(await value(page, "ttft"), before);
  assert.deepEqual(findings, []);
});

/** Makes another release of the page in `folder`: its script and a model have other content, and sw.js says so. */
async function release(folder, mark) {
  const { listed } = await import("../../scripts/hooks/listed.mjs");
  const index = join(folder, "index.html");
  writeFileSync(index, readFileSync(index, "utf8").replace(/<title>[^<]*/, `<title>Release ${mark}`));
  const manifest = join(folder, "models/manifest.json");
  writeFileSync(manifest, `${readFileSync(manifest, "utf8").trimEnd()}${" ".repeat(mark)}\n`);
  writeFileSync(join(folder, "sw.js"), listed(folder));
}

/** What is kept, by version: how many files, and the length of the manifest among them. */
const stores = (page) =>
  page.evaluate(async () => {
    const found = [];
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      const manifest = await cache.match(new URL("models/manifest.json", document.baseURI));
      found.push([(await cache.keys()).length, (await manifest.text()).length]);
    }
    return found;
  });

hostTest("an update takes over with the next load, whole, and clears what was before", async ({ page, folder, host, findings }) => {
  await release(folder, 1);
  const site = await host();
  await page.goto(site.url);
  await settled(page);
  await kept(page);
  const [[files, length]] = await stores(page);
  await release(folder, 2);
  // The next load still shows the version that is kept, and fetches the new one beside it.
  await page.reload();
  await settled(page);
  assert.equal(await page.title(), "Release 1");
  await updated(page);
  assert.deepEqual((await stores(page)).sort(), [[files, length], [files, length + 1]]);
  await page.reload();
  await page.waitForFunction(() => document.title === "Release 2");
  await settled(page);
  await page.evaluate(async () => {
    while ((await caches.keys()).length > 1) await new Promise((later) => setTimeout(later, 50));
  });
  assert.deepEqual(await stores(page), [[files, length + 1]]);
  await site.stop();
  await page.reload();
  await settled(page);
  assert.equal(await page.title(), "Release 2");
  assert.deepEqual(findings, []);
});

hostTest("while another window is open, an update waits, and no window mixes versions", async ({ context, page, folder, host }) => {
  await release(folder, 1);
  const site = await host();
  await page.goto(site.url);
  await kept(page);
  await page.reload();
  const other = await context.newPage();
  await other.goto(site.url);
  await settled(other);
  await release(folder, 2);
  await page.reload();
  await updated(page);
  await page.reload();
  await settled(page);
  assert.equal(await page.title(), "Release 1");
  await other.close();
  await page.reload();
  await page.waitForFunction(() => document.title === "Release 2");
  await site.stop();
});

hostTest("a deploy half done is not kept", async ({ page, folder, host }) => {
  await release(folder, 1);
  const site = await host();
  await page.goto(site.url);
  await kept(page);
  // The list is of the next release, a file still of this one.
  await release(folder, 2);
  writeFileSync(join(folder, "models/manifest.json"), readFileSync(join(dist, "models/manifest.json")));
  await page.evaluate(async () => {
    const registration = await navigator.serviceWorker.getRegistration();
    const found = new Promise((found) => registration.addEventListener("updatefound", () => found(registration.installing)));
    registration.update();
    const next = await found;
    while (next.state !== "redundant") await new Promise((later) => setTimeout(later, 50));
  });
  assert.equal(await page.evaluate(async () => (await caches.keys()).length), 1);
  await page.reload();
  await settled(page);
  assert.equal(await page.title(), "Release 1");
});

hostTest("two deployments on one origin keep to themselves", async ({ page, folder, host }) => {
  const site = await host("/one/", { "/two/": folder });
  const roots = ["/one/", "/two/"].map((base) => new URL(base, site.url).href);
  for (const url of roots) {
    await page.goto(url);
    await settled(page);
    await kept(page);
  }
  assert.equal(await page.evaluate(async () => (await caches.keys()).length), 2);
  await site.stop();
  for (const url of roots) {
    await page.goto(url);
    await settled(page);
  }
});

hostTest("a frame in a sandbox says what is missing where its host sends no CORS headers", async ({ page, host }) => {
  const site = await host("/rooflight/", {}, {});
  const around = await servePages({ "/": `<iframe sandbox="allow-scripts" src="${site.url}embed.html#v=1"></iframe>` });
  await page.goto(around.url);
  await page.frameLocator("iframe").getByText("Access-Control-Allow-Origin").waitFor({ timeout: 5_000 });
  await around.stop();
});

hostTest("what `trunk serve` with automatic reload leaves is refused", async ({ folder }) => {
  const index = join(folder, "index.html");
  writeFileSync(index, readFileSync(index, "utf8").replace("</body>", "<script>reload()</script></body>"));
  const { status, stdout } = spawnSync(process.execPath, [path("scripts/sizes.mjs"), folder], { encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stdout, /inline script/);
});

hostTest("files of the page are named by their content, and the shell names no other", async ({ folder }) => {
  const named = readdirSync(folder).filter((name) => /\.(js|css|wasm|svg)$/.test(name) && !NAMED.test(name));
  assert.ok(NAMED.test("page-f7844575621c6eb_bg.wasm"), "a hash that begins with a zero is a digit shorter");
  // Others hold these addresses.
  assert.deepEqual(named.filter((name) => !["roof-light.js", "rooflight.js", "sw.js"].includes(name)), []);
  for (const shell of ["index.html", "embed.html"]) {
    const html = readFileSync(join(folder, shell), "utf8");
    const attributes = [...html.matchAll(/\b(?:src|href|data-[\w-]+)=([^\s">]+\.(?:js|css|wasm|svg))/g)].map(([, name]) => name.replace("./", ""));
    assert.ok(attributes.length > 6, `${shell} names its files`);
    for (const name of attributes) assert.ok(readdirSync(folder).includes(name), `${shell} names ${name}`);
    assert.ok(!/https?:\/\//.test(html), `${shell} names another origin`);
    assert.equal(/content=noindex/.test(html), shell === "embed.html");
    assert.equal(/og:title/.test(html), shell === "index.html");
  }
});
