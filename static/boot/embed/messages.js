// Exchanges messages with the host page: {ns: "rooflight", v: 1, type, ...}. Only the parent window is heard.
import { LONGEST_LINK } from "../keys.js";
import { release } from "./lock.js";
import { THEMES } from "./query.js";

/** In the order of src/ui/state/frame.rs: seconds, per second, dollars. */
const NUMBERS = [
  "ttft", "tpot", "e2e", "requests_per_s", "output_per_s", "total_per_s", "output_per_s_per_gpu", "output_per_s_per_user",
  "running", "waiting", "dollars_per_million",
];

/** The first message is lost if the host is not listening yet; a late host says hello itself. */
const READY = { every: 250, times: 120 };

const host = parent === window ? undefined : parent;
/** Whether the host has said hello. */
let greeted = false;
/** The latest message of each type, for a late host. */
const newest = {};

function say(type, content) {
  newest[type] = content;
  // A host without an origin has no other address; the messages hold nothing secret.
  host?.postMessage({ ns: "rooflight", v: 1, type, ...content }, "*");
}

function greet(left) {
  if (greeted || !left) return;
  say("ready", { view: document.documentElement.dataset.view });
  setTimeout(greet, READY.every, left - 1);
}

function setTheme(theme) {
  if (typeof theme !== "string" || !Object.hasOwn(THEMES, theme)) return;
  // Uses the control in the page's header; before the page is mounted, sets its initial theme.
  document.documentElement.dataset.theme = THEMES[theme];
  document.getElementById(`theme-${THEMES[theme]}`)?.click();
}

const heard = {
  hello({ theme }) {
    greeted = true;
    setTheme(theme);
    for (const [type, content] of Object.entries(newest)) say(type, content);
  },
  theme({ theme }) {
    setTheme(theme);
  },
  set({ link }) {
    if (typeof link !== "string" || link.length > LONGEST_LINK) return;
    // Locks apply to readers only.
    release();
    // Replaced: history belongs to the host.
    location.replace(`#${link.replace(/^#/, "")}`);
  },
};

function tell([link, errors, release, numbers]) {
  if (newest.state?.link !== link || newest.state.errors !== errors) say("state", { link, errors });
  if (!numbers) return;
  const [fits, ...values] = numbers;
  const named = NUMBERS.map((name, index) => [name, Number.isNaN(values[index]) ? null : values[index]]);
  const basis = release ? { basis: "learned", release } : { basis: "roofline" };
  say("result", { link, ...basis, fits: fits === 1, ...Object.fromEntries(named) });
}

export function listen() {
  addEventListener("message", ({ source, data }) => {
    if (!host || source !== host || data?.ns !== "rooflight" || data.v !== 1) return;
    if (typeof data.type === "string" && Object.hasOwn(heard, data.type)) heard[data.type](data);
  });
  addEventListener("rooflight:answer", ({ detail }) => tell(detail));
  addEventListener("rooflight:answer", () => greet(READY.times), { once: true });
  addEventListener("DOMContentLoaded", () => {
    const measure = () => {
      const height = Math.ceil(document.body.getBoundingClientRect().height);
      if (height !== newest.height?.height) say("height", { height });
    };
    new ResizeObserver(measure).observe(document.body);
  });
}
