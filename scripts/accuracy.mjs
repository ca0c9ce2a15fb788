// Fails above the errors of gates.json and, for kernels, of static/catalog/kernels.json: `node scripts/accuracy.mjs SERVING
// INDEPENDENT ENERGY KERNELS`, the JSON of `evaluate serving` of the cases, of those of independent users and of those with energy, and of
// `evaluate kernels`.
import { readFileSync } from "node:fs";

const read = (path) => JSON.parse(readFileSync(path));
const gates = read(new URL("gates.json", import.meta.url));
const { families: known } = read(new URL("../static/catalog/kernels.json", import.meta.url));
const [{ batch, closed_loop: loop, trace }, independent, { steady_state: energy }, { families }] = process.argv.slice(2).map(read);

const percent = (number) => `${number.toFixed(1)} %`;
function fail(text) {
  console.log(text);
  process.exitCode = 1;
}
function holdOne(name, error, gate) {
  const text = `${name} ${percent(error)} of ${gate} %`;
  if (error > gate) fail(`${text}: OVER`);
  else console.log(text);
}
const hold = (name, { mean, median }, gate) => holdOne(`${name}: median error ${percent(median)}, mean`, mean, gate);

const { accuracy } = gates;
console.log(`offline batches: ${batch.cases} predicted, ${batch.skipped.length} skipped`);
for (const { id, reason } of batch.skipped) console.log(`  ${id}: ${reason}`);
// Otherwise leaving out the hard cases would pass every other gate.
if (batch.cases < accuracy.least_cases) fail(`fewer than ${accuracy.least_cases} predicted`);
for (const [metric, gate] of Object.entries(accuracy.mean_error_percent)) hold(metric, batch[metric], gate);

const { closed_loop: loops } = gates;
console.log(`\nclosed loops, every ${loops.every}th: ${loop.cases} predicted, ${loop.skipped.length} skipped`);
for (const { id, reason } of loop.skipped) console.log(`  ${id}: ${reason}`);
if (loop.skipped.length > loops.most_skipped_share * loop.cases) fail("too many skipped");
for (const metric of ["ttft", "tpot"]) {
  for (const of of ["mean", "median"]) holdOne(`${metric}: ${of} error`, loop[metric][of], loops[`${of}_error_percent`][metric]);
  const { covered } = loop.calibrated.coverage80[metric];
  const [least, most] = loops.covered_by_80_percent_bands;
  const text = `${metric}: the 80 % bands hold for ${percent(covered)}, ${least} to ${most} %`;
  if (covered < least || covered > most) fail(`${text}: OUT OF IT`);
  else console.log(text);
}
console.log("\nindependent users' runs");
for (const [kind, { least_cases, median, mean }] of Object.entries(gates.independent)) {
  const { cases, skipped } = independent[kind];
  console.log(`${kind}: ${cases} predicted, ${skipped.length} skipped`);
  if (cases < least_cases) fail(`fewer than ${least_cases} predicted`);
  for (const [of, errors] of Object.entries({ median, mean }))
    for (const [metric, gate] of Object.entries(errors)) holdOne(`${kind}: ${of} error of ${metric}`, independent[kind][metric][of], gate);
}
console.log(`\nsaturated servers, with energy: ${energy.cases} predicted, ${energy.skipped.length} skipped`);
if (energy.cases < gates.energy.least_cases) fail(`fewer than ${gates.energy.least_cases} predicted`);
for (const [metric, gate] of Object.entries(gates.energy.median_error_percent)) holdOne(`${metric}: median error`, energy[metric].median, gate);
if (trace.skipped.length) fail(`traces skipped: ${JSON.stringify(trace.skipped)}`);

console.log("\nkernels, most of them trained on: a model and its features that have come apart");
const limits = [...known.map(({ id, most_error_percent }) => [id, most_error_percent]), ["collectives", gates.collectives.mean_error_percent]];
for (const [family, gate] of limits) {
  if (families[family]) hold(family, families[family], gate);
  else fail(`${family}: no row compared`);
}
