// The tags for previews of links to the page. The picture needs a full address, which only the publisher of the page
// knows: `ROOFLIGHT_URL=https://example.org/rooflight/ scripts/test page`. Without it the picture is left out, because
// most readers of these tags refuse relative addresses.
import { copyFileSync } from "node:fs";

import { inDist, inSource, read, replaceOnce, write } from "./dist.mjs";

const address = process.env.ROOFLIGHT_URL;
if (address) {
  const picture = new URL("card.png", address.replace(/\/?$/, "/"));
  const tags = `<meta content=${picture} property=og:image><meta content=summary_large_image name=twitter:card>`;
  copyFileSync(inSource("static/card.png"), inDist("card.png"));
  write("index.html", replaceOnce(read("index.html"), "</head>", `${tags}</head>`));
}
