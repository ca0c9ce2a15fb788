// Locked inputs are disabled, and keep their values when a link inside the page would change them.
import { CUSTOM_MODEL, KEYS } from "../keys.js";

/** Keys of a link that no other link inside the page may change. */
function keysOf(locks) {
  const keys = [...locks].map((field) => KEYS[field]).filter(Boolean);
  return locks.has("model") ? [...keys, CUSTOM_MODEL] : keys;
}

/** `link` with the values that these keys have in `current`. */
export function held(link, current, keys) {
  const pairs = (text) => text.replace(/^#/, "").split("&").filter(Boolean);
  const locked = (pair) => keys.some((key) => pair.startsWith(`${key}=`));
  return [...pairs(link).filter((pair) => !locked(pair)), ...pairs(current).filter(locked)].join("&");
}

/** Locks these inputs from now on, including controls that the page creates later. */
export function lock(form, locks) {
  const controls = [...locks].flatMap((id) => [`#${id}`, `#${id}-range`, `#pick-${id}`]);
  if (locks.has("load")) controls.push("[name=load]");
  if (locks.has("model")) controls.push("[data-testid=config-json-panel] *");
  if (locks.has("trace")) controls.push("[data-testid=trace-panel] *");
  if (locks.has("measured")) controls.push("[data-testid=measured-panel] *", "[data-testid=measured-remove]");
  const disable = () => form.querySelectorAll(controls).forEach((control) => (control.disabled = true));
  if (controls.length) {
    new MutationObserver(disable).observe(form, { childList: true, subtree: true });
    disable();
  }
  const keys = keysOf(locks);
  addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]')?.getAttribute("href");
    if (!link) return;
    event.preventDefault();
    // Replaced, because history belongs to the embedding page.
    location.replace(`#${held(link, location.hash, keys)}`);
  });
}
