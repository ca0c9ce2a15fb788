// Shows one view of the page: its results panel, a line describing the configuration, the inputs in a fold, and a link to the full page.
import { lock } from "./lock.js";
import { VIEWS } from "./query.js";

const find = (selector) => document.querySelector(selector);

function make(tag, fields, ...children) {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
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
  said.append(...notes.map((note) => make("li", { className: "issue", textContent: note })));
  said.querySelectorAll("li").forEach((note) => (note.dataset.severity = "warning"));
  if (root.dataset.view !== "full") {
    main.className = "view";
    main.append(make("details", { className: "change" }, make("summary", { textContent: "Change this configuration" }), form));
  }

  const renew = ({ detail: [link, errors, , numbers] }) => {
    const name = () => (about.textContent = inWords());
    name();
    // Also when the inputs show the content of a link with errors.
    setTimeout(name);
    whole.href = `./#${link}`;
    // Problems must be visible: inputs to correct, or insufficient memory.
    if (errors) find(".change")?.setAttribute("open", "");
    show(panels && numbers?.[0] === 0 ? `${panels}, .overview, .memory` : panels);
  };
  addEventListener("rooflight:answer", renew);
  renew(answer);
  lock(form, locks);
}

/** Hides the panels outside the view, with a separate mark, because the page itself hides and shows some. */
function show(panels) {
  for (const panel of document.querySelectorAll(".answer > *, .below > *, .overview > *"))
    panel.toggleAttribute("data-unseen", panels !== undefined && !panel.matches(`.lead, .problems, ${panels}`));
}

/** The configuration in words: with folded inputs, numbers alone would say little. */
function inWords() {
  const chosen = (id) => find(`#${id}`).selectedOptions[0]?.text ?? "";
  const value = (id) => find(`#${id}`)?.value || find(`#${id}`)?.placeholder;
  const gpus = Number.parseInt(find("[data-testid=gpu-count]").textContent);
  const loads = {
    concurrency: (clients) => (clients === "1" ? "1 client" : `${clients} clients`),
    rate: (rate) => `${rate} requests/s`,
    batch: (prompts) => `one batch of ${prompts}`,
  };
  const [load, words] = Object.entries(loads).find(([id]) => find(`#${id}`));
  // The organisation follows the name.
  const model = chosen("model").replace(/ \(.*\)$/, "");
  const system = `${gpus > 1 ? `${gpus} × ` : ""}${chosen("gpu")}, ${chosen("engine")}`;
  return `${model} on ${system}: ${value("isl")} tokens in, ${value("osl")} out, ${words(value(load))}`;
}
