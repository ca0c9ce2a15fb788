// Serves one complete version of the page from its own cache: a page never gets files of another version.
// scripts/hooks/offline.mjs inserts the version and its files with their content hashes.
/* global VERSION, FILES, NAMED */

// Other deployments of the page may share the origin, under different paths.
const prefix = `rooflight ${registration.scope} `;
const name = prefix + VERSION;

/** All files or none. A file of another version (an incomplete deploy) aborts; the next visit retries. */
async function install() {
  const cache = await caches.open(name);
  const put = async ([file, integrity]) => {
    // Files named by their content are in the browser's cache, since the page has just loaded them.
    const request = new Request(file, { integrity, cache: new RegExp(`${NAMED}|\\?`).test(file) ? "default" : "no-cache" });
    const response = await fetch(request);
    if (!response.ok) throw new Error(`${file}: status ${response.status}`);
    // Rebuilt: a host that shortens names redirects, and redirected responses are refused for navigation.
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

/** The file for an address within the scope; undefined if it is not part of the page. */
function fileOf(url) {
  const path = url.href.startsWith(registration.scope) ? url.pathname.slice(new URL(registration.scope).pathname.length) : undefined;
  if (path === "") return "index.html";
  // Models are requested by content hash.
  return [path + url.search, path, `${path}.html`].find((file) => Object.hasOwn(FILES, file));
}

/** From this version's cache, without recreating it after the next version has cleared it. */
const stored = (file) => caches.match(new URL(file, registration.scope), { cacheName: name });

/** Runs in the page shown between two versions: ends this one, and reloads once the next is active. A load that is in
 * progress while the versions change is lost, so it starts only afterwards. */
async function change() {
  navigator.serviceWorker.addEventListener("controllerchange", () => location.reload());
  const { waiting } = await navigator.serviceWorker.getRegistration();
  if (waiting) waiting.postMessage("take over");
  else location.reload();
}

function between() {
  const nonce = crypto.randomUUID();
  // The icon keeps the browser from requesting one.
  return new Response(`<link rel="icon" href="data:,"><script nonce="${nonce}">(${change})()</script>`, {
    headers: { "content-type": "text/html", "content-security-policy": `default-src 'none'; img-src data:; script-src 'nonce-${nonce}'` },
  });
}

/** During a reload the old page, and with it the old version, stays active until the new page has come: if no other window is
 * open, the waiting version takes over first. */
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
