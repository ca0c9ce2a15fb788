// Draws static/card.png, the picture of links to the page: `CHROME=... node scripts/card.mjs`. Its chart is docs/roofline.svg.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const of = (name) => new URL(`../${name}`, import.meta.url);
const chart = readFileSync(of("docs/roofline.svg"), "utf8").replace("<svg ", '<svg style="height: 100%; max-width: 100%" ');
const html = `<body style="display: flex; flex-direction: column; box-sizing: border-box; width: 1200px; height: 630px; margin: 0;
    padding: 44px 56px 28px; background: #fff; color: #151a1e; font-family: sans-serif">
  <div style="font-size: 46px; font-weight: 700">Rooflight</div>
  <div style="margin: 6px 0 18px; font-size: 25px; color: #55606a">How fast will this language model serve on these GPUs, and what holds it back?</div>
  <div style="flex: 1; min-height: 0; text-align: center">${chart}</div>
</body>`;

const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: process.env.CHROME, args });
const page = await browser.newPage({ viewport: { width: 1200, height: 630 } });
await page.setContent(html);
await page.screenshot({ path: of("static/card.png").pathname });
await browser.close();
