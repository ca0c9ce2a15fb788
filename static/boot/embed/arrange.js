// Shows one view of the page: its results panel, a line describing the configuration, the inputs in a fold, and a link to the full page.
import { CUSTOM_MODEL, KEYS } from "../keys.js";
import { disable } from "./lock.js";
import { VIEWS } from "./query.js";

const find = (selector) => document.querySelector(selector);

function make(tag, fields, ...children) {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
}

function note(textContent, marks) {
  const made = make("li", { className: "issue", textContent });
  Object.assign(made.dataset, { severity: "warning", ...marks });
  return made;
}

/** Call with the page's first answer event. */
export function arrange(answer, locks, notes) {
  const root = document.documentElement;
  const [main, form] = [find("main"), find("form.inputs")];
  const about = make("h1", { className: "about" });
  const said = make("ul", { className: "issues embed-notes" });
  const whole = make("a", { className: "whole", target: "_blank", rel: "noopener", textContent: "Open in Rooflight" });
  main.before(about, said);
  main.after(whole);

  const { tab } = VIEWS[root.dataset.view];
  if (tab && !find(`#${tab}`)) {
    notes.push(`This version of the page has no ${root.dataset.view} view; showing the card.`);
    root.dataset.view = "card";
  } else if (tab) {
    // Deferred: the page is still dispatching its answer.
    setTimeout(() => find(`#${tab}`).click());
  }
  const { panels } = VIEWS[root.dataset.view];
  said.append(...notes.map((text) => note(text)));
  if (root.dataset.view !== "full") {
    main.className = "view";
    main.append(make("details", { className: "change" }, make("summary", { textContent: "Change this configuration" }), form));
  }

  const renew = ({ detail: [link, errors, , numbers] }) => {
    // With folded inputs, numbers alone would say little: the page has a line about them, for phones.
    const name = () => (about.textContent = find(".configure").textContent.trim());
    name();
    // Again, as the page renders that line after this event.
    setTimeout(name);
    whole.href = `./#${link}`;
    // Problems must be visible: inputs to correct, or insufficient memory.
    if (errors) find(".change")?.setAttribute("open", "");
    show(panels && numbers?.[0] === 0 ? `${panels}, .overview, .memory` : panels);
  };
  addEventListener("rooflight:answer", renew);
  disable(form, locks);
  renew(answer);
}

/** Hides the panels outside the view, with a separate mark, because the page itself hides and shows some. */
function show(panels) {
  for (const panel of document.querySelectorAll(".answer > *, .below > *, .overview > *"))
    panel.toggleAttribute("data-unseen", panels !== undefined && !panel.matches(`.lead, .problems, ${panels}`));
}

/** The label of the input with this key; those of a model's own sizes are the model's. */
function labelled(key) {
  const field = key === CUSTOM_MODEL ? "model" : (Object.keys(KEYS).find((field) => KEYS[field] === key) ?? key);
  return find(`label[for="${field}"]`)?.textContent.trim() || field;
}

/** Says which locked inputs kept their values where a change would have set others; without any, says nothing any more. */
export function refuse(keys) {
  const said = find(".embed-notes");
  said?.querySelector("[data-kept]")?.remove();
  if (keys.length) said?.append(note(`Fixed by the embedding page, and kept: ${[...new Set(keys.map(labelled))].join(", ")}.`, { kept: "" }));
}
