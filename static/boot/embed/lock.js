// Locked inputs are disabled, and keep their values whatever the reader does elsewhere in the frame: a preset, a pasted command, a link.
import { CUSTOM_MODEL, KEYS } from "../keys.js";

/** The link whose values the locked inputs keep, as the page writes it; until it has answered the host's link there is none. */
let fixed;

/** The host chose another configuration: its values of locked inputs are kept from now on. */
export function release() {
  fixed = undefined;
}

/** The pairs of a fragment, or of the fragment of an address. */
const pairs = (link) => link.replace(/^[^#]*#/, "").split("&").filter(Boolean);

/** Keys of a link that only the host may change. */
function keysOf(locks) {
  const keys = [...locks].map((field) => KEYS[field]).filter(Boolean);
  if (locks.has("model")) keys.push(CUSTOM_MODEL);
  // A measurement's runs come and go with it.
  if (locks.has("measured")) keys.push(KEYS.runs);
  return keys;
}

/**
 * Returns every change of the fragment to the locked values, from now on. Call before the page starts: its own listeners must come
 * later. `tell(keys)` gets the keys that a change was refused for.
 */
export function hold(locks, tell) {
  const keys = keysOf(locks);
  const value = (link, key) => pairs(link).find((pair) => pair.startsWith(`${key}=`));
  const refused = (link) => (link === undefined || fixed === undefined ? [] : keys.filter((key) => value(link, key) !== value(fixed, key)));
  const held = (link) => {
    const free = (pair) => !keys.some((key) => pair.startsWith(`${key}=`));
    return [...pairs(link).filter(free), ...pairs(fixed).filter((pair) => !free(pair))].join("&");
  };
  addEventListener("rooflight:answer", ({ detail: [link, , , numbers] }) => {
    // Not before there are numbers: until then the page may still be looking up a name in the link.
    if (numbers) fixed ??= link;
  });

  // What the page writes: history belongs to the embedding page, so nothing is added to it.
  const write = history.replaceState.bind(history);
  history.replaceState = history.pushState = (note, title, link) => {
    const kept = refused(link);
    if (!kept.length) write(note, title, link);
    else {
      location.replace(`#${held(link)}`);
      // The browser is silent where the fragment is as before, and the page must read it again.
      dispatchEvent(new PopStateEvent("popstate"));
    }
    tell(kept);
  };

  // What the browser navigates to. The host may do so too, in the frame's `src`: then the reader is not in the frame.
  addEventListener("popstate", () => {
    const kept = refused(location.hash);
    if (!kept.length) return;
    if (!document.hasFocus()) return release();
    location.replace(`#${held(location.hash)}`);
    tell(kept);
  });
  addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]')?.getAttribute("href");
    if (!link) return;
    event.preventDefault();
    const kept = refused(link);
    location.replace(kept.length ? `#${held(link)}` : link);
    tell(kept);
  });
}

/** Disables the controls of locked inputs, including those that the page creates later. */
export function disable(form, locks) {
  const controls = [...locks].flatMap((id) => [`#${id}`, `#${id}-range`, `#pick-${id}`]);
  if (locks.has("load")) controls.push("[name=load]");
  if (locks.has("model")) controls.push("[data-testid=config-json-panel] *", "[data-testid=architecture-fold] :is(input, button)");
  if (locks.has("trace")) controls.push("[data-testid=trace-panel] *");
  if (locks.has("measured") || locks.has("runs")) controls.push("[data-testid=measured-panel] *", "[data-testid^=measured-remove]");
  if (!controls.length) return;
  const all = () => form.querySelectorAll(controls).forEach((control) => (control.disabled = true));
  new MutationObserver(all).observe(form, { childList: true, subtree: true });
  all();
}
