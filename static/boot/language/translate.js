// The page's sentences in another language. The page itself speaks English alone, which is what a visitor waits for; a
// table says what each of its sentences is elsewhere. A sentence is a template: `{}` holds what varies, in the order of
// the English one, or by its place (`{1}`) where the other language turns it around.

/** Nothing to say in another language: numbers, units, signs, names with digits. */
const PLAIN = /^[^A-Za-z]*$/;
const HOLE = /\{(\d*)\}/;

/** The text as a pattern, and its fixed letters. */
function pattern(english) {
  const parts = english.split(HOLE).filter((_, index) => index % 2 === 0);
  const source = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("([^]+?)");
  return { regex: new RegExp(`^${source}$`), head: parts[0].slice(0, 3), fixed: parts.join("").length };
}

/** The other language's template with the holes filled. Chinese keeps Latin letters and digits apart. */
function filled(template, holes) {
  let next = 0;
  const text = template.replace(/\{(\d*)\}/g, (_, place) => holes[place === "" ? next++ : Number(place)] ?? "");
  return text.replace(/(\p{Script=Han})(?=[A-Za-z0-9])/gu, "$1 ").replace(/([A-Za-z0-9%])(?=\p{Script=Han})/gu, "$1 ");
}

/**
 * What says a text of the page in the other language: itself where the table has no words for it.
 *
 * `table` holds the other language's template by the English one.
 */
export function translator(table) {
  const whole = new Map();
  const patterns = new Map();
  for (const [english, other] of Object.entries(table)) {
    if (!HOLE.test(english)) {
      whole.set(english, other);
      continue;
    }
    const { regex, head, fixed } = pattern(english);
    // Where a hole comes early, any text may begin so.
    const key = head.length < 3 ? "" : head;
    if (!patterns.has(key)) patterns.set(key, []);
    patterns.get(key).push({ regex, other, fixed });
  }
  // The most particular first.
  for (const all of patterns.values()) all.sort((a, b) => b.fixed - a.fixed);
  const known = new Map();

  /** None where the table has no words for it. */
  function found(text) {
    if (whole.has(text)) return whole.get(text);
    for (const key of [text.slice(0, 3), ""]) {
      for (const { regex, other } of patterns.get(key) ?? []) {
        const match = regex.exec(text);
        if (match) return filled(other, match.slice(1).map(say));
      }
    }
    return undefined;
  }

  /** Piece by piece, where at least one is known. */
  function pieces(text, at, between) {
    const parts = text.split(at);
    if (parts.length < 2) return undefined;
    const said = parts.map(say);
    return said.some((part, index) => part !== parts[index]) ? said.join(between) : undefined;
  }

  function say(text) {
    if (PLAIN.test(text)) return text;
    const held = known.get(text);
    if (held !== undefined) return held;
    const [, before, inner, after] = /^(\s*)([^]*?)(\s*)$/.exec(text);
    // Sentences of a paragraph, then what stands between commas: each has words of its own.
    const said = found(inner) ?? pieces(inner, /(?<=[.:;])\s+/, "") ?? pieces(inner, /,\s+/, "，") ?? inner;
    const answer = before + said + after;
    // Numbers make ever new texts.
    if (known.size > 20_000) known.clear();
    known.set(text, answer);
    return answer;
  }

  return say;
}
