// Three people with a task each, and how many actions it takes them: a press, or a text typed with its Enter.
import assert from "node:assert/strict";

import { pageTest, phone } from "./harness.mjs";
import { choose, settled, studied } from "./page.mjs";

/** Counts the actions of a visitor. */
function visitor(t) {
  let actions = 0;
  return {
    act: async (action) => {
      actions += 1;
      await action;
    },
    atMost: (most) => {
      t.diagnostic(`${actions} actions`);
      assert.ok(actions <= most, `${actions} actions`);
    },
  };
}

pageTest("a platform engineer says load and limits, and has a plan that meets them", { timeout: 240_000 }, async ({ page, open, t }) => {
  const { act, atMost } = visitor(t);
  await open("");
  await settled(page);
  await act(choose(page, "mode-find"));
  // What the page opened with is not introduced there, nor beside a plan.
  await page.getByTestId("intro").waitFor({ state: "hidden" });
  const say = page.getByTestId("say");
  await act(say.fill("Llama-3.3-70B on H200, 20 req/s, TTFT 1 s, TPOT 30 ms").then(() => say.press("Enter")));
  await page.locator("[data-testid=plans-status][data-progress=done]").waitFor({ timeout: 200_000 });
  const best = page.locator("[data-testid=plans-table] tbody tr").first().locator("th a");
  await act(best.click());
  await page.getByTestId("intro").waitFor({ state: "detached" });
  await settled(page);
  await page.locator("[data-testid=verdict]:is([data-verdict=meets], [data-verdict=may])").waitFor();
  atMost(4);
});

pageTest("an engine engineer finds the kernel that holds a step back, and what there is to gain", {}, async ({ page, open, t }) => {
  const { act, atMost } = visitor(t);
  await open("v=1&m=qwen3-32b&tp=2&c=32");
  await settled(page);
  await act(choose(page, "view-why"));
  await act(choose(page, "tab-headroom"));
  await studied(page);
  const table = page.getByTestId("headroom-decode");
  assert.match(await page.locator("#study-document").textContent(), /Tune first: \w+\. With this kernel at its ceiling, .* less\./);
  const heads = await table.locator("thead th").allTextContents();
  assert.ok(heads.includes("Fastest elsewhere"));
  const first = await table.locator("tbody tr").first().locator("th, td").allTextContents();
  assert.match(first[4], /%$/, "the gain of the whole step");
  assert.ok((await table.locator("td", { hasText: /^(SGLang|TensorRT-LLM), |^none faster$/ }).count()) > 0, "other engines were measured on H100");
  await act(table.locator("tbody a").first().click());
  await page.locator("details[id^=fold-kernel-decode-][open]").waitFor();
  atMost(3);
});

pageTest("a newcomer on a phone learns whether a model fits a card, and how fast it is", { viewport: phone }, async ({ page, open, t }) => {
  const { act, atMost } = visitor(t);
  await open("");
  await settled(page);
  await act(page.getByTestId("configure").click());
  const pick = (kind, words) => page.getByTestId(`pick-${kind}`).fill(words);
  const take = async (kind, name) => page.getByTestId(`${kind}-list`).getByRole("option", { name }).first().click();
  await act(pick("model", "llama 3.1 8b"));
  await act(take("model", /^Meta-Llama-3\.1-8B/));
  await act(pick("gpu", "4090"));
  await act(take("gpu", /RTX 4090/));
  await act(page.getByTestId("configure").click());
  await settled(page);
  assert.match(await page.locator(".answer").textContent(), /words? a second|words\/s|tok\/s|ms/);
  for (const part of ["verdict", "ttft", "tpot"]) assert.ok((await page.getByTestId(part).boundingBox()).y < phone.height, part);
  assert.notEqual(await page.getByTestId("verdict").getAttribute("data-verdict"), "unfit");
  atMost(6);
});
