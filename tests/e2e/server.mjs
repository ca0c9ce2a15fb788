// Serves a built page from a folder on loopback, below a path as a project site is.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { NAMED } from "../../scripts/hooks/named.mjs";

const types = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".onnx": "application/octet-stream",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/**
 * Starts serving `folder` below `base`, and other folders below other bases, with these headers for other origins; resolves to the page's address and a function that
 * stops the server.
 */
export async function serve(folder, base = "/rooflight/", others = {}, cors = { "access-control-allow-origin": "*" }) {
  const folders = Object.entries({ [base]: folder, ...others });
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    try {
      const [base, folder] = folders.find(([base]) => path.startsWith(base)) ?? [];
      if (!base) throw new Error("outside of the page");
      const inside = normalize(path.slice(base.length - 1));
      const file = join(folder, inside.endsWith("/") ? inside + "index.html" : inside);
      const content = await readFile(file);
      response.writeHead(200, {
        "content-type": types[extname(file)] ?? "text/plain",
        // As static/_headers asks of hosts, and what is named by its content never changes.
        "x-content-type-options": "nosniff",
        "cache-control": NAMED.test(file) ? "max-age=31536000, immutable" : "no-store",
        // Frames without an origin, and others' pages, are given scripts and data only with it.
        ...cors,
      });
      response.end(content);
    } catch {
      response.writeHead(404, { "content-type": "text/plain" });
      response.end("not found");
    }
  });
  return listening(server, encodeURI(base));
}

/** The same for texts: HTML by path, as `{"/": "<p>..."}`. What is another page's, on another origin. */
export async function servePages(pages) {
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    // Browsers ask for an icon, whatever the page.
    const html = path === "/favicon.ico" ? "" : pages[path];
    response.writeHead(html === undefined ? 404 : 200, { "content-type": types[".html"] });
    response.end(html);
  });
  return listening(server, "/");
}

/** Starts `server` on a free port. */
export async function listening(server, base) {
  await new Promise((started) => server.listen(0, "127.0.0.1", started));
  const { port } = server.address();
  const stop = () =>
    new Promise((stopped) => {
      server.close(() => stopped());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}${base}`, port, stop };
}
