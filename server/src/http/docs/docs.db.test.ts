import { expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { expectError } from "../../../test/expect-error.ts";
import { unknownSettingWarnings } from "../../config.ts";
import { buildDocument } from "../openapi/index.ts";
import { operationsOf } from "./operations.ts";
import { siteOf } from "./pages.ts";
import { samplesOf } from "./samples.ts";

const beckon = await startTestBeckon();
const site = siteOf(buildDocument(beckon.url));
const paths = [
  "/docs",
  ...[...site.chapters, ...site.resources].map(({ slug }) => `/docs/${slug}`),
];
const read = async (path: string) =>
  (await beckon.call(beckon.url + path, { credential: null })) as {
    headers: Headers;
    body: string;
  };
const html = new Map(
  await Promise.all(paths.map(async (path) => [path, (await read(path)).body] as const)),
);

test.each(paths)(
  "%s is served to everybody, and is allowed its own style and script",
  async (path) => {
    const { headers, body } = await read(path);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; script-src 'sha256-[\w+/=]{44}'; base-uri 'none'/,
    );
    // Only fonts of the dashboard are loaded, and only if it is built.
    const fonts = /url\("\/assets\/[\w.-]+\.woff2"\)/g;
    expect(body.replaceAll(fonts, "")).not.toMatch(
      /<img|<link|\bsrc=|@import|url\(|\son\w+=|\sstyle=/,
    );
    expect(body).not.toMatch(/>undefined<|\[object /);
  },
);

test("every operation is on the page of its tag, with three samples", () => {
  for (const { id, tag } of operationsOf(buildDocument())) {
    const page = html.get(`/docs/${tag}`) ?? "";
    expect(page, id).toContain(`<section class="operation" id="${id}">`);
    for (const language of ["curl", "typescript", "python"])
      expect(page).toContain(`id="${id}-${language}"`);
  }
});

test("every page links to the next one", () => {
  for (const [index, path] of paths.slice(0, -1).entries())
    expect(html.get(path)).toMatch(new RegExp(`<p class="pages">.*href="${paths[index + 1]}"`));
});

test("every link leads to something that is there", () => {
  for (const [path, page] of html) {
    for (const [, href = ""] of page.matchAll(/href="([^"]+)"/g)) {
      const [target, id] = href.startsWith("#") ? [path, href.slice(1)] : href.split("#");
      if (target === "/openapi.json") continue;
      expect(html.has(target ?? ""), `${path}: ${href}`).toBe(true);
      if (id !== undefined) expect(html.get(target ?? ""), href).toContain(`id="${id}"`);
    }
  }
});

test("no id stands twice on a page", () => {
  for (const [path, page] of html) {
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect([path, ids.length]).toEqual([path, new Set(ids).size]);
  }
});

test("the samples name this installation, and hold no secret", () => {
  const page = html.get("/docs/agents") ?? "";
  expect(page).toContain(`${beckon.url}/api/public/agents`);
  expect(page).toContain("x-api-key: $BECKON_KEY");
  expect([...html.values()].join("")).not.toContain("correct horse battery staple");
});

test("startup calls no variable of a sample a mistake", () => {
  const document = buildDocument(beckon.url);
  const code = operationsOf(document)
    .flatMap((operation) => samplesOf(operation, beckon.url))
    .map((sample) => sample.code);
  const names = new Set(code.join("\n").match(/BECKON_[A-Z_]+/g));
  expect(names).toContain("BECKON_LINK_TOKEN");
  expect(unknownSettingWarnings(Object.fromEntries([...names].map((name) => [name, "x"])))).toEqual(
    [],
  );
});

test("the guide to webhooks names each preset whose skipped requests get 200", () => {
  const [row] = /<tr>(?:(?!<tr>).)*get 200/s.exec(html.get("/docs/webhooks") ?? "") ?? [];
  for (const preset of ["dropbox", "linear", "meta"])
    expect(row).toContain(`<code>${preset}</code>`);
});

test("an invoke gets the run's id before the fetch of Node.js times out after 300 seconds", () => {
  const [header] = /prefer: &quot;[^&]*/.exec(html.get("/docs/calls") ?? "") ?? [];
  expect(header).toBe("prefer: &quot;wait=240");
});

test("a page that is not there is a 404", async () => {
  expectError(await beckon.call(`${beckon.url}/docs/unknown`), 404, "not_found", /\/docs/);
});
