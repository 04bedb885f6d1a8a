import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/** Nothing from another host, nothing inline, in nobody's frame. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

interface File {
  body: Buffer;
  packed: Buffer;
  etag: string;
}

/** The files that were asked for once; there are few. */
const known = new Map<string, Promise<File | undefined>>();
const squeeze = promisify(gzip);

/** The folder that the build of the dashboard fills. */
const folder = join(
  dirname(createRequire(import.meta.url).resolve("@postern/dashboard/package.json")),
  "dist",
);

/** Send a file of the dashboard. Pages of the dashboard itself all begin with the same file. */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  pathname: string,
): Promise<void> {
  const name = /^\/[\w.-]+\.[a-z]+$/.test(pathname) ? pathname.slice(1) : "index.html";
  const file = await load(name);
  if (file === undefined) {
    const built = existsSync(folder);
    response.writeHead(404, { "content-type": "text/plain; charset=utf-8" });
    response.end(
      built ? "no such file\n" : "the dashboard is not built: run npm run build:dashboard\n",
    );
    return;
  }
  const packs = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
  const headers = {
    "content-type": types[extname(name)] ?? "application/octet-stream",
    "content-security-policy": policy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
    etag: file.etag,
    vary: "accept-encoding",
  };
  if (request.headers["if-none-match"] === file.etag) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(200, { ...headers, ...(packs && { "content-encoding": "gzip" }) });
  response.end(request.method === "HEAD" ? undefined : packs ? file.packed : file.body);
}

function load(name: string): Promise<File | undefined> {
  const cached = known.get(name);
  if (cached !== undefined) return cached;
  const loading = readFile(join(folder, name)).then(
    async (body) => ({
      body,
      packed: await squeeze(body, { level: 9 }),
      etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 16)}"`,
    }),
    () => {
      known.delete(name);
      return undefined;
    },
  );
  known.set(name, loading);
  return loading;
}
