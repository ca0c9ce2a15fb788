// Prints how long each family's model takes on 1,000 rows in the page's own worker, message and all.
import { readFileSync } from "node:fs";

import { path } from "../tests/e2e/browser.mjs";
import { benchedPage } from "./benched.mjs";

const ROWS = 1000;
const runs = Number(process.argv[2] ?? 15);
const { families } = JSON.parse(readFileSync(path("models/manifest.json")));
const { page, stop } = await benchedPage();

for (const [family, { features }] of Object.entries(families)) {
  const rows = JSON.parse(readFileSync(path(`models/${family}.check.json`))).features;
  const table = Array.from({ length: ROWS }, (_, row) => rows[row % rows.length]).flat();
  const times = await page.evaluate(
    async ({ family, table, runs }) => {
      const ask = (id) =>
        new Promise((answered) => {
          const hear = ({ data }) => {
            if (JSON.parse(data[0]).rows?.id !== id) return;
            benched.removeEventListener("message", hear);
            answered(performance.now() - asked);
          };
          benched.addEventListener("message", hear);
          const numbers = new Float32Array(table);
          const asked = performance.now();
          benched.postMessage([JSON.stringify({ rows: { id, families: [family] } }), numbers], [numbers.buffer]);
        });
      const times = [];
      // Ids that the page does not use.
      for (let run = 0; run <= runs; run++) times.push(await ask(0x7fff0000 + run));
      // The first plans the batch.
      return times.slice(1);
    },
    { family, table, runs },
  );
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.round(share * (times.length - 1))].toFixed(1);
  console.log(`${family}: ${ROWS} rows of ${features} in ${at(0.5)} ms, ${at(0)} to ${at(1)} ms over ${runs} runs`);
}
await stop();
