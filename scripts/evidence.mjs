// Fails where the report shipped with the models differs from what the predictor gives now:
// `node scripts/evidence.mjs CASES EVIDENCE`, the cases of `evaluate serving --per-case`.
import { readFileSync } from "node:fs";

/** Tolerances: the digits of the report, and the last digit of a sum computed in another order. */
const TOLERANCE = 2e-3;

const [cases, evidence] = process.argv.slice(2).map((path) => readFileSync(path, "utf8"));
const points = new Map(JSON.parse(evidence).points.map((point) => [point.id, point]));

let compared = 0;
const stale = [];
for (const line of cases.trim().split("\n")) {
  const { id, predicted, measured } = JSON.parse(line);
  const point = points.get(id);
  compared++;
  const shipped = point?.predicted ?? [];
  const now = ["ttft_ms", "tpot_ms", "prefill_ms", "decode_step_ms", "total_ms", "output_per_s"]
    // The report leaves out throughputs that were not measured.
    .filter((name) => name in predicted && (name !== "output_per_s" || measured[name] != null))
    .map((name) => predicted[name] ?? null);
  const same = now.length === shipped.length && now.every((value, index) => value === shipped[index] || Math.abs(value - shipped[index]) <= TOLERANCE * Math.abs(value));
  if (!same) stale.push(`${id}: now ${now.map((value) => value.toPrecision(4))}, shipped ${shipped}`);
}
console.log(`evidence: ${compared} cases compared with the report that ships, ${stale.length} differ`);
stale.slice(0, 10).forEach((text) => console.log(`  ${text}`));
if (stale.length) console.log("renew it with `evaluate evidence`");
if (stale.length || !compared) process.exitCode = 1;
