// A Chromium and a server of the built page, for tests and measurements.
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

import { serve } from "./server.mjs";

const root = new URL("../../", import.meta.url);
/** A path of the checkout. */
export const path = (relative) => fileURLToPath(new URL(relative, root));

/** Starts both: the build is in $DIST or dist/, the browser is $CHROME. */
export async function start() {
  if (!process.env.CHROME) throw new Error("CHROME must name a Chromium: run this through scripts/test or scripts/bench");
  const site = await serve(process.env.DIST ?? path("dist"));
  // Chromium refuses its sandbox to root, which is what containers run as.
  const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath: process.env.CHROME, args });
  const stop = async () => {
    await browser.close();
    await site.stop();
  };
  return { browser, url: site.url, stop };
}
