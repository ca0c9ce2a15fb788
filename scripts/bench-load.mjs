// Prints when the first numbers, the page's and the learned ones stood on screen over some cold loads, and how long a change takes after.
import { start } from "../tests/e2e/browser.mjs";
import { changeTime, loadTimes, watchLoad } from "../tests/e2e/timing.mjs";

/** Prompt lengths typed into each loaded page; the first, which plans the models anew, is left out. */
const changes = [1100, 1200, 1500, 2000, 3000, 5000];

const loads = Number(process.argv[2] ?? 9);
const { browser, url, stop } = await start();
const measured = { "cold load, first": [], "cold load, roofline": [], "cold load, learned": [], "change, learned": [] };
for (let load = 0; load < loads; load++) {
  // A context is a profile of its own: nothing is cached from the load before.
  const context = await browser.newContext();
  const page = await context.newPage();
  await watchLoad(page);
  await page.goto(url);
  const { first, roofline, learned } = await loadTimes(page);
  measured["cold load, first"].push(first);
  measured["cold load, roofline"].push(roofline);
  measured["cold load, learned"].push(learned);
  for (const isl of changes) {
    const ms = await changeTime(page, isl);
    if (isl !== changes[0]) measured["change, learned"].push(ms);
  }
  await context.close();
}
await stop();

for (const [what, all] of Object.entries(measured)) {
  all.sort((a, b) => a - b);
  const [least, median, most] = [0, 0.5, 1].map((share) => all[Math.round(share * (all.length - 1))].toFixed(0));
  console.log(`${what}: median ${median} ms, ${least} to ${most} ms of ${all.length}`);
}
