// Shows one view of the page: its panel of the results, a line that says what is predicted, the inputs behind a fold, and
// a link to the whole.
import { lock } from "./lock.js";
import { VIEWS } from "./query.js";

const find = (selector) => document.querySelector(selector);

function make(tag, fields, ...children) {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
}

/** Once the page stands; `answer` is the event that said so. */
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
    notes.push(`This version of the page has no ${root.dataset.view}: this is card.`);
    root.dataset.view = "card";
  } else if (tab) {
    // Later: the page is in the middle of telling of its answer.
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
    // And when the inputs hold what a link with errors says.
    setTimeout(name);
    whole.href = `./#${link}`;
    // What is wrong must be seen: inputs to be mended, and memory that does not suffice.
    if (errors) find(".change")?.setAttribute("open", "");
    show(panels && numbers?.[0] === 0 ? `${panels}, .overview, .memory` : panels);
  };
  addEventListener("rooflight:answer", renew);
  renew(answer);
  lock(form, locks);
}

/** Hides the panels that the view has not; a mark of its own, as the page itself hides and shows some. */
function show(panels) {
  for (const panel of document.querySelectorAll(".answer > *, .below > *, .overview > *"))
    panel.toggleAttribute("data-unseen", panels !== undefined && !panel.matches(`.lead, .problems, ${panels}`));
}

/** What is predicted, as the inputs read: numbers alone would say little where these are folded away. */
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
  // The organisation stands behind the name.
  const model = chosen("model").replace(/ \(.*\)$/, "");
  const system = `${gpus > 1 ? `${gpus} × ` : ""}${chosen("gpu")}, ${chosen("engine")}`;
  return `${model} on ${system}: ${value("isl")} tokens in, ${value("osl")} out, ${words(value(load))}`;
}
