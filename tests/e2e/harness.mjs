// What the browser tests share: the served page, one Chromium for a file of tests, and a page per test
// whose every console line, page error and foreign request is a failure.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { path, start } from "./browser.mjs";
import { servePages } from "./server.mjs";

export { path };
export const gates = JSON.parse(readFileSync(path("scripts/gates.json")));

export const desktop = { width: 1440, height: 900 };
export const phone = { width: 390, height: 844 };

let browser, url, stop;

before(async () => ({ browser, url, stop } = await start()));
after(() => stop?.());

/**
 * A test on a fresh page: `body({ page, open, t })`, where `open(fragment)` loads the page and returns when
 * the document is there.
 *
 * options.viewport, options.theme ("light" | "dark"), options.scale (device pixels per CSS pixel): of the window.
 * options.prepare(page): before anything loads, to block or to watch.
 * options.pages(address of the built page): pages of another origin, HTML by path; the body gets that origin as `host`.
 * options.foreign: requests may go elsewhere: the page around is somebody else's.
 * options.skip (a reason), options.timeout (ms): of the test.
 * options.expected: a pattern of console lines and errors that this test provokes.
 */
export function pageTest(name, options, body) {
  test(name, { timeout: options.timeout ?? 60_000, skip: options.skip || false }, async (t) => {
    const context = await browser.newContext({
      viewport: options.viewport ?? desktop,
      colorScheme: options.theme ?? "light",
      deviceScaleFactor: options.scale ?? 1,
    });
    const host = options.pages && (await servePages(options.pages(url)));
    // Shorter than the test's own limit, so that a failure names what was waited for.
    context.setDefaultTimeout(15_000);
    const page = await context.newPage();
    const findings = [];
    page.on("console", (line) => {
      if (!options.expected?.test(line.text())) findings.push(`console ${line.type()}: ${line.text()}`);
    });
    page.on("pageerror", (error) => {
      if (!options.expected?.test(error.message)) findings.push(`page error: ${error.stack ?? error}`);
    });
    page.on("request", (request) => {
      const to = request.url();
      if (!options.foreign && !to.startsWith(url) && !(host && to.startsWith(host.url)) && !/^(blob|data):/.test(to)) findings.push(`request to ${to}`);
    });
    const open = (fragment = "v=1") => page.goto(`${url}${fragment && `#${fragment}`}`);
    try {
      await options.prepare?.(page);
      await body({ page, open, t, host: host?.url, url });
      assert.deepEqual(findings, [], "the page must stay silent and on its own origin");
    } finally {
      await context.close();
      await host?.stop();
    }
  });
}
