// Parses the query of embed.html.
import { KEYS, LOADS } from "../keys.js";

/** What each view shows: result panels, and the tab selected for them. The full page has no list. */
export const VIEWS = {
  // The explanation of a number appears below.
  card: { panels: ".headline, .calibration, .overview, .rates, .views, .study" },
  roofline: { panels: ".roofs, .roofline", tab: "tab-roofline" },
  breakdown: { panels: ".study", tab: "tab-breakdown" },
  curve: { panels: ".overview, .simulation" },
  pareto: { panels: ".study", tab: "tab-tradeoff" },
  full: {},
};

/** The page's themes by their names in queries and messages. */
export const THEMES = { auto: "system", system: "system", light: "light", dark: "dark" };

/** Inputs that a trace determines. */
const OF_TRACES = ["isl", "osl", "spread", "log_spread", "shape", "histogram", "burstiness", "load"];

const known = (table, name) => Object.hasOwn(table, name);
const quoted = (text) => `“${text.slice(0, 40)}”`;

/** View and theme, the names of locked inputs, and notes on unknown values. */
export function asked(search) {
  const query = new URLSearchParams(search);
  const notes = [];
  const of = (name, table, instead) => {
    const given = query.get(name) || instead;
    if (known(table, given)) return given;
    notes.push(`There is no ${name} ${quoted(given)}; showing ${instead}. Available: ${Object.keys(table).join(", ")}.`);
    return instead;
  };
  const view = of("view", VIEWS, "card");
  const theme = THEMES[of("theme", THEMES, "auto")];
  const locks = new Set();
  const fields = Object.fromEntries(Object.entries(KEYS).map(([field, key]) => [key, field]));
  for (const key of (query.get("lock") ?? "").split(",").map((key) => key.trim()).filter(Boolean)) {
    if (known(fields, key)) locks.add(fields[key]);
    else notes.push(`There is no input ${quoted(key)} to lock: use the keys of a link.`);
  }
  if (LOADS.some((load) => locks.has(load))) for (const load of ["load", ...LOADS]) locks.add(load);
  if (OF_TRACES.some((field) => locks.has(field))) locks.add("trace");
  return { view, theme, locks, notes };
}
