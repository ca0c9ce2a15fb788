// The page inside another page. Loaded by embed.html only, before the first paint: docs/embedding.md is its guide.
// The query says how to show the page, the fragment what it computes; the page's own code is unchanged.
import { arrange, refuse } from "./arrange.js";
import { hold } from "./lock.js";
import { listen } from "./messages.js";
import { asked } from "./query.js";

const root = document.documentElement;
const { view, locks, theme, notes } = asked(location.search);
root.dataset.view = view;
root.dataset.theme = theme;

// A frame without an origin can only load scripts with CORS headers; a refused script raises nothing but an error event.
addEventListener(
  "error",
  ({ target }) => {
    if (!(target instanceof HTMLScriptElement)) return;
    const say = () => {
      document.querySelector(".loading").textContent =
        "Rooflight could not be loaded: its host is not reachable, or does not send Access-Control-Allow-Origin, which a frame in a sandbox needs.";
    };
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", say);
    else say();
  },
  true,
);

hold(locks, refuse);

// The first answer comes once the page is mounted.
addEventListener("rooflight:answer", (answer) => arrange(answer, locks, notes), { once: true });
listen();
