// Predictions per second of the module in Node, through `scripts/bench api [SECONDS]`: each with a load or a length not used
// before, with the learned models.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { IN_NODE, makePackage } from "./package.mjs";

/** What changes from one prediction to the next. */
const QUESTIONS = {
  "the number of clients": (at) => `v=1&c=${1 + (at % 256)}`,
  "the rate": (at) => `v=1&r=${(0.5 + at * 0.01).toFixed(2)}`,
  "the prompt": (at) => `v=1&isl=${200 + at}`,
  "a static batch": (at) => `v=1&b=${1 + (at % 256)}`,
  "the prompt of DeepSeek-R1 on 8 GPUs": (at) => `v=1&m=deepseek-r1&g=b200&tp=8&isl=${200 + at}`,
};

const seconds = Number(process.argv[2] ?? 5);
const folder = mkdtempSync(join(tmpdir(), "rooflight-bench-"));
try {
  makePackage(process.env.DIST ?? "dist", folder);
  const { load } = await import(pathToFileURL(join(folder, IN_NODE)));
  const rooflight = await load();
  rooflight.predict("v=1");
  for (const [what, question] of Object.entries(QUESTIONS)) {
    const begin = performance.now();
    let asked = 0;
    while (performance.now() - begin < seconds * 1000) {
      const { report } = rooflight.predict(question(asked++));
      if (!report?.headline) throw new Error(`no answer to ${question(asked - 1)}`);
    }
    console.log(`${what}: ${((asked * 1000) / (performance.now() - begin)).toFixed(1)} predictions per second`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
