import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { rawExchange } from "../../test/raw-exchange.ts";
import { openStream } from "../../test/read-stream.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);
const { body: invoked } = await beckon.invoke(agent, "Hello");

const form = /^rid_[0-9a-z]{26}$/;
const firePath = new URL(trigger.url).pathname;

test.each([
  ["a resource", "GET", `/api/public/agents/${agent.id}`],
  ["HEAD", "HEAD", `/api/public/agents/${agent.id}`],
  ["an error of a route", "GET", "/api/public/agents/unknown"],
  ["a wrong method", "PUT", "/api/public/agents"],
  ["an unknown path", "GET", "/nowhere"],
  ["a fire", "POST", firePath],
  ["a CORS preflight", "OPTIONS", firePath],
  ["a page behind a link", "GET", "/setup"],
  ["the document", "GET", "/openapi.json"],
  ["the documentation", "GET", "/docs"],
  ["a probe", "GET", "/healthz"],
  ["an export", "GET", "/api/public/agents/export"],
  ["an export of lines", "GET", "/api/public/audit/export"],
])("the response to %s has a request id, another one each time", async (_, method, path) => {
  const ask = async () =>
    (
      await beckon.call(beckon.url + path, {
        method,
        ...(method === "POST" ? { body: "Hello" } : {}),
        headers: { "beckon-request-id": "mine" },
      })
    ).headers.get("beckon-request-id");
  const [first, second] = [await ask(), await ask()];
  expect([first, second]).toEqual([expect.stringMatching(form), expect.stringMatching(form)]);
  expect(first).not.toBe(second);
});

test.each([
  ["that is no HTTP", "Hello\r\n\r\n"],
  ["with too long headers", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`],
  ["without a Host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"],
  ["for a tunnel", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n"],
  [
    "that breaks off in its body",
    `POST ${firePath} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\nzz\r\n`,
  ],
])("the response to a request %s has a request id", async (_what, bytes) => {
  const { answers } = await rawExchange(beckon.url, Buffer.from(bytes));
  expect(answers.map(({ headers }) => headers.get("beckon-request-id"))).toEqual([
    expect.stringMatching(form),
  ]);
});

test("requests on one connection have an id each, the one that cannot be read too", async () => {
  const ok = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const withoutHost = "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n";
  const { answers } = await rawExchange(beckon.url, Buffer.from(`${ok}${ok}${withoutHost}`));
  const ids = answers.map(({ headers }) => headers.get("beckon-request-id"));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 400]);
  expect(ids).toEqual(answers.map(() => expect.stringMatching(form)));
  expect(new Set(ids).size).toBe(answers.length);
});

test("a stream has a request id", async () => {
  const stream = await openStream(`${beckon.url}/api/public/runs/${invoked.run_id}/events`, {
    credential: beckon.key,
  });
  expect(stream.headers["beckon-request-id"]).toMatch(form);
  stream.close();
});

test("the text of an internal error has the request id", async () => {
  const { engine } = beckon.db.database;
  await engine.query("alter table audit rename to audit_away");
  try {
    const { status, body, headers } = await beckon.call("/agents", {
      body: { name: "Test", model: "demo/echo" },
    });
    expect(status).toBe(500);
    expect(body.error).toContain(`Request id: ${headers.get("beckon-request-id")}.`);
  } finally {
    await engine.query("alter table audit_away rename to audit");
  }
});

test("a page of another site can read the id of its fire", async () => {
  const { headers } = await beckon.call(trigger.url, {
    credential: null,
    body: "Hello",
    headers: { origin: "https://forms.example.com" },
  });
  expect(headers.get("access-control-expose-headers")).toContain("beckon-request-id");
});
