// A Chromium and a server of the built page, for tests and measurements.
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

import { serve } from "./server.mjs";

const root = new URL("../../", import.meta.url);
/** A path of the checkout. */
export const path = (relative) => fileURLToPath(new URL(relative, root));

/** The browser that $CHROME names. */
export async function launch() {
  if (!process.env.CHROME) throw new Error("CHROME must name a Chromium: run this through scripts/test or scripts/bench");
  // Chromium refuses its sandbox to root, which is what containers run as.
  const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: process.env.CHROME, args });
}

/** Starts both; the build is in $DIST or dist/. */
export async function start() {
  const browser = await launch();
  const site = await serve(process.env.DIST ?? path("dist"));
  const stop = async () => {
    await browser.close();
    await site.stop();
  };
  return { browser, url: site.url, stop };
}
