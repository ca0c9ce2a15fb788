// Prints how long a simulated run takes in the page's own worker: from the question to the run's numbers, step times tabulated
// anew, and to the end of its curve. `node scripts/bench-run.mjs [RUNS]`
import { benchedPage, middle } from "./benched.mjs";

const runs = Number(process.argv[2] ?? 7);
const links = {
  "1,000 requests at a rate": "v=1&r=5",
  "160 requests of 16 clients": "v=1",
  "2,560 requests of 256 clients": "v=1&c=256&g=h200-sxm&isl=1024&osl=1024",
  "1,000 requests to DeepSeek-R1 on 8 GPUs": "v=1&m=deepseek-r1&g=b200&tp=8&r=5",
};
const { page, stop } = await benchedPage();

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
  const [numbers, curve] = [0, 1].map((index) => middle(times.map((pair) => pair[index])));
  console.log(`${name}: ${numbers} ms to its numbers, ${curve} ms with its curve (medians of ${runs})`);
}
await stop();
