// What is searched for in another language: each word of it with the page's English texts that are said with it.

const FOREIGN = /\p{Script=Han}/u;
const WORDS = /\p{Script=Han}+|[^\s\p{Script=Han}]+/gu;
const HOLES = /\{\d*\}/g;

/**
 * What asks for typed words in English: they themselves in the first line; then a line for each of them, with the texts
 * behind it between tabs, as templates whose holes are `{}`. `src/study/find.rs` reads it. Nothing for words in English,
 * and for what is asked so already.
 *
 * `table` as in translate.js.
 */
export function finding(table) {
  // No word spans a hole.
  const texts = Object.entries(table).map(([english, other]) => [english, other.replace(HOLES, " ")]);
  const meant = (word) => (FOREIGN.test(word) ? texts.filter(([, other]) => other.includes(word)) : []);
  return (typed) => {
    if (!FOREIGN.test(typed) || typed.includes("\n")) return undefined;
    const lines = typed.match(WORDS).map((word) => [word, ...meant(word).map(([english]) => english)].join("\t"));
    return [typed, ...lines].join("\n");
  };
}
