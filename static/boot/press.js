// Handles presses that only show or focus existing content, and scrolling, without waiting for the page's own code.

/** Shows a term's definition, or another text, next to it. */
function define(term, text = term.title) {
  const definition = document.querySelector("#definition") ?? Object.assign(document.createElement("p"), { id: "definition", className: "definition", popover: "auto", role: "status" });
  (term.closest("main, header") ?? document.body).append(definition);
  definition.textContent = text;
  definition.showPopover?.();
  const { left, bottom } = term.getBoundingClientRect();
  const { width, height } = definition.getBoundingClientRect();
  definition.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  definition.style.top = `${bottom + height + 8 > innerHeight ? Math.max(8, bottom - height - 28) : bottom + 4}px`;
}

/** A term that was searched for has its definition at the top of the view that shows it. */
function defineFound(link) {
  const [term, meaning, kind] = link.closest("tr").cells;
  if (kind.textContent !== "Term") return;
  const views = document.querySelector(".views");
  // Once the search is closed.
  requestAnimationFrame(() => {
    views.scrollIntoView({ block: "nearest" });
    define(views, `${term.textContent}: ${meaning.textContent}`);
  });
}

/** On phones the form is collapsed into a line with its settings. */
function expand(line, open) {
  line?.setAttribute("aria-expanded", open);
  // Issues listed elsewhere because the form was hidden may now be visible.
  line?.dispatchEvent(new Event("toggle"));
}

/** Reveals and focuses the input of an issue. */
function reveal(input) {
  if (!input) return;
  expand(document.querySelector(".configure"), true);
  input.closest("details")?.setAttribute("open", "");
  input.scrollIntoView({ block: "center" });
  input.focus();
}

/** Ends the introduction. */
function dismiss() {
  delete document.documentElement.dataset.first;
  for (const intro of document.querySelectorAll(".intro")) intro.remove();
}

const does = {
  ".term, :is(label, .label, td, dd)[title]": (term) => define(term),
  "#found tbody a": defineFound,
  // Whoever has come this far knows what the page is for.
  "[data-testid=plans-table] th a": dismiss,
  ".intro .dismiss": () => {
    dismiss();
    document.querySelector(".side input")?.focus();
  },
  ".configure": (line) => expand(line, line.getAttribute("aria-expanded") !== "true"),
  ".go": (button) => {
    const { field } = button.closest("[data-field]").dataset;
    // In Find, what may vary has boxes of its own.
    const input = () => document.getElementById(field) ?? document.querySelector(`[data-wish=${field}]`);
    if (input()) return reveal(input());
    // What a search does not vary has its input beside a configuration.
    document.querySelector("#mode-evaluate")?.click();
    requestAnimationFrame(() => reveal(input()));
  },
  ".skip": () => document.querySelector("#results").focus(),
  ".top [aria-pressed]": () => requestAnimationFrame(() => document.querySelector(".study").scrollIntoView({ block: "nearest" })),
};

addEventListener("click", ({ target }) => {
  for (const [selector, act] of Object.entries(does)) {
    const pressed = target.closest?.(selector);
    if (pressed) act(pressed);
  }
});

/** What had the focus at the last press or step through the history, and all around it; empty once the visitor has moved on. */
let held = [];
function hold() {
  held = [];
  for (let at = document.activeElement; at; at = at.parentElement) held.push(at);
}
for (const type of ["click", "popstate"]) addEventListener(type, hold, true);
addEventListener("focusin", ({ relatedTarget }) => {
  if (relatedTarget) held = [];
});

/** Where what was pressed is removed or hidden by that, the region around it has the focus, else the results: a keyboard and a screen reader would start again at the top. */
function keepFocus() {
  const [lost] = held;
  if (!lost || !document.hasFocus() || ![lost, document.body].includes(document.activeElement) || lost.checkVisibility()) return;
  const regions = [...held, ...document.querySelectorAll(".results")];
  const region = regions.find((one) => one.matches("section, fieldset") && one.checkVisibility());
  if (!region) return;
  region.tabIndex = -1;
  region.focus({ preventScroll: true });
}

// In the frame of the update, after documents, which give the focus to the same row in its new place.
let check;
const updates = new MutationObserver(() => {
  cancelAnimationFrame(check);
  check = requestAnimationFrame(keepFocus);
});
updates.observe(document.body, { childList: true, subtree: true, attributeFilter: ["class", "hidden", "open"] });

/** Two fingers on a chart zoom it as a trackpad's do, around their middle. */
let apart = 0;
const pinch = (event) => {
  const [one, other] = event.touches;
  const now = other ? Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) : 0;
  const middle = now && { clientX: (one.clientX + other.clientX) / 2, clientY: (one.clientY + other.clientY) / 2 };
  if (now && apart) event.target.dispatchEvent(new WheelEvent("wheel", { ctrlKey: true, bubbles: true, deltaY: 100 * Math.log(apart / now), ...middle }));
  apart = now;
  // Else the page would scroll, and take the fingers from the chart.
  if (now) event.preventDefault();
};
addEventListener("touchstart", ({ target }) => target.matches("canvas") && target.addEventListener("touchmove", pinch, { passive: false }));
for (const type of ["touchend", "touchcancel"]) addEventListener(type, () => (apart = 0));

/** The introduction on a page opened without a link (`theme.js`) stays until it is dismissed or a plan opened: if it left by itself, the inputs would move. */
export function introduce() {
  // The skeleton shows it first, and takes its own with it.
  const intro = document.querySelector("#skeleton .intro");
  if (intro && document.documentElement.dataset.first !== undefined) document.querySelector("#page .columns").prepend(intro.cloneNode(true));
}

/** Marks the headline while it is held at an edge of the window: `pinned`, and at the lower one `low`. */
export function pin() {
  if (document.documentElement.dataset.view !== undefined) return;
  const headline = document.querySelector("#page .headline");
  const edges = new Set();
  // Held there, its last pixel is outside of a window that is one smaller on that side.
  for (const [edge, rootMargin] of [["top", "-1px 0px 100%"], ["low", "100% 0px -1px"]]) {
    const look = (entries) => {
      const { intersectionRatio, boundingClientRect } = entries.at(-1);
      if (!edges.size && boundingClientRect.height) headline.style.setProperty("--whole", `${boundingClientRect.height}px`);
      if (intersectionRatio < 1) edges.add(edge);
      else edges.delete(edge);
      headline.classList.toggle("pinned", edges.size > 0);
      headline.classList.toggle("low", edges.has("low"));
    };
    new IntersectionObserver(look, { rootMargin, threshold: 1 }).observe(headline);
  }
}
