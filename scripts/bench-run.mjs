// Prints how long a simulated run takes in the page's own worker: from the question to the run's numbers, step times tabulated
// anew, and to the end of its curve. `node scripts/bench-run.mjs [RUNS]`
import { start } from "../tests/e2e/browser.mjs";

const runs = Number(process.argv[2] ?? 7);
const links = {
  "1,000 requests at a rate": "v=1&r=5",
  "160 requests of 16 clients": "v=1",
  "2,560 requests of 256 clients": "v=1&c=256&g=h200-sxm&isl=1024&osl=1024",
  "1,000 requests to DeepSeek-R1 on 8 GPUs": "v=1&m=deepseek-r1&g=b200&tp=8&r=5",
};
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
await page.locator("[data-testid=simulation-status][data-progress=done]").waitFor({ state: "attached" });

for (const [name, link] of Object.entries(links)) {
  const times = await page.evaluate(
    async ({ link, runs }) => {
      const once = (id) =>
        new Promise((done) => {
          let first;
          const hear = ({ data }) => {
            const said = JSON.parse(data[0]);
            if (said.simulated?.id === id) first = performance.now() - asked;
            if (said.swept?.id !== id || !said.swept.finished) return;
            benched.removeEventListener("message", hear);
            done([first, performance.now() - asked]);
          };
          benched.addEventListener("message", hear);
          const asked = performance.now();
          benched.postMessage([JSON.stringify({ simulate: { id, link, replay: false } })]);
        });
      const times = [];
      // Ids that the page does not use.
      for (let run = 0; run < runs; run++) times.push(await once(0x7fff0000 + run));
      return times;
    },
    { link, runs },
  );
  const middle = (index) => times.map((pair) => pair[index]).sort((a, b) => a - b)[Math.floor(runs / 2)].toFixed(0);
  console.log(`${name}: ${middle(0)} ms to its numbers, ${middle(1)} ms with its curve (medians of ${runs})`);
}
await stop();
