// Which language the page speaks, and the link that changes it.

/** What the page can speak, and how each calls itself. */
const NAMES = { en: "English", zh: "中文" };
const KEPT_AS = "rooflight-language";

/** As the address asks (`lang=zh`), else as chosen before, else as the browser prefers. */
export function chosen() {
  const asked = new URLSearchParams(location.search).get("lang");
  if (asked in NAMES) return asked;
  let kept;
  try {
    kept = localStorage.getItem(KEPT_AS);
  } catch {
    // A browser that keeps nothing is asked each time.
  }
  if (kept in NAMES) return kept;
  const preferred = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in NAMES);
  return preferred ?? "en";
}

/** Puts a link to the other language into the header. The configuration goes along. */
export function offer(language) {
  const other = language === "en" ? "zh" : "en";
  const link = Object.assign(document.createElement("a"), {
    className: "action language",
    lang: other === "zh" ? "zh-CN" : "en",
    hreflang: other,
    textContent: NAMES[other],
    href: `?lang=${other}`,
  });
  link.dataset.testid = "language";
  link.translate = false;
  link.onclick = (event) => {
    event.preventDefault();
    try {
      localStorage.setItem(KEPT_AS, other);
    } catch {}
    // The address says it too, for browsers that keep nothing.
    const to = new URL(location.href);
    to.searchParams.set("lang", other);
    location.href = to;
  };
  document.querySelector("#page .top")?.append(link);
}
