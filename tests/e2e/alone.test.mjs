// What measures times, or looks while something runs, with the machine to itself: a cold load is quick, no task of the main
// thread takes long, and a long simulation stops when asked.
import assert from "node:assert/strict";

import { cells, curved, others, settled, show, simulation, studied } from "./page.mjs";
import { gates, pageTest } from "./harness.mjs";
import { loadTimes, longestTask, watchLoad, watchTasks } from "./timing.mjs";

const { budget, headroom } = gates.longest_task_ms;
const TIMES = 3;
const LINK = "v=1&m=deepseek-r1&g=h200-sxm&tp=8&c=64";
const VIEWS = ["breakdown", "explain", "change", "compare", "sweep", "tradeoff", "evidence", "share", "export"];

pageTest("no task of the main thread holds the page up", { prepare: watchTasks, timeout: 120_000 }, async ({ page, open, t }) => {
  // The budget is for a quiet machine; one that also builds or runs CI gets headroom.
  const most = budget * headroom;
  const longest = {};
  // What else the machine does makes tasks longer, never shorter: the best of several counts.
  const note = async (what) => (longest[what] = Math.min(longest[what] ?? Infinity, await longestTask(page)));
  for (let time = 0; time < TIMES; time++) {
    await page.goto("about:blank");
    await open(LINK);
    await settled(page);
    await curved(page);
    await note("load");
    await page.getByTestId("isl").fill(String(2000 + time));
    await settled(page);
    await note("change");
    for (const view of VIEWS) {
      await show(page, view);
      await studied(page);
      await note(view);
    }
    if (Object.values(longest).every((ms) => ms <= most)) break;
  }
  t.diagnostic(`longest tasks, ms (0: below 50, the budget): ${JSON.stringify(longest)}`);
  for (const [what, ms] of Object.entries(longest)) {
    assert.ok(ms <= most, `${what}: a task of ${ms} ms`);
  }
});

pageTest("a cold load answers within its budget", { prepare: watchLoad }, async ({ page, open, t }) => {
  await open();
  const times = await loadTimes(page);
  const { headroom, ...budgets } = gates.cold_load_ms;
  for (const [basis, budget] of Object.entries(budgets)) {
    const ms = Math.round(times[basis]);
    t.diagnostic(`${basis} number on screen after ${ms} ms, budget ${budget} ms`);
    // The budget is for a quiet machine; one that also builds or runs CI gets headroom.
    assert.ok(ms <= budget * headroom, `${basis} number after ${ms} ms`);
  }
});

/** Its run and the other loads take seconds: looked at twice a second, they are not missed. */
const long = "v=1&c=2000&isl=2000&osl=4000";

pageTest("it stops when asked, and begins anew with the next change", {}, async ({ page, open }) => {
  await open(long);
  await settled(page);
  await simulation(page, "running");
  await page.getByTestId("other-loads").waitFor();
  await page.getByTestId("simulation-stop").click();
  await simulation(page, "stopped");
  const { length } = await others(page);
  await page.waitForTimeout(500);
  assert.equal((await cells(page, "points")).length, length, "nothing comes after the stop");
  await page.getByTestId("concurrency").fill("3");
  await settled(page);
  await simulation(page, "done");
});

pageTest("a change during a long simulation is answered at once", {}, async ({ page, open }) => {
  await open(long);
  await settled(page);
  await simulation(page, "running");
  const before = await page.getByTestId("ttft").getAttribute("data-value");
  await page.getByTestId("isl").fill("1000");
  await page.waitForFunction((ttft) => document.querySelector("[data-testid=ttft]").dataset.value !== ttft, before);
  await settled(page);
});
