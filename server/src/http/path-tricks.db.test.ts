import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { bodyOf, fillTwoWorkspaces, pathOf } from "../../test/filled-workspace.ts";
import { rawExchange } from "../../test/raw-exchange.ts";
import { readRows } from "../../test/rows-of.ts";
import { insertKey } from "../../test/workspace-key.ts";
import { accountRoutes } from "./api/accounts.ts";
import { managedRoutes } from "./api/index.ts";

/**
 * Sends a request to every route in unusual forms: with other spellings of the path, and with
 * additional headers. Such requests must not get more access than the plain request, and must not
 * change anything.
 */

const beckon = await startTestBeckon();
const [workspace, elsewhere] = await fillTwoWorkspaces(beckon);
const rows = await readRows(beckon.db);
const { host } = new URL(beckon.url);
const observer = await insertKey(beckon, {
  scopes: ["agents:read", "triggers:read", "runs:read", "providers:read"],
});

type Headers = readonly (readonly [name: string, value: string])[];

/** Callers that cannot change anything. Those with a key or a session can read some resources. */
const callers: Readonly<Record<string, Headers>> = {
  nobody: [],
  "an observer's key": [["x-api-key", observer]],
  "a viewer's session": [
    ["cookie", workspace.viewer.cookie],
    ["origin", beckon.url],
  ],
};

/** Functions that spell a path differently, so that a server could route it differently. */
const paths: readonly ((path: string) => string)[] = [
  (path) => path.replace(/\/([^/]*)$/, "%2F$1"),
  (path) => path.replace(/\/([^/]*)$/, "%2f$1"),
  (path) => path.replace("/public/", "%2Fpublic/"),
  (path) => path.replace(/\/([^/]*)$/, "%252F$1"),
  (path) => path.replace(/\/([^/]*)$/, "%c0%af$1"),
  (path) => path.replace(/\/([^/]*)$/, "\\$1"),
  (path) => path.replace(/\/([^/]*)$/, "//$1"),
  (path) => `/${path}`,
  (path) => path.replace("/public", "//public"),
  (path) => path.replace(/\/([^/]*)$/, "/./$1"),
  (path) => path.replace(/\/([^/]*)$/, "/%2e/$1"),
  (path) => path.replace(/\/([^/]*)$/, "/x/../$1"),
  (path) => path.replace(/\/([^/]*)$/, "/x/%2e%2e/$1"),
  (path) => `/healthz/..${path}`,
  (path) => `/healthz;${path}`,
  (path) => path.replace("/public", "/public;a=b"),
  (path) => `${path};a`,
  (path) => `${path}/`,
  (path) => `${path}/.`,
  (path) => `${path}.json`,
  (path) => `${path}%00`,
  (path) => `${path}%20`,
  (path) => `${path}%0d%0ax-api-key:%20${beckon.key}`,
  (path) => path.toUpperCase(),
  (path) => path.replace(/\/([^/]*)$/, (last) => last.toUpperCase()),
  (path) =>
    path.replace(
      /\/(\w)([^/]*)$/,
      (_, letter, rest) => `/%${letter.charCodeAt(0).toString(16)}${rest}`,
    ),
  (path) =>
    path.replace(
      /\/(\w)([^/]*)$/,
      (_, letter, rest) => `/%25${letter.charCodeAt(0).toString(16)}${rest}`,
    ),
  (path) => `http://${host}${path}`,
  (path) => `http://evil.example${path}`,
  (path) => `http://x-api-key:${beckon.key}@${host}${path}`,
  (path) => `${path}?x-api-key=${beckon.key}&api_key=${beckon.key}&token=${beckon.key}`,
];
const acts = ["GET", "POST", "PATCH", "DELETE"];

/** Headers that some other servers obey. Some repeat a header that the caller sends too. */
const headers: readonly ((own: Headers, path: string) => Headers)[] = [
  ...["x-http-method-override", "x-http-method", "x-method-override"].flatMap((name) =>
    acts.map((act) => (own: Headers) => [...own, [name, act] as const]),
  ),
  ...["x-original-url", "x-rewrite-url", "x-forwarded-uri", "x-forwarded-path"].flatMap((name) => [
    (own: Headers) => [...own, [name, "/api/public/agents"] as const],
    (own: Headers, path: string) => [...own, [name, path] as const],
  ]),
  (own) => [
    ...own,
    ["x-forwarded-for", "127.0.0.1"],
    ["x-real-ip", "127.0.0.1"],
    ["forwarded", "for=127.0.0.1;host=localhost;proto=https"],
  ],
  (own) => [
    ...own,
    ["x-forwarded-host", host],
    ["x-forwarded-proto", "https"],
    ["x-forwarded-prefix", "/api/public"],
  ],
  (own) => [
    ...own,
    ["x-forwarded-user", workspace.owner.email],
    ["x-remote-user", workspace.owner.id],
    ["remote-user", "root"],
  ],
  (own) => [
    ...own,
    ["authorization", `Bearer ${beckon.key}`],
    ["api-key", beckon.key],
    ["x_api_key", beckon.key],
  ],
  (own) => [...own, ["x-api-key", observer], ["x-api-key", beckon.key]],
  (own) => [...own, ["x-api-key", beckon.key], ["x-api-key", observer]],
  (own) => [...own, ["x-api-key", `${observer}, ${beckon.key}`]],
  (own) => [...own, ["beckon-workspace", workspace.id], ["beckon-workspace", elsewhere.id]],
  (own) => [...own, ["x-workspace-id", elsewhere.id], ["x-role", "owner"], ["x-scopes", "*"]],
  (own) => [...own, ["origin", beckon.url], ["sec-fetch-site", "same-origin"]],
  (own) => [...own, ["host", "localhost"]],
  (own) => [["host", "evil.example"], ...own],
];

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/**
 * Returns the status and text of the response. If the server closes the connection without a
 * response, the request got no access, and the returned status is 400.
 */
