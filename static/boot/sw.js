// Serves one version of the page, whole, from a cache of its own: a page never meets files of another version.
// scripts/hooks/offline.mjs writes the version and its files, each name with the hash of its content, and which names hold it.
/* global VERSION, FILES, NAMED */

// Other deployments of the page may share the origin, each below its own path.
const prefix = `rooflight ${registration.scope} `;
const name = prefix + VERSION;

/** All files or none. A file that is not of this version (a deploy half done) ends the attempt; the next visit tries again. */
async function install() {
  const cache = await caches.open(name);
  const put = async ([file, integrity]) => {
    // Files named by their content are in the browser's cache, as the page has just loaded them.
    const request = new Request(file, { integrity, cache: new RegExp(`${NAMED}|\\?`).test(file) ? "default" : "no-cache" });
    const response = await fetch(request);
    if (!response.ok) throw new Error(`${file}: status ${response.status}`);
    // Anew: a host that shortens names redirects, and a redirected response is refused to a navigation.
    const type = response.headers.get("content-type") ?? "";
    await cache.put(new URL(file, registration.scope), new Response(await response.blob(), { headers: { "content-type": type } }));
  };
  try {
    await Promise.all(Object.entries(FILES).map(put));
  } catch (error) {
    await caches.delete(name);
    throw error;
  }
}

async function tidy() {
  const names = await caches.keys();
  await Promise.all(names.filter((other) => other.startsWith(prefix) && other !== name).map((other) => caches.delete(other)));
}

/** The file that an address below the scope stands for; none where it is no part of the page. */
function fileOf(url) {
  const path = url.href.startsWith(registration.scope) ? url.pathname.slice(new URL(registration.scope).pathname.length) : undefined;
  if (path === "") return "index.html";
  // Models are asked for by their content.
  return [path + url.search, path, `${path}.html`].find((file) => Object.hasOwn(FILES, file));
}

/** From this version's cache, which asking does not bring back once the next version has cleared it. */
const stored = (file) => caches.match(new URL(file, registration.scope), { cacheName: name });

/** In the page that stands between two versions: ends this one, and loads the next when it is in charge. A load that is under
 * way while the versions change is lost, so it is asked for only then. */
async function change() {
  navigator.serviceWorker.addEventListener("controllerchange", () => location.reload());
  const { waiting } = await navigator.serviceWorker.getRegistration();
  if (waiting) waiting.postMessage("take over");
  else location.reload();
}

function between() {
  const nonce = crypto.randomUUID();
  // The icon keeps the browser from asking for one.
  return new Response(`<link rel="icon" href="data:,"><script nonce="${nonce}">(${change})()</script>`, {
    headers: { "content-type": "text/html", "content-security-policy": `default-src 'none'; img-src data:; script-src 'nonce-${nonce}'` },
  });
}

/** A reload keeps the old page, and with it the old version, until the new page is there: where no other window is open, the
 * waiting version takes over first. */
async function open(request, file) {
  if (registration.waiting && (await clients.matchAll({ type: "window" })).length < 2) return between();
  return (await stored(file)) ?? fetch(request);
}

addEventListener("install", (event) => event.waitUntil(install()));
addEventListener("activate", (event) => event.waitUntil(tidy()));
addEventListener("message", ({ data }) => {
  if (data === "take over") skipWaiting();
});
addEventListener("fetch", (event) => {
  const { request } = event;
  const file = request.method === "GET" ? fileOf(new URL(request.url)) : undefined;
  if (!file) return;
  if (request.mode === "navigate") event.respondWith(open(request, file));
  else event.respondWith(stored(file).then((response) => response ?? fetch(request)));
});
