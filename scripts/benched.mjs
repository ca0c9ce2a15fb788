// A page whose worker can be asked as `window.benched`, and a way to end it all.
import { start } from "../tests/e2e/browser.mjs";

export async function benchedPage() {
  const { browser, url, stop } = await start();
  const page = await browser.newPage();
  await page.addInitScript(() => {
    const Plain = Worker;
    window.Worker = class extends Plain {
      constructor(...given) {
        super(...given);
        window.benched = this;
      }
    };
  });
  await page.goto(url);
  // Its own first simulation ends before anything is timed.
  await page.locator("[data-testid=simulation-status][data-progress=done]").waitFor({ state: "attached" });
  return { page, stop };
}

/** The middle one of some times, in milliseconds, as text. */
export const middle = (times) => [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)].toFixed(0);
