// Reads the JSON of `evaluate serving` and fails above the mean errors of gates.json.
import { readFileSync } from "node:fs";

const { accuracy } = JSON.parse(readFileSync(new URL("gates.json", import.meta.url)));
const { batch } = JSON.parse(readFileSync(0));

console.log(`offline batches: ${batch.cases} predicted, ${batch.skipped.length} skipped`);
for (const { id, reason } of batch.skipped) console.log(`  ${id}: ${reason}`);
// Leaving out the hard cases would keep every other gate.
if (batch.cases < accuracy.least_cases) {
  console.log(`fewer than ${accuracy.least_cases} predicted`);
  process.exitCode = 1;
}

const percent = (number) => `${number.toFixed(1)} %`;
for (const [metric, gate] of Object.entries(accuracy.mean_error_percent)) {
  const { mean, median } = batch[metric];
  const over = mean > gate;
  console.log(`${metric}: mean error ${percent(mean)} of ${gate} %, median ${percent(median)}${over ? ": OVER" : ""}`);
  if (over) process.exitCode = 1;
}
