// Prints when the first and the learned number stood on screen, over some cold loads.
import { start } from "../tests/e2e/browser.mjs";
import { loadTimes, watchLoad } from "../tests/e2e/cold_load.mjs";

const loads = Number(process.argv[2] ?? 9);
const { browser, url, stop } = await start();
const measured = { roofline: [], learned: [] };
for (let load = 0; load < loads; load++) {
  // A context is a profile of its own: nothing is cached from the load before.
  const context = await browser.newContext();
  const page = await context.newPage();
  await watchLoad(page);
  await page.goto(url);
  const times = await loadTimes(page);
  for (const [basis, all] of Object.entries(measured)) all.push(times[basis]);
  await context.close();
}
await stop();

for (const [basis, all] of Object.entries(measured)) {
  const [least, median, most] = [0, 0.5, 1].map((share) => all.toSorted((a, b) => a - b)[Math.round(share * (loads - 1))]);
  console.log(`${basis}: median ${median.toFixed(0)} ms, ${least.toFixed(0)} to ${most.toFixed(0)} ms over ${loads} loads`);
}
