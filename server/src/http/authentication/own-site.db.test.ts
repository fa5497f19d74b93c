import { afterAll, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { expectError } from "../../../test/expect-error.ts";
import { addPerson, password, signIn } from "../../../test/people.ts";
import { rawExchange } from "../../../test/raw-exchange.ts";
import { rawRequest } from "../../../test/raw-request.ts";

/** Requests that a page of another site can make a browser send with the victim's cookie. */

const beckon = await startTestBeckon();
const victim = await addPerson(beckon, { role: "owner" });
const { origin, host } = new URL(beckon.url);
const port = host.split(":")[1];

/** Sends a request as a browser does for a page: with the victim's cookie and the given headers. */
const send = (
  headers: Record<string, string>,
  path = "/agents",
  options: { method?: string; body?: unknown } = {},
) =>
  beckon.call(path, {
    credential: null,
    headers: { cookie: victim.cookie, ...headers },
    ...options,
  });
const agents = async () => (await beckon.call("/agents")).body.data.length as number;

const foreign = [
  ["from another origin", { origin: "https://evil.example" }],
  [
    "from another origin that the browser marks",
    { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
  ],
  [
    "from another port of this machine",
    { origin: "http://127.0.0.1:9", "sec-fetch-site": "same-site" },
  ],
  ["from another scheme's name", { origin: `https://evil.example:${port}` }],
  ["from a name that begins as ours does", { origin: `${origin}.evil.example` }],
  ["from a page without an origin", { origin: "null" }],
  ["with our origin, marked as cross-site", { origin, "sec-fetch-site": "cross-site" }],
  ["with our origin, marked as same-site", { origin, "sec-fetch-site": "same-site" }],
  ["without an origin, marked as cross-site", { "sec-fetch-site": "cross-site" }],
  ["without an origin", {}],
] as const;

describe.each(foreign)("a request %s", (_, headers) => {
  test("adds nothing with the victim's cookie", async () => {
    const before = await agents();
    const answer = await send(headers, "/agents", { body: { name: "Theirs", model: "demo/echo" } });
    expectError(answer, 403, "forbidden", /another site/);
    expect(await agents()).toBe(before);
  });

  test("starts no run with the victim's cookie", async () => {
    const agent = await beckon.createAgent();
    expectError(
      await send(headers, `/agents/${agent.id}/invoke`, { body: { input: "Hello" } }),
      403,
      "forbidden",
    );
    expect((await beckon.call(`/agents/${agent.id}/runs`)).body.data).toEqual([]);
  });

  test("ends no session, and changes no name or password", async () => {
    for (const [method, path, body] of [
      ["POST", "/sign-out", undefined],
      ["DELETE", "/sessions", undefined],
      ["PATCH", "/me", { name: "Theirs" }],
      [
        "POST",
        "/password",
        { current_password: password, new_password: "another twelve characters" },
      ],
    ] as const) {
      expectError(await send(headers, path, { method, body }), 403, "forbidden");
    }
    expect((await victim.call("/me")).body.data).toMatchObject({ name: "Test" });
  });
});

test.each([
  ["reads", "cross-site"],
  ["reads", "same-site"],
])(
  "a page of another origin %s nothing with the victim's cookie, if the browser marks it %s",
  async (_, site) => {
    expectError(await send({ "sec-fetch-site": site }), 403, "forbidden");
  },
);

test.each([{}, { "sec-fetch-site": "none" }, { "sec-fetch-site": "same-origin" }])(
  "our own page reads with %o",
  async (headers) => {
    expect((await send(headers)).status).toBe(200);
  },
);

test("a form of another origin signs nobody in", async () => {
  const body = { email: victim.email, password };
  const answer = await beckon.call("/sign-in", {
    credential: null,
    body,
    headers: { origin: "https://evil.example" },
  });
  expectError(answer, 403, "forbidden");
  expect(answer.headers.getSetCookie()).toEqual([]);
});

test("a program without a browser signs in without an origin", async () => {
  expect((await signIn(beckon, victim.email)).id).toBe(victim.id);
});

test("a key in the request wins over the cookie, and is not asked where it comes from", async () => {
  const headers = {
    cookie: victim.cookie,
    origin: "https://evil.example",
    "sec-fetch-site": "cross-site",
  };
  expect((await beckon.call("/agents", { headers })).status).toBe(200);
  expectError(
    await beckon.call("/agents", { credential: "wrong", headers: { cookie: victim.cookie } }),
    401,
    "unauthorized",
  );
});

describe("a Host that is not ours", () => {
  const ask = (host: string, headers = ["cookie", victim.cookie]) =>
    rawRequest(`${beckon.url}/api/public/agents`, { method: "GET", host, headers });

  test.each([
    "evil.example",
    `evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
    "localhost.evil.example",
    "",
    "1",
    "localhost@evil.example",
  ])("is refused with a cookie: %j", async (host) => {
    const answer = await ask(host);
    expect(answer.status).toBeOneOf([400, 421]);
    expect(answer.body.ok).toBe(false);
  });

  test("is told what to do", async () => {
    expectError(await ask("evil.example"), 421, "misdirected", /PUBLIC_URL/);
  });

  test("is refused with a cookie also if it is absent, as HTTP/1.0 allows", async () => {
    const head = `GET /api/public/agents HTTP/1.0\r\ncookie: ${victim.cookie}\r\n\r\n`;
    const { answers } = await rawExchange(beckon.url, Buffer.from(head));
    expect(answers.map(({ status }) => status)).toEqual([421]);
  });

  test.each([
    host,
    "localhost",
    `localhost:${port}`,
    "LOCALHOST",
    "127.0.0.1",
    `[::1]:${port}`,
    "192.168.1.4:3000",
  ])("is one that nobody else's name can be, so it is served: %s", async (host) => {
    expect((await ask(host)).status).toBe(200);
  });

  test.each(["/sign-in", "/setup", "/invitations/accept", "/password/reset"])(
    "is refused at %s",
    async (path) => {
      const answer = await rawRequest(`${beckon.url}/api/public${path}`, {
        method: "POST",
        host: `evil.example:${port}`,
        headers: ["content-type", "application/json", "content-length", "2"],
        pieces: ["{}"],
      });
      expectError(answer, 421, "misdirected");
    },
  );

  test("is served to a key: containers and proxies call by names of their own", async () => {
    expect((await ask("beckon.internal", ["x-api-key", beckon.key])).status).toBe(200);
  });
});

describe("with a PUBLIC_URL of https", async () => {
  const other = await beckon.another({ settings: { PUBLIC_URL: "https://beckon.example.com" } });
  afterAll(() => other.stop());
  const ask = (host: string, origin: string, path = "/me") =>
    rawRequest(`${other.listeningUrl}/api/public${path}`, {
      method: path === "/me" ? "PATCH" : "POST",
      host,
      headers: [
        ["cookie", `__Host-${victim.cookie}`],
        ["origin", origin],
        ["content-type", "application/json"],
        ["content-length", "2"],
      ].flat(),
      pieces: ["{}"],
    });
  const status = async (host: string, origin: string) => (await ask(host, origin)).status;

  test("a cookie that another host of the domain can set does not replace the person's own", async () => {
    const intruder = await addPerson(beckon, { role: "owner" });
    const { body } = await rawRequest(`${other.listeningUrl}/api/public/me`, {
      method: "GET",
      host: "beckon.example.com",
      headers: [
        "cookie",
        `__Secure-${intruder.cookie}; ${intruder.cookie}; __Host-${victim.cookie}`,
      ],
    });
    expect(body.data).toMatchObject({ id: victim.id });
  });

  test("its host and origin are ours, and no name beside it", async () => {
    expect(await status("beckon.example.com", "https://beckon.example.com")).toBe(200);
    // Simulates a proxy that does not forward the client's `Host`.
    expect(await status("127.0.0.1:3000", "https://beckon.example.com")).toBe(200);
    expect(await status("beckon.example.com", "https://other.example.com")).toBe(403);
    expect(await status("other.example.com", "https://beckon.example.com")).toBe(421);
  });

  test.each(["192.168.1.4:3000", "[fd00::4]:3000", "beckon.example.com"])(
    "a sign-in over http at %s says where to sign in, since the browser would drop the cookie",
    async (host) => {
      const response = await ask(host, `http://${host}`, "/sign-in");
      expectError(response, 421, "misdirected", /at https:\/\/beckon\.example\.com/);
    },
  );

  test.each(["localhost:3000", "127.0.0.1:3000", "[::1]:3000"])(
    "a page over http at %s is served, because browsers keep the cookie there",
    async (host) => {
      expect(await status(host, `http://${host}`)).toBe(200);
    },
  );
});