async function send({
  method,
  path,
  headers: given,
  body,
}: Sent): Promise<{ status: number; text: string }> {
  const text = body === undefined ? "" : JSON.stringify(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${host}`,
    "connection: close",
    ...given.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined
      ? []
      : ["content-type: application/json", `content-length: ${Buffer.byteLength(text)}`]),
  ];
  const { answers, rest } = await rawExchange(
    beckon.url,
    Buffer.from(`${lines.join("\r\n")}\r\n\r\n${text}`),
  );
  expect(answers.length).toBeLessThan(2);
  // A response that has a body but no Content-Length, such as an export, is not in `answers` but in
  // `rest`.
  const [, status = "400"] = /^HTTP\/1\.1 (\d{3}) /.exec(rest) ?? [];
  return answers[0] ?? { status: Number(status), text: rest.slice(rest.indexOf("\r\n\r\n")) };
}

const invoke = {
  method: "POST",
  path: "/agents/:agent_id/invoke",
  doc: { id: "invoke", example: { input: "Hello" } },
} as const;
const personal = accountRoutes.filter(({ who }) => who === "signed in");
const routes = [...managedRoutes, invoke, ...personal];

/** Removes the time range of run statistics, which depends on the time of the request. */
const withoutRange = (text: string) => text.replace(/"created_(after|before)":"[^"]*",?/g, "");

const kindOf = (route: { method: string; permission?: string }) =>
  `${route.method} ${route.permission}`;

describe.each(Object.entries(callers))("%s", (who, own) => {
  const here = who === "a viewer's session" ? [...managedRoutes, invoke] : routes;

  test.each(here)("gets no more access to $method $path", async (route) => {
    // Every member can remove their own membership, so the path has the id of another member.
    const path = `/api/public${pathOf(route.path, workspace, { ":user_id": workspace.owner.id })}`;
    const plain: Sent = { method: route.method, path, headers: own, body: bodyOf(route) };
    const all = [
      ...paths.map((write) => ({ ...plain, path: write(path) })),
      ...headers.map((change) => ({ ...plain, headers: change(own, path) })),
      ...acts.map((act) => ({ ...plain, path: `${path}?_method=${act}` })),
    ];
    // All tricks on all routes would be too many requests. One caller uses all tricks on the first
    // route of each kind. Otherwise each trick is used on every fourth route only.
    const isFirst =
      who === "an observer's key" &&
      here.findIndex((each) => kindOf(each) === kindOf(route)) === here.indexOf(route);
    const tricks = all.filter((_, index) => isFirst || (index + here.indexOf(route)) % 4 === 0);
    const before = await rows.marks(workspace.id);
    const { status, text } = await send(plain);
    const isRead = route.method === "GET" || route.path.endsWith("/preview");
    expect(status === 200 && isRead ? 200 : Math.floor(status / 100)).toBeOneOf([200, 4]);
    const more = (
      await Promise.all(tricks.map(async (trick) => ({ trick, got: await send(trick) })))
    ).filter(
      ({ got }) =>
        got.status < 400 &&
        !(status === 200 && got.status === 200 && withoutRange(got.text) === withoutRange(text)),
    );
    expect(more).toEqual([]);
    expect(await rows.marks(workspace.id)).toEqual(before);
  });
});

test("a caller with all permissions gets what the request's method says, whatever headers say", async () => {
  const path = `/api/public/agents/${workspace.agent.id}`;
  const own: Headers = [["x-api-key", beckon.key]];
  const plain = await send({ method: "GET", path, headers: own, body: undefined });
  for (const change of headers.slice(0, 12)) {
    expect(
      await send({ method: "GET", path, headers: change(own, path), body: undefined }),
    ).toMatchObject({
      status: 200,
      text: plain.text,
    });
  }
  expect(
    await send({ method: "GET", path: `${path}?_method=DELETE`, headers: own, body: undefined }),
  ).toMatchObject({ status: 400 });
});

test("a page of another site gets no access by headers that a proxy would set", async () => {
  const evil = ["http://evil.example", "evil.example"] as const;
  const cookie = ["cookie", workspace.owner.cookie] as const;
  const body = { name: "Test", model: "demo/echo" };
  const before = await rows.marks(workspace.id);
  for (const forged of [
    [["x-forwarded-host", evil[1]]],
    [
      ["x-forwarded-host", evil[1]],
      ["forwarded", `host=${evil[1]}`],
      ["x-original-host", evil[1]],
    ],
    [["origin", beckon.url]],
    [["host", evil[1]]],
  ] satisfies Headers[]) {
    const sent: Headers = [cookie, ["origin", evil[0]], ...forged];
    expect(
      (await send({ method: "POST", path: "/api/public/agents", headers: sent, body })).status,
    ).toBeOneOf([400, 403, 421]);
  }
  expect(await rows.marks(workspace.id)).toEqual(before);
});
