// Writes sw.js, which keeps the page for visits without a network.
import { inDist, write } from "./dist.mjs";
import { listed } from "./listed.mjs";

write("sw.js", listed(inDist("")));
