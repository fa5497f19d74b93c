import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { rawRequest } from "../../test/raw-request.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);
const limit = 1_048_576;

/** Returns a valid JSON body of `size` bytes for invoke. */
const inputOf = (size: number) => `{"input":"${"x".repeat(size - 12)}"}`;

/** Returns a valid body of `size` bytes for `POST /agents`, filled with trailing spaces. */
const agentOf = (size: number) => `{"name":"Test","model":"demo/echo"}`.padEnd(size);

const endpoints = {
  invoke: (body: string) =>
    beckon.call(`/agents/${agent.id}/invoke`, { credential: agent.token, body }),
  fire: (body: string) => beckon.call(trigger.url, { credential: null, body }),
  "the management API": (body: string) =>
    beckon.call("/agents", { body, headers: { "content-type": "application/json" } }),
};

test("invoke accepts a body of 1 MiB", async () => {
  const { status, body } = await endpoints.invoke(inputOf(limit));
  expect([status, body.output.length]).toEqual([200, limit - 12]);
});

test("fire accepts a body of 1 MiB and passes all of it to the run", async () => {
  const { status, body } = await endpoints.fire("x".repeat(limit));
  expect(status).toBe(200);
  expect((await beckon.call(`/runs/${body.run_id}`)).body.data.input.length).toBe(limit);
});

test("the management API accepts a body of 1 MiB", async () => {
  expect((await endpoints["the management API"](agentOf(limit))).status).toBe(201);
});

describe.each(["invoke", "fire", "the management API"] as const)("%s", (endpoint) => {
  test.each([limit + 1, 2 * limit, 20 * limit])(
    "rejects a body of %d bytes with 413",
    async (size) => {
      expectError(await endpoints[endpoint]("x".repeat(size)), 413, "too_large", /1 MiB/);
    },
  );

  test("accepts the next request after it has rejected a body", async () => {
    await endpoints[endpoint]("x".repeat(5 * limit));
    expect((await beckon.call("/agents?limit=1")).status).toBe(200);
  });
});

test("bytes count, not characters", async () => {
  expectError(await endpoints.fire("é".repeat(limit / 2 + 1)), 413, "too_large");
});

test("a body without a declared length is rejected as soon as it is too large", async () => {
  const answer = await rawRequest(trigger.url, {
    method: "POST",
    headers: ["content-type", "text/plain"],
    pieces: Array.from({ length: 20 }, () => Buffer.alloc(100_000, "x")),
  });
  expectError(answer, 413, "too_large");
});

test("a body without a declared length is accepted up to 1 MiB", async () => {
  const pieces = Array.from({ length: 64 }, () => Buffer.alloc(limit / 64, "x"));
  const { status } = await rawRequest(trigger.url, {
    method: "POST",
    headers: ["content-type", "text/plain"],
    pieces,
  });
  expect(status).toBe(200);
});

test("a route about accounts accepts a body of 16 KiB", async () => {
  const body = '{"token":"bks_unknown"}'.padEnd(16 * 1_024);
  const headers = { "content-type": "application/json" };
  const response = await beckon.call("/setup/check", { credential: null, body, headers });
  expectError(response, 401, "unauthorized");
});

test.each([
  ["with a declared length", ["content-length", String(16 * 1_024 + 1)]],
  ["without a declared length", []],
])("a route about accounts rejects a larger body %s", async (_, length) => {
  const response = await rawRequest(`${beckon.url}/api/public/sign-in`, {
    method: "POST",
    headers: ["content-type", "application/json", ...length],
    pieces: [" ".repeat(8 * 1_024), " ".repeat(8 * 1_024), " "],
  });
  expectError(response, 413, "too_large", /16,384 bytes\. Send less\.$/);
});

test("a rejected body starts no run", async () => {
  const other = await beckon.createAgent();
  await beckon.invoke(other, "x".repeat(limit));
  expect((await beckon.call(`/agents/${other.id}/runs`)).body.data).toEqual([]);
});

describe("the management API", () => {
  const send = (type: string | undefined, path = "/agents") =>
    beckon.call(path, {
      body: Buffer.from('{"name":"Test","model":"demo/echo"}'),
      headers: type === undefined ? {} : { "content-type": type },
    });

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "Application/JSON",
    "application/merge-patch+json",
  ])("reads %s", async (type) => {
    expect((await send(type)).status).toBe(201);
  });

  test.each([
    undefined,
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "nonsense",
  ])("rejects the content type %s with 415", async (type) => {
    expectError(await send(type), 415, "unsupported_type", /application\/json/);
  });

  test("rejects a body with a Content-Encoding with 415", async () => {
    const answer = await beckon.call("/agents", {
      body: gzipSync('{"name":"Test","model":"demo/echo"}'),
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
    });
    expectError(answer, 415, "unsupported_type", /Content-Encoding/);
  });

  test("requires no content type without a body", async () => {
    const { status } = await beckon.call(`/agents/${(await beckon.createAgent()).id}/pause`, {
      method: "POST",
    });
    expect(status).toBe(200);
  });

  test.each([
    ["does not parse", '{"name":'],
    ["contains a NUL byte", Buffer.from('{"name":"a\0"}')],
    ["is not UTF-8", Buffer.from([0x22, 0xff, 0x22])],
    ["is a list", "[]"],
    ["is null", "null"],
    ["is empty", ""],
  ])("rejects a body that %s with 400", async (_, body) => {
    expectError(
      await beckon.call("/agents", {
        method: "POST",
        body,
        headers: { "content-type": "application/json" },
      }),
      400,
      "bad_request",
    );
  });
});
