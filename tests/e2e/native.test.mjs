// One core, two targets: the page's learned numbers are those of the native `predict`.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { gates, pageTest, path } from "./harness.mjs";
import { settled, value } from "./page.mjs";

/** What the page shows, and where the report holds it. */
const shown = {
  ttft: "ttft",
  tpot: "tpot",
  e2e: "e2e",
  throughput: "output_per_s",
  "per-gpu": "output_per_s_per_gpu",
  "per-user": "output_per_s_per_user",
  "request-rate": "requests_per_s",
  total: "total_per_s",
  running: "running",
};

const links = {
  "many clients on two GPUs": "v=1&m=qwen3-32b&g=h200-sxm&n=2&tp=2&e=sglang&isl=3000&osl=300&c=48",
  "FP8 weights and cache": "v=1&w=fp8&kv=fp8&g=l40s&e=trtllm",
  "an offline batch": "v=1&g=a100-sxm-80gb&isl=700&osl=100&b=8",
};

const predictTool = `${process.env.ROOFLIGHT_BIN ?? path("target/debug")}/predict`;

function predict(link) {
  return JSON.parse(execFileSync(predictTool, [link], { encoding: "utf8" }));
}

for (const [name, link] of Object.entries(links)) {
  pageTest(`page and native agree: ${name}`, {}, async ({ page, open, t }) => {
    const { report, issues } = predict(link);
    assert.ok(report?.headline, `no native answer: ${JSON.stringify(issues)}`);
    await open(link);
    await settled(page);
    let worst = 0;
    for (const [id, field] of Object.entries(shown)) {
      const [ours, native] = [await value(page, id), report.headline[field]];
      const apart = Math.abs(ours / native - 1);
      assert.ok(apart <= gates.page_matches_native, `${id}: ${ours} in the page, ${native} natively`);
      worst = Math.max(worst, apart);
    }
    t.diagnostic(`apart by ${worst.toExponential(1)} at most`);
  });
}

for (const [drawing, shows] of Object.entries({ roofline: "Memory 3.35 TB/s", timeline: "KV cache in use", loads: "TTFT, mean" })) {
  test(`the native tool draws the ${drawing}, alike each time`, () => {
    const draw = (...more) =>
      execFileSync(predictTool, ["v=1&isl=300&osl=64&c=4", "--svg", drawing, ...more], { encoding: "utf8" });
    const light = draw();
    assert.match(light, /^<svg [\s\S]*<\/svg>\s*$/);
    assert.ok(light.includes(shows), `it shows ${shows}`);
    assert.equal(draw(), light);
    assert.notEqual(draw("--dark"), light);
  });
}
