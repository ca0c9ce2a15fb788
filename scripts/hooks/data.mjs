// Data as the page reads it: without the line breaks that make its files readable in the repository, and measured figures to as
// many digits as anything shown of them has.
import { read, write } from "./dist.mjs";

/** Errors are shown with at most three digits. */
const DIGITS = 5;

const rounded = (key, value) => (typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value);

write("models/manifest.json", JSON.stringify(JSON.parse(read("models/manifest.json"))));
write("models/evidence.json", JSON.stringify(JSON.parse(read("models/evidence.json"), rounded)));
