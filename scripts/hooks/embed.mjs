// Writes embed.html, the page for frames: the same files, cached once for both, plus its own script and
// style. Also writes roof-light.js, whose name never changes, because other pages refer to it.
import { hashed, bundled, read, replaceOnce, write } from "./dist.mjs";

function put(name, content) {
  const named = name.replace(".", `-${hashed(content)}.`);
  write(named, content);
  return `./${named}`;
}

const script = put("embed.js", bundled("static/boot/embed/index.js", "iife"));
const style = put("embed.css", bundled("static/style/embed.css"));

let html = read("index.html");
// Its own script sets the theme: a frame neither reads nor stores the visitor's choice.
html = html.replace(/<script src=\.\/theme-[\w]+\.js><\/script>/, `<script src=${script}></script>`);
html = replaceOnce(html, "</head>", `<link href=${style} rel=stylesheet></head>`);
html = html.replace(/<meta[^>]* (name|property)=("?)(description|og:|twitter:)[^>]*>/g, "");
html = replaceOnce(html, "<title>", '<meta content=noindex name=robots><title>');
html = html.replace(/<header class=top>.*<\/header>/, "");
// A frame shows one panel, which does not exist before the page is mounted.
html = html.replace(/<main.*(<noscript>.*<\/noscript>).*<\/main>/, "<p class=loading>Loading</p>$1");
if (!html.includes(script) || /<header|<main/.test(html)) throw new Error("embed.html: the built page has another form");
write("embed.html", html);
write("roof-light.js", bundled("static/boot/roof-light.js", "esm"));
