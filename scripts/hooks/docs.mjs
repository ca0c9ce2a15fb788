// Writes docs/ as pages beside the page, so that the documents it links are available without a network, and in the same version.
import { copyFileSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { marked } from "marked";

import { bundled, hashed, inDist, inSource, plainPage, write } from "./dist.mjs";

const shipped = new Set(readdirSync(inSource("docs/")));
const target = (name) => (name === "README.md" ? "index.html" : name.replace(/\.md$/, ".html"));

/** Links between these pages; files that are only in the repository are named, not linked. */
function relinked(html) {
  return html.replace(/<a href="([^"]*)">(.*?)<\/a>/gs, (tag, href, text) => {
    const [file, anchor] = href.split("#");
    if (/^https?:/.test(href) || !file) return tag;
    // The page is referred to without the ending of its source.
    return shipped.has(file) ? `<a href="${target(file)}${anchor ? `#${anchor}` : ""}">${text.replace(/\.md$/, "")}</a>` : text;
  });
}

/** Headings have the ids that links to them use, as on GitHub. */
const slug = (html) => html.replace(/<[^>]*>|&\w+;/g, "").toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
const named = (html) => html.replace(/<h([2-4])>(.*?)<\/h\1>/gs, (_, level, text) => `<h${level} id="${slug(text)}">${text}</h${level}>`);

/** Wide tables and code scroll by themselves, with the keyboard too. */
const scrolling = (html) => html.replaceAll("<pre>", '<pre tabindex="0">').replaceAll("<table>", '<div class="scroll" tabindex="0"><table>').replaceAll("</table>", "</table></div>");

mkdirSync(inDist("docs"));
const css = bundled("static/style/docs.css");
const style = `docs-${hashed(css)}.css`;
write(`docs/${style}`, css);
for (const name of shipped) {
  if (!name.endsWith(".md")) {
    copyFileSync(inSource(`docs/${name}`), inDist(`docs/${name}`));
    continue;
  }
  const text = readFileSync(inSource(`docs/${name}`), "utf8");
  const title = /^# (.*)$/m.exec(text)?.[1] ?? name;
  const body = `<header><a href="../">Rooflight</a> <a href="./">Documentation</a> <a href="glossary.html">Glossary</a></header>
<main>${scrolling(named(relinked(marked.parse(text))))}</main>`;
  write(`docs/${target(name)}`, plainPage({ title, style, body }));
}
