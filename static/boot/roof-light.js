// <roof-light>: a live prediction in any page. One module script, no dependency; docs/embedding.md is its guide.
//
//   <script type="module" src="https://HOST/roof-light.js"></script>
//   <roof-light model="qwen3-32b" gpu="h200-sxm" view="roofline">This content shows until it is live.</roof-light>

import { KEYS } from "./keys.js";

/** The page's folder, where this script was loaded from. */
const site = new URL("./", import.meta.url);

/** Attributes of the configuration, and their keys in a link: `slo-ttft="800"` is `st=800`. */
const ATTRIBUTES = Object.fromEntries(Object.entries(KEYS).map(([field, key]) => [field.replaceAll("_", "-"), key]));

/** Height in pixels of a frame that has not reported its own yet. */
const FALLBACK_HEIGHT = 360;

const style = new CSSStyleSheet();
style.replaceSync(`
  :host { display: block; position: relative; min-width: 0; }
  :host([hidden]), slot[hidden] { display: none; }
  iframe { display: block; width: 100%; border: 0; color-scheme: normal; }
  iframe.waiting { position: absolute; inset: 0 0 auto; visibility: hidden; }
`);

/** Elements near the viewport. */
const near = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) target.load();
  },
  { rootMargin: "400px" },
);

/** Whether the background of `element` is dark; undefined if nothing is painted behind it. */
function isDark(element) {
  // Painted and read back, because colours have many notations.
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = getComputedStyle(at).backgroundColor;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
    if (alpha > 127) return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
  }
}

export class RoofLight extends HTMLElement {
  static observedAttributes = ["link", "view", "lock", "theme", "height", "sandbox", ...Object.keys(ATTRIBUTES)];

  #frame;
  #ready = false;
  #shown;
  #watch;

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [style];
    const instead = document.createElement("a");
    instead.textContent = "Open this prediction in Rooflight";
    instead.part = "link";
    root.append(document.createElement("slot"));
    root.firstChild.append(instead);
  }

  connectedCallback() {
    this.#point();
    addEventListener("message", this);
    near.observe(this);
  }

  disconnectedCallback() {
    removeEventListener("message", this);
    near.unobserve(this);
    this.#unload();
  }

  attributeChangedCallback(name, before, after) {
    if (before === after || !this.isConnected) return;
    this.#point();
    if (!this.#frame) return;
    if (name === "theme") this.#say("theme", { theme: this.#theme() });
    else if (name === "height") this.#size(this.#shown);
    else if (Object.hasOwn(ATTRIBUTES, name) || name === "link") this.#say("set", { link: this.link });
    else {
      this.#unload();
      this.load();
    }
  }

  /** The link of what it is asked to predict, without `#`. */
  get link() {
    const pairs = (this.getAttribute("link") ?? "").replace(/^[^#]*#/, "").split("&").filter(Boolean);
    const named = Object.keys(ATTRIBUTES).filter((name) => this.hasAttribute(name));
    // An attribute overrides the link.
    const left = pairs.filter((pair) => !named.some((name) => pair.startsWith(`${ATTRIBUTES[name]}=`)));
    const given = named.map((name) => `${ATTRIBUTES[name]}=${encodeURIComponent(this.getAttribute(name).trim())}`);
    const link = [...left, ...given];
    return (link.some((pair) => pair.startsWith("v=")) ? link : ["v=1", ...link]).join("&");
  }

  /** Starts loading; called automatically when the element comes near the viewport. */
  load() {
    near.unobserve(this);
    if (this.#frame || !this.isConnected) return;
    const url = new URL("embed.html", site);
    for (const name of ["view", "lock"]) if (this.hasAttribute(name)) url.searchParams.set(name, this.getAttribute(name));
    url.searchParams.set("theme", this.#theme());
    url.hash = this.link;
    const frame = document.createElement("iframe");
    frame.title = this.getAttribute("aria-label") ?? "Prediction by Rooflight";
    frame.className = "waiting";
    frame.allow = "clipboard-write";
    // Not by default: a frame without an origin shares no cache, so that each one loads everything again.
    if (this.hasAttribute("sandbox")) frame.sandbox = "allow-scripts allow-popups allow-popups-to-escape-sandbox";
    frame.src = url;
    this.#frame = frame;
    this.#size();
    this.shadowRoot.append(frame);
    this.#watch = followTheme(() => this.#say("theme", { theme: this.#theme() }));
  }

  handleEvent({ source, data }) {
    if (!this.#frame || source !== this.#frame.contentWindow || data?.ns !== "rooflight" || data.v !== 1) return;
    const { ns, v, type, ...detail } = data;
    if (type === "ready" && !this.#ready) {
      this.#ready = true;
      this.#say("hello", { theme: this.#theme() });
      this.#frame.classList.remove("waiting");
      this.shadowRoot.querySelector("slot").hidden = true;
    } else if (type === "height" && Number.isFinite(detail.height)) this.#size(detail.height);
    else if (type === "state" || type === "result")
      this.dispatchEvent(new CustomEvent(`rooflight-${type}`, { detail, bubbles: true, composed: true }));
  }

  #unload() {
    this.#watch?.();
    this.#frame?.remove();
    this.#frame = this.#shown = undefined;
    this.#ready = false;
    this.shadowRoot.querySelector("slot").hidden = false;
  }

  #say(type, content) {
    this.#frame?.contentWindow?.postMessage({ ns: "rooflight", v: 1, type, ...content }, "*");
  }

  /** The requested height, else that of its content. */
  #size(content) {
    if (content) this.#shown = content;
    const asked = Number.parseFloat(this.getAttribute("height"));
    if (this.#frame) this.#frame.style.height = `${asked > 0 ? asked : (this.#shown ?? FALLBACK_HEIGHT)}px`;
  }

  #theme() {
    const asked = this.getAttribute("theme") ?? "auto";
    if (asked !== "auto") return asked;
    const dark = isDark(this);
    return dark === undefined ? "auto" : dark ? "dark" : "light";
  }

  #point() {
    this.shadowRoot.querySelector("a").href = new URL(`./#${this.link}`, site);
  }
}

/** Calls `tell` whenever the page may have changed its theme, and again after transitions of colours; returns a function that ends
 * this. */
function followTheme(tell) {
  const changed = () => {
    tell();
    setTimeout(tell, 500);
  };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const marks = new MutationObserver(changed);
  for (const at of [document.documentElement, document.body]) marks.observe(at, { attributes: true });
  system.addEventListener("change", changed);
  return () => {
    marks.disconnect();
    system.removeEventListener("change", changed);
  };
}

// With two copies on one page, the first one is used.
if (!customElements.get("roof-light")) customElements.define("roof-light", RoofLight);
