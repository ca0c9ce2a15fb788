// What the browser tests share: the served page, one Chromium for a file of tests, and a page per test
// whose every console line, page error and foreign request is a failure.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

import { serve } from "./server.mjs";

const root = new URL("../../", import.meta.url);
/** A path of the checkout. */
export const path = (relative) => fileURLToPath(new URL(relative, root));
export const gates = JSON.parse(readFileSync(path("scripts/gates.json")));

export const desktop = { width: 1440, height: 900 };
export const phone = { width: 390, height: 844 };

let browser, site;

before(async () => {
  assert.ok(process.env.CHROME, "CHROME must name a Chromium: run the tests through scripts/test");
  site = await serve(process.env.DIST ?? path("dist"));
  // Chromium refuses its sandbox to root, which is what containers run as.
  const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
  browser = await chromium.launch({ executablePath: process.env.CHROME, args });
});

after(async () => {
  await browser?.close();
  await site?.stop();
});

/**
 * A test on a fresh page: `body({ page, open, t })`, where `open(fragment)` loads the page and returns when
 * the document is there.
 *
 * options.viewport, options.theme ("light" | "dark"): of the window.
 * options.prepare(page): before anything loads, to block or to watch.
 * options.expected: a pattern of console lines that this test provokes.
 */
export function pageTest(name, options, body) {
  test(name, { timeout: 60_000 }, async (t) => {
    const context = await browser.newContext({
      viewport: options.viewport ?? desktop,
      colorScheme: options.theme ?? "light",
      deviceScaleFactor: options.scale ?? 1,
    });
    const page = await context.newPage();
    const findings = [];
    page.on("console", (line) => {
      if (!options.expected?.test(line.text())) findings.push(`console ${line.type()}: ${line.text()}`);
    });
    page.on("pageerror", (error) => findings.push(`page error: ${error.stack ?? error}`));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(site.url) && !/^(blob|data):/.test(url)) findings.push(`request to ${url}`);
    });
    const open = (fragment = "") => page.goto(`${site.url}${fragment && `#${fragment}`}`);
    try {
      await options.prepare?.(page);
      await body({ page, open, t });
      assert.deepEqual(findings, [], "the page must stay silent and on its own origin");
    } finally {
      await context.close();
    }
  });
}
