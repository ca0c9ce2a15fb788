// Serves a built page from a folder on loopback, below a path as a project site is, without caching.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";

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
const base = "/rooflight/";

/** Starts serving `folder`; resolves to the page's address and a function that stops the server. */
export async function serve(folder) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    const inside = path.startsWith(base) && normalize(decodeURIComponent(path.slice(base.length - 1)));
    try {
      if (!inside) throw new Error("outside of the page");
      const file = join(folder, inside.endsWith("/") ? inside + "index.html" : inside);
      const content = await readFile(file);
      response.writeHead(200, { "content-type": types[extname(file)] ?? "text/plain", "cache-control": "no-store" });
      response.end(content);
    } catch {
      response.writeHead(404, { "content-type": "text/plain" });
      response.end("not found");
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${server.address().port}${base}`,
    stop: () => new Promise((stopped) => server.close(stopped)),
  };
}
