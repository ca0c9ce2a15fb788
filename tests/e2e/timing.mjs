// How fast the page answers: a cold load counted from the start of navigation, a change from the key pressed.

/** Makes `page` note the milliseconds after which a frame with the numbers of each basis was painted. */
export async function watchLoad(page) {
  await page.addInitScript(() => {
    const painted = (window.painted = {});
    const look = () => {
      const basis = document.querySelector("[data-testid=basis]")?.dataset.basis;
      const number = document.querySelector("[data-testid=ttft]")?.dataset.value;
      if (!number || !basis || basis === "none" || basis in painted) return;
      painted[basis] = Infinity;
      // The task after the next frame's callbacks runs when that frame has been drawn.
      requestAnimationFrame(() => setTimeout(() => (painted[basis] = performance.now())));
    };
    new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
  });
}

/** The milliseconds of a watched and loaded page, by basis; waits for the learned ones. */
export async function loadTimes(page) {
  await page.waitForFunction(() => Number.isFinite(window.painted?.learned));
  return page.evaluate(() => window.painted);
}

/** The milliseconds from typing a prompt length into the loaded `page` to its learned numbers on screen. */
export function changeTime(page, isl) {
  return page.evaluate(async (text) => {
    const find = (id) => document.querySelector(`[data-testid=${id}]`);
    const before = find("ttft").dataset.value;
    const started = performance.now();
    find("isl").value = text;
    find("isl").dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((seen) => {
      const changes = new MutationObserver(() => {
        if (find("ttft").dataset.value === before || find("basis").dataset.basis !== "learned") return;
        changes.disconnect();
        seen();
      });
      changes.observe(document, { subtree: true, childList: true, attributes: true });
    });
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    return performance.now() - started;
  }, String(isl));
}

/** Makes `page` note its tasks of over 50 ms, which is all that browsers tell of. */
export async function watchTasks(page) {
  await page.addInitScript(() => {
    window.tasks = [];
    new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask", buffered: true });
  });
}

/** The longest of them since it was last asked for, in milliseconds; 0 where all were shorter. */
export async function longestTask(page) {
  // The observer hears of a task after it.
  await page.waitForTimeout(100);
  return page.evaluate(() => Math.round(Math.max(0, ...window.tasks.splice(0))));
}
