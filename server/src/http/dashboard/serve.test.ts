import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { afterAll, describe, expect, test } from "vitest";
import { ApiError } from "../../base/errors.ts";
import { createReader } from "./files.ts";
import { createDashboard } from "./index.ts";

const root = mkdtempSync(join(tmpdir(), "beckon-dashboard-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const folder = join(root, "dist");
mkdirSync(join(folder, "assets"), { recursive: true });
const files = {
  "index.html": '<meta nonce="__CSP_NONCE__"><code>curl __PUBLIC_URL__/api</code>',
  "theme.js": "theme();",
  ".sources": "1 2 package-lock.json",
  "assets/main-a1.js": "main();",
  "assets/main-a1.js.br": "brotli",
  "assets/main-a1.js.gz": "gzip",
  "assets/plain-b2.css": "a{}",
  "assets/text-c3.woff2": "font",
  "assets/atkinson-hyperlegible-next-latin-wght-normal-D-4_.woff2": "sans",
  "assets/atkinson-hyperlegible-mono-latin-wght-normal-e5.woff2": "mono",
  "assets/.hidden.js": "hidden",
  "assets/notes.md": "notes",
};
for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
writeFileSync(join(root, "outside.js"), "outside");

const dashboard = createDashboard(() => "https://a.example/?b&c", pathToFileURL(`${folder}/`));
const app = new Hono<{ Bindings: HttpBindings }>()
  .get("/assets/:file", dashboard.serveAsset)
  .get("/theme.js", (c) => dashboard.serveRootFile(c, "theme.js"))
  .get("/favicon.svg", (c) => dashboard.serveRootFile(c, "favicon.svg"))
  .get("/*", dashboard.servePage)
  .onError((thrown, c) => c.text("", thrown instanceof ApiError ? 404 : 500));

/** Sends a GET request for a path to the app, without a network connection. */
async function get(path: string, headers: Record<string, string> = {}) {
  const response = await app.request(path, {}, { incoming: { headers } } as never);
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await response.text(),
  };
}

describe("the page", () => {
  test("has a nonce of its own in every response, which its policy admits", async () => {
    const pages = await Promise.all([get("/"), get("/w/wsp_1/runs")]);
    const nonces = pages.map(({ text }) => /nonce="([\w+/=]{24})"/.exec(text)?.[1] ?? "");
    expect(new Set(nonces).size).toBe(2);
    for (const [index, { headers }] of pages.entries()) {
      expect(headers["content-security-policy"]).toContain(`'nonce-${nonces[index]}'`);
      expect(headers["cache-control"]).toBe("no-store");
      expect(headers["cross-origin-resource-policy"]).toBe("same-origin");
    }
  });

  test("shows the address of the installation, as text", async () => {
    expect((await get("/")).text).toContain("curl https://a.example/?b&amp;c/api");
  });

  test("says how to build the dashboard if there is none", async () => {
    const unbuilt = createDashboard(() => "", pathToFileURL(`${root}/nothing/`));
    const response = await unbuilt.servePage();
    expect([response.status, await response.text()]).toEqual([
      503,
      expect.stringContaining("script/build-web"),
    ]);
  });
});

describe("an asset", () => {
  test.each([
    ["gzip, deflate, br, zstd", "br", "brotli"],
    ["gzip, deflate", "gzip", "gzip"],
    ["br;q=0, GZIP;q=0.5", "gzip", "gzip"],
    ["br;q=0.0, gzip; q=0", undefined, "main();"],
    ["xbr", undefined, "main();"],
    ["", undefined, "main();"],
  ])("is sent to a client that accepts %j with encoding %s", async (accepted, encoding, text) => {
    const asset = await get("/assets/main-a1.js", { "accept-encoding": accepted });
    expect(asset).toMatchObject({
      status: 200,
      text,
      headers: {
        "content-type": "text/javascript; charset=utf-8",
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
        vary: "accept-encoding",
      },
    });
    expect(asset.headers["content-encoding"]).toBe(encoding);
  });

  test("without compressed files is sent as it is", async () => {
    const headers = { "accept-encoding": "br, gzip" };
    expect((await get("/assets/plain-b2.css", headers)).text).toBe("a{}");
    expect(await get("/assets/text-c3.woff2", headers)).toMatchObject({
      text: "font",
      headers: { "content-type": "font/woff2" },
    });
  });

  test.each([
    "missing.js",
    "..%2findex.html",
    "..%2f..%2foutside.js",
    "%2e%2e%2f%2e%2e%2foutside.js",
    "..%5c..%5coutside.js",
    "%2fetc%2fpasswd.js",
    "file:%2f%2f%2fetc%2fhosts.js",
    "main-a1.js%00.css",
    "main-a1.js.br",
    ".hidden.js",
    "notes.md",
    "main-a1.js%2f",
    "constructor",
    "x.constructor",
    "x.__proto__",
  ])("with the name %s is not found", async (name) => {
    const { status, text } = await get(`/assets/${name}`);
    expect([status, text]).toEqual([404, ""]);
  });
});

test("a file with a constant path is kept for minutes and then compared by its entity tag", async () => {
  const first = await get("/theme.js");
  expect(first).toMatchObject({
    text: "theme();",
    headers: { "cache-control": "public, max-age=300" },
  });
  const { etag = "" } = first.headers;
  const known = await get("/theme.js", { "if-none-match": `"other", W/${etag}` });
  expect([known.status, known.text, known.headers.etag]).toEqual([304, "", etag]);
  expect((await get("/theme.js", { "if-none-match": '"other"' })).status).toBe(200);
});

test("other pages find the fonts, and none if the dashboard is not built", async () => {
  expect(await dashboard.fonts()).toEqual({
    sans: "/assets/atkinson-hyperlegible-next-latin-wght-normal-D-4_.woff2",
    mono: "/assets/atkinson-hyperlegible-mono-latin-wght-normal-e5.woff2",
  });
  const unbuilt = createDashboard(() => "", pathToFileURL(`${root}/nothing/`));
  expect(await unbuilt.fonts()).toEqual({ sans: undefined, mono: undefined });
});

describe("a reader of files", () => {
  const file = new URL("assets/main-a1.js", pathToFileURL(`${folder}/`));
  const absent = new URL("later-d4.js", file);

  test("shares the bytes of simultaneous reads", async () => {
    const read = createReader({ keeps: false });
    const [first, second] = await Promise.all([read(file), read(file)]);
    expect(String(first)).toBe("main();");
    expect(second).toBe(first);
    expect(await read(file)).not.toBe(first);
  });

  test("that keeps files returns the same bytes again, and finds a file that was absent before", async () => {
    const read = createReader({ keeps: true });
    expect(await read(file)).toBe(await read(file));
    expect(await read(absent)).toBeUndefined();
    writeFileSync(absent, "later();");
    expect(String(await read(absent))).toBe("later();");
  });
});
