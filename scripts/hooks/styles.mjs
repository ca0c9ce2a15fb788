// Joins the style sheets into one: one request instead of six, and a kilobyte less, since they compress together.
import { unlinkSync } from "node:fs";

import { hashed, inDist, read, write } from "./dist.mjs";

const html = read("index.html");
const sheets = [...html.matchAll(/<link href=\.?\/?([\w-]+\.css) rel=stylesheet>/g)];
if (sheets.length < 2) throw new Error("index.html links no style sheets that could be joined");
const css = sheets.map(([, name]) => read(name)).join("");
const name = `page-${hashed(css)}.css`;
const joined = sheets.reduce((text, [tag], index) => text.replace(tag, index ? "" : `<link href=./${name} rel=stylesheet>`), html);
for (const [, sheet] of sheets) unlinkSync(inDist(sheet));
write(name, css);
write("index.html", joined);
