// Says the page in another language, whatever writes it: text as it enters the document, text drawn on canvases, and files
// made of what is drawn. What is typed into the search is looked for in that language.
import { finding } from "./find.js";
import { translator } from "./translate.js";

const ATTRIBUTES = ["aria-label", "aria-valuetext", "title", "placeholder", "alt", "label"];
/** What holds no sentences of the page. */
const SILENT = "script, style, pre, code, textarea, [translate=no]";

/** `table` as in translate.js. */
export function speak(language, table) {
  const say = translator(table);
  document.documentElement.lang = language === "zh" ? "zh-CN" : language;
  document.title = say(document.title);

  const text = (node) => {
    if (node.parentElement?.closest(SILENT)) return;
    const said = say(node.data);
    // What is said already has no further words.
    if (said !== node.data) node.data = said;
  };
  const attribute = (element, name) => {
    const held = element.getAttribute(name);
    if (!held || element.closest("[translate=no]")) return;
    const said = say(held);
    if (said !== held) element.setAttribute(name, said);
  };
  const all = (root) => {
    if (root.nodeType === Node.TEXT_NODE) return text(root);
    if (root.nodeType !== Node.ELEMENT_NODE) return;
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.currentNode; node; node = walker.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) text(node);
      else for (const name of ATTRIBUTES) attribute(node, name);
    }
  };
  new MutationObserver((changes) => {
    for (const { type, target, addedNodes, attributeName } of changes) {
      if (type === "childList") addedNodes.forEach(all);
      else if (type === "characterData") text(target);
      else attribute(target, attributeName);
    }
  }).observe(document.documentElement, {
    subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ATTRIBUTES,
  });
  all(document.body);

  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (words, ...rest) {
    return fillText.call(this, say(words), ...rest);
  };

  /** All that is written in a picture. */
  const picture = (svg) => {
    const document = new DOMParser().parseFromString(svg, "image/svg+xml");
    for (const written of document.querySelectorAll("text")) written.textContent = say(written.textContent);
    return new XMLSerializer().serializeToString(document);
  };
  addEventListener("rooflight:say", ({ detail }) => {
    const [words, media] = detail;
    detail[0] = media === "image/svg+xml" ? picture(words) : say(words);
  });

  const found = finding(table);
  // Before the page hears of it: this script comes first.
  addEventListener("rooflight:find", (event) => {
    const said = typeof event.detail === "string" && found(event.detail);
    if (!said) return;
    event.stopImmediatePropagation();
    dispatchEvent(new CustomEvent("rooflight:find", { detail: said }));
  });
}
