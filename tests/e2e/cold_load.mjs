// When the first number and the learned one stand on screen, counted from the start of navigation.

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
