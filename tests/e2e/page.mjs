// The page as a visitor sees it. What the data-testid selectors mean is said in src/ui/README.md.
import assert from "node:assert/strict";

/** Headline numbers: in seconds, or tokens per second. */
export const headline = ["ttft", "tpot", "e2e", "throughput"];

/** Waits until the numbers are those of the form and stand on `basis`: "roofline", "learned" or "none". */
export async function settled(page, basis = "learned") {
  // One look at both: between two, a slow worker's roofline may take the place of the learned numbers of before.
  await page.locator(`[data-testid=results]:not([aria-busy="true"]) [data-testid=basis][data-basis=${basis}]`).waitFor();
}

/** Waits until the open study is answered, and its document stands: what shows that may still be on its way. */
export async function studied(page, options = {}) {
  await page.locator("[data-testid=study-status][data-status=done] ~ #study-document[data-drawn]").waitFor({ state: "attached", ...options });
}

/** The view that holds a panel; the others are opened from the header. */
const VIEWS = {
  overview: "answer", breakdown: "why", roofline: "why", layers: "why", headroom: "why", sensitivity: "why", explain: "why", change: "improve", shape: "improve", compare: "compare", sweep: "compare", tradeoff: "compare",
  evidence: "evidence",
};

/** Opens a panel of the results, by its id. */
export async function show(page, panel) {
  if (!(panel in VIEWS)) return page.getByTestId(`open-${panel}`).click();
  await choose(page, `view-${VIEWS[panel]}`);
  if (await page.locator(`label[for="tab-${panel}"]`).count()) await choose(page, `tab-${panel}`);
}

/** Waits until the loads around the answer are run and drawn. */
export async function curved(page) {
  await page.locator("[data-testid=simulation-status][data-progress=done]").waitFor({ state: "attached" });
  await page.locator("[data-testid=curve][data-drawn]").waitFor();
}

/** Waits until the loads around the answer are "running", "done" or "stopped". */
export const simulation = (page, progress) =>
  page.locator(`[data-testid=simulation-status][data-progress=${progress}]`).waitFor({ state: "attached" });

/** The rows of a table, cell by cell. */
export const cells = (page, id) =>
  page
    .getByTestId(id)
    .locator("tr")
    .evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));

/** The table of other loads, which is not built before it is opened. */
export async function others(page) {
  await page.getByTestId("other-loads").locator("summary").click();
  await page.getByTestId("points").waitFor();
  return cells(page, "points");
}

/** Opens the roofline, and waits until it is drawn. */
export async function charted(page) {
  await show(page, "roofline");
  await page.locator("[data-testid=roofline][data-drawn]").waitFor();
}

/** The unrounded number behind what is shown. */
export async function value(page, id) {
  const text = await page.getByTestId(id).getAttribute("data-value");
  const number = Number(text);
  assert.ok(text !== null && Number.isFinite(number) && number > 0, `${id} holds ${text}, no positive number`);
  return number;
}

/** Headline numbers by name. */
export async function numbers(page) {
  return Object.fromEntries(await Promise.all(headline.map(async (id) => [id, await value(page, id)])));
}

/** Chooses a radio button as a visitor does: its label is what can be seen. */
export async function choose(page, id) {
  await page.locator(`label[for="${id}"]`).click();
}

/** Opens the folds of the form. */
export async function unfold(page) {
  await page.locator("details.group").evaluateAll((folds) => folds.forEach((fold) => (fold.open = true)));
}

/** The text of the issue beside `field`; waits for it. */
export async function issue(page, field) {
  const found = page.locator(`[data-testid=issue][data-field=${field}]`).first();
  await found.waitFor();
  return (await found.textContent()).trim();
}

/** Waits until the form shows this GPU: what was opened is read, and no number of before is taken for one of it. */
export async function gpuShown(page, id) {
  await page.waitForFunction((id) => document.querySelector("[data-testid=gpu]").value === id, id);
}

/** Waits until the fragment holds exactly these values of these keys (undefined: the key is absent). */
export async function fragmentHolds(page, wanted) {
  await page.waitForFunction((pairs) => {
    const held = new URLSearchParams(location.hash.slice(1));
    return pairs.every(([key, text]) => held.get(key) === text);
  }, Object.entries(wanted).map(([key, text]) => [key, text ?? null]));
}
