// Writes one page per configuration of static/catalog/presets.json, for readers without scripts, search engines and
// oEmbed consumers. Their numbers and pictures are rendered by tests/presets.rs.
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";

import { bundled, hashed, inDist, inSource, plainPage, write } from "./dist.mjs";

/** Size of the oEmbed frame in CSS pixels. */
const FRAME = { width: 720, height: 300 };

const address = process.env.ROOFLIGHT_URL?.replace(/\/?$/, "/");
const { configurations } = JSON.parse(readFileSync(inSource("static/catalog/presets.json")));

const html = (text) => text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);

mkdirSync(inDist("presets"));
const css = bundled("static/style/preset.css");
const style = `preset-${hashed(css)}.css`;
write(`presets/${style}`, css);

function page({ title, about, head = "", body }) {
  const own = `<meta name="description" content="${html(about)}">
<meta property="og:title" content="${html(title)}">
<meta property="og:description" content="${html(about)}">
${head}`;
  return plainPage({ title: html(title), style, head: own, body });
}

/** The oEmbed answer: it needs the full address, which only the publisher of the page knows. */
function oembed({ id, name, link }) {
  const source = html(`${address}embed.html?view=card#${link}`);
  const frame = `<iframe src="${source}" title="${html(name)}" width="${FRAME.width}" height="${FRAME.height}" style="border:0" loading="lazy" sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox"></iframe>`;
  const answer = { version: "1.0", type: "rich", provider_name: "Rooflight", provider_url: address, title: name, ...FRAME, html: frame };
  write(`presets/${id}.oembed.json`, `${JSON.stringify(answer, null, 1)}\n`);
  return `<link rel="alternate" type="application/json+oembed" href="${html(`${address}presets/${id}.oembed.json`)}" title="${html(name)}">\n<link rel="canonical" href="${html(`${address}presets/${id}.html`)}">\n`;
}

const items = configurations.map(({ id }) => {
  const preset = JSON.parse(readFileSync(inSource(`static/presets/${id}.json`)));
  const { name, about, link, release, headline, sentences, notes, roofline } = preset;
  for (const picture of [`${id}.svg`, `${id}-dark.svg`]) copyFileSync(inSource(`static/presets/${picture}`), inDist(`presets/${picture}`));
  const facts = headline.map(([term, value]) => `<div><dt>${html(term)}</dt><dd>${html(value)}</dd></div>`).join("\n");
  const body = `<header><a href="./">Rooflight</a></header>
<main>
<h1>${html(name)}</h1>
<p>${html(about)}. Predicted with the models of ${html(release)}.</p>
<p><a class="open" href="../#${html(link)}">Open this configuration</a></p>
<dl>
${facts}
</dl>
${sentences.map((sentence) => `<p>${html(sentence)}</p>`).join("\n")}
${notes.map((note) => `<p class="note">${html(note)}</p>`).join("\n")}
<figure>
<picture>
<source srcset="${id}-dark.svg" media="(prefers-color-scheme: dark)">
<img src="${id}.svg" width="880" height="420" alt="${html(roofline)}">
</picture>
<figcaption>Discs are prefill kernels, diamonds decode kernels. Area: share of the step's time. Stem: up to the ceiling set by tile and wave quantisation.</figcaption>
</figure>
</main>`;
  write(`presets/${id}.html`, page({ title: name, about: `${name}: ${headline.map((pair) => pair.join(" ")).join(", ")}.`, head: address ? oembed(preset) : "", body }));
  const [ttft, tpot, , output] = headline.map(([, value]) => html(value));
  return `<tr><th scope="row"><a href="${id}.html">${html(name)}</a></th><td>${ttft}</td><td>${tpot}</td><td>${output}</td></tr>`;
});

write("presets/index.html", page({
  title: "Popular configurations",
  about: "Predicted serving performance of popular models on popular GPUs.",
  body: `<header><a href="../">Rooflight</a></header>
<main>
<h1>Popular configurations</h1>
<table>
<thead><tr><th scope="col">Configuration</th><th scope="col">TTFT</th><th scope="col">TPOT</th><th scope="col">Output</th></tr></thead>
<tbody>
${items.join("\n")}
</tbody>
</table>
</main>`,
}));
