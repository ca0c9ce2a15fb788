// Measures the built page, through `scripts/bench`: `load [LOADS]` times cold loads and a change after each, `run [RUNS]`
// its simulation.
import { start } from "../tests/e2e/browser.mjs";
import { changeTime, loadTimes, watchLoad } from "../tests/e2e/timing.mjs";

/** Prompt lengths typed into each loaded page. The first change, for which the models are planned again, is not timed. */
const CHANGES = [1100, 1200, 1500, 2000, 3000, 5000];
const RUNS = {
  "1,000 requests at a rate": "v=1&r=5",
  "160 requests of 16 clients": "v=1",
  "2,560 requests of 256 clients": "v=1&c=256&g=h200-sxm&isl=1024&osl=1024",
  "1,000 requests to DeepSeek-R1 on 8 GPUs": "v=1&m=deepseek-r1&g=b200&tp=8&r=5",
};

const { browser, url, stop } = await start();

function print(what, times) {
  const sorted = [...times].sort((a, b) => a - b);
  const [least, median, most] = [0, 0.5, 1].map((share) => sorted[Math.round(share * (sorted.length - 1))].toFixed(0));
  console.log(`${what}: median ${median} ms, ${least} to ${most} ms of ${times.length}`);
}

async function load(loads = 9) {
  const measured = { "cold load, roofline": [], "cold load, learned": [], "change, learned": [] };
  for (let load = 0; load < loads; load++) {
    // Each context is a separate profile: nothing is cached from the previous load.
    const context = await browser.newContext();
    const page = await context.newPage();
    await watchLoad(page);
    await page.goto(url);
    const { roofline, learned } = await loadTimes(page);
    measured["cold load, roofline"].push(roofline);
    measured["cold load, learned"].push(learned);
    for (const isl of CHANGES) {
      const ms = await changeTime(page, isl);
      if (isl !== CHANGES[0]) measured["change, learned"].push(ms);
    }
    await context.close();
  }
  for (const [what, times] of Object.entries(measured)) print(what, times);
}

/** The time from a change to the run's numbers, and to the end of the loads around it. */
async function run(runs = 7) {
  for (const [name, link] of Object.entries(RUNS)) {
    const page = await browser.newPage();
    await page.goto(`${url}#${link}`);
    const ended = () => page.locator("[data-testid=simulation-status][data-progress=done]").waitFor({ state: "attached" });
    await ended();
    const [numbers, curves] = [[], []];
    for (let run = 0; run <= runs; run++) {
      const started = performance.now();
      const ms = await changeTime(page, CHANGES[0] + 100 * run);
      await ended();
      if (run === 0) continue;
      numbers.push(ms);
      curves.push(performance.now() - started);
    }
    print(`${name}, its numbers`, numbers);
    print(`${name}, with its curve`, curves);
    await page.close();
  }
}

const [what, count] = process.argv.slice(2);
await { load, run }[what](count && Number(count));
await stop();
