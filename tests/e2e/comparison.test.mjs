// Comparisons that links hold, and how the views are named.
import assert from "node:assert/strict";

import { pageTest } from "./harness.mjs";
import { choose, fragmentHolds, settled, show, studied } from "./page.mjs";

const compared = "v=1&m=llama-3.1-8b&c=16&vs=v~1~m~llama-3.1-8b~g~h200-sxm~c~16";

pageTest("a link that holds a comparison opens it, and its tab says of how many", {}, async ({ page, open }) => {
  await open(compared);
  await settled(page);
  await page.locator("[data-testid=view-compare]:checked").waitFor({ state: "attached" });
  await page.getByRole("radio", { name: "Compare 2 configurations", exact: true }).waitFor({ state: "attached" });
  await studied(page);
  await page.locator("#study-document th", { hasText: /^A$/ }).waitFor();
  await choose(page, "view-answer");
  await page.reload();
  await settled(page);
  await page.locator("[data-testid=view-answer]:checked").waitFor({ state: "attached" });
});

pageTest("the tab counts nothing where a link holds one configuration", {}, async ({ page, open }) => {
  await open("v=1&m=llama-3.1-8b&c=16");
  await settled(page);
  await page.locator("[data-testid=view-answer]:checked").waitFor({ state: "attached" });
  await page.getByRole("radio", { name: "Compare", exact: true }).waitFor({ state: "attached" });
});

pageTest("a view is a region of its name, with the headings of its content one level lower", {}, async ({ page, open }) => {
  await open("v=1&m=qwen3-32b&tp=2&c=32");
  await settled(page);
  for (const [panel, name] of [["breakdown", "Why: Time"], ["change", "Improve: Changes"], ["compare", "Compare: Side by side"], ["evidence", "Evidence"], ["share", "Share"]]) {
    await show(page, panel);
    await studied(page);
    const region = page.getByRole("region", { name, exact: true });
    assert.deepEqual(await region.locator("h2").allTextContents(), [name]);
  }
  await show(page, "change");
  await page.getByTestId("study").getByRole("heading", { name: "Bottlenecks", level: 3, exact: true }).waitFor();
});

pageTest("a kept copy stays as it is while the form is edited, and an AMD GPU is one press away", {}, async ({ page, open }) => {
  await open("v=1&osl=300");
  await settled(page);
  await show(page, "compare");
  await studied(page);
  const document_ = page.locator("#study-document");
  await document_.getByRole("link", { name: "MI300X", exact: true }).waitFor();
  await document_.getByRole("link", { name: "keep a copy", exact: true }).click();
  await fragmentHolds(page, { vs: "v~1~osl~300" });
  await document_.getByText("A copy is kept: edit the form").waitFor();
  await page.getByTestId("osl").fill("100");
  await fragmentHolds(page, { osl: "100", vs: "v~1~osl~300" });
});
