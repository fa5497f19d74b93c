import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";

let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
const requests: IncomingMessage[] = [];
const server = createServer((request, response) => {
  requests.push(request);
  answer(request, response);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests.length = 0;
});

const beckon = await startTestBeckon({ BECKON_EGRESS_ALLOW: new URL(root).host });
const apiKey = "a-key-of-the-test-0123456789";
let made = 0;
async function providerOf(kind: string, more: object = {}): Promise<string> {
  const body = { name: `p${++made}`, kind, base_url: `${root}/v1`, api_key: apiKey, ...more };
  const { status, body: created } = await beckon.call("/providers", { body });
  expect(status).toBe(201);
  return created.data.id;
}
const check = (id: string, credential = beckon.key) =>
  beckon.call(`/providers/${id}/check`, { method: "POST", credential });
const says = (status: number, body: unknown) => {
  answer = (_request, response) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
};

describe("POST /providers/:provider_id/check", () => {
  test.each([
    [
      "openai",
      "/v1/models",
      "authorization",
      `Bearer ${apiKey}`,
      { data: [{ id: "gpt-5" }, { id: "gpt-5-mini" }] },
    ],
    [
      "openai-chat",
      "/v1/models",
      "authorization",
      `Bearer ${apiKey}`,
      { data: [{ id: "gpt-5" }, { id: "gpt-5-mini" }] },
    ],
    [
      "openai-compatible",
      "/v1/models",
      "authorization",
      `Bearer ${apiKey}`,
      { data: [{ id: "gpt-5" }, { id: "gpt-5-mini" }] },
    ],
    [
      "anthropic",
      "/v1/models?limit=1000",
      "x-api-key",
      apiKey,
      { data: [{ id: "gpt-5" }, { id: "gpt-5-mini" }] },
    ],
    [
      "google",
      "/v1/models?pageSize=1000",
      "x-goog-api-key",
      apiKey,
      {
        models: [
          { name: "models/gpt-5", supportedGenerationMethods: ["generateContent"] },
          { name: "models/an-embedder", supportedGenerationMethods: ["embedContent"] },
          { name: "models/gpt-5-mini" },
        ],
      },
    ],
  ])("lists the models of %s", async (kind, path, header, value, list) => {
    says(200, list);
    const { status, body } = await check(await providerOf(kind));
    expect({ status, body }).toEqual({
      status: 200,
      body: { ok: true, data: { works: true, models: ["gpt-5", "gpt-5-mini"], error: null } },
    });
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([`GET ${path}`]);
    expect(requests[0]?.headers[header]).toBe(value);
  });

  test("asks a server without a key for nothing but its list", async () => {
    // Together AI sends an array.
    says(200, [{ id: "gpt-5" }]);
    const id = await providerOf("openai-compatible", {
      api_key: undefined,
      base_url: `${root}/v1/`,
    });
    const { data } = (await check(id)).body;
    expect(data).toEqual({ works: true, models: ["gpt-5"], error: null });
    expect(requests[0]?.headers).not.toHaveProperty("authorization");
    expect(requests[0]?.url).toBe("/v1/models");
  });

  test.each([
    ["google", "gemini-2.5-flash"],
    ["vllm", "models/gemini-2.5-flash"],
  ])("lists models/gemini-2.5-flash, owned by %s, as %s", async (owned_by, name) => {
    says(200, { data: [{ id: "models/gemini-2.5-flash", object: "model", owned_by }] });
    const { data } = (await check(await providerOf("openai-compatible"))).body;
    expect(data.models).toEqual([name]);
  });

  test.each([
    [400, /rejects the key/],
    [400, /rejects the request/, "unknown parameter"],
    [401, /rejects the key/],
    [403, /rejects the key/],
    [404, /does not list its models .*base URL is right/],
    [405, /does not list its models .*base URL is right/],
    [501, /does not list its models .*base URL is right/],
    [500, /answered 500/],
    [302, /answered 302/],
  ])(
    "says what is wrong when the provider answers %i, without its words and without the key",
    async (status, why, message = `bad API key ${apiKey}`) => {
      says(status, { error: { message } });
      const { body } = await check(await providerOf("openai"));
      expect(body.data).toEqual({ works: false, models: [], error: expect.stringMatching(why) });
      expect(JSON.stringify(body)).not.toContain(apiKey);
    },
  );

  test.each([
    ["a web page", (response: ServerResponse) => response.end("<html>Sign in</html>")],
    ["other JSON", (response: ServerResponse) => response.end('{"data":7}')],
    ["a list without end", (response: ServerResponse) => response.end("x".repeat(5_000_000))],
  ])("does not take %s for a list of models", async (_what, end) => {
    answer = (_request, response) => void end(response);
    expect((await check(await providerOf("openai"))).body.data).toMatchObject({
      works: false,
      error: expect.stringMatching(/not with a list/),
    });
  });

  test("shows at most 1,000 names that could be used, and 40,000 characters of them", async () => {
    const names = [
      "",
      "two words",
      "x".repeat(201),
      "\u0000",
      7,
      ...Array.from({ length: 1_100 }, (_, n) => `model-${n}`),
    ];
    says(200, { data: names.map((id) => ({ id })) });
    const { models } = (await check(await providerOf("openai"))).body.data;
    expect(models).toHaveLength(1_000);
    expect(models[0]).toBe("model-0");
    says(200, { data: names.map((id) => ({ id: `${id}`.padEnd(200, "x") })) });
    expect((await check(await providerOf("openai"))).body.data.models).toHaveLength(200);
  });

  test("says that nobody is there, without the address", async () => {
    const id = await providerOf("openai-compatible", { base_url: "http://127.0.0.1:9/v1" });
    const { data } = (await check(id)).body;
    expect(data).toMatchObject({ works: false, models: [] });
    expect(data.error).not.toContain("127.0.0.1");
  });

  test("is not contradicted by an older result in the list of models", async () => {
    says(500, {});
    const id = await providerOf("openai");
    const listed = async () => {
      const { data } = (await beckon.call("/models?limit=200")).body;
      return data.find((list: { provider_id: string }) => list.provider_id === id);
    };
    expect((await listed()).error).toMatch(/answered 500/);
    says(200, { data: [{ id: "gpt-5" }] });
    expect((await check(id)).body.data.works).toBe(true);
    expect(await listed()).toMatchObject({
      models: [expect.stringMatching(/gpt-5$/)],
      error: null,
    });
  });

  test("says how the operator allows a private address, for a provider that has one already", async () => {
    const id = await providerOf("openai-compatible", { api_key: undefined });
    await beckon.db.database.engine.query("update providers set base_url = $1 where id = $2", [
      "http://127.0.0.1:11434/v1",
      id,
    ]);
    const { data } = (await check(id)).body;
    expect(data).toMatchObject({ works: false, models: [] });
    expect(data.error).toContain("add 127.0.0.1:11434 to BECKON_EGRESS_ALLOW ");
    expect(requests).toHaveLength(0);
  });

  test("is for those who may change providers, and for those of their own workspace", async () => {
    const id = await providerOf("openai");
    expectError(
      await check(id, await insertKey(beckon, { scopes: ["providers:read"] })),
      403,
      "forbidden",
      /providers:write/,
    );
    expectError(await check(id, await insertStranger(beckon)), 404, "not_found");
    expectError(
      await beckon.call(`/providers/${id}/check`, { body: { deep: true } }),
      400,
      "bad_request",
      /deep/,
    );
    expect(requests).toHaveLength(0);
  });
});

describe("what a provider needs", () => {
  test.each([
    [{ kind: "openai-compatible", api_key: apiKey }, /base_url/],
    [{ kind: "openai" }, /api_key/],
    [{ kind: "anthropic" }, /api_key/],
    [{ kind: "google" }, /api_key/],
    [{ kind: "azure", api_key: apiKey }, /kind/],
    [{ kind: "openai", api_key: apiKey, name: "demo" }, /reserved/],
  ])("%j is not enough", async (body, why) => {
    const answered = await beckon.call("/providers", { body: { name: "incomplete", ...body } });
    expect([400, 409]).toContain(answered.status);
    expect(answered.body.error).toMatch(why);
  });

  test("a base URL of one's own can be taken back where the kind has one", async () => {
    const openai = await providerOf("openai");
    const changed = await beckon.call(`/providers/${openai}`, {
      method: "PATCH",
      body: { base_url: null, api_key: apiKey },
    });
    expect(changed.body.data).toMatchObject({
      kind: "openai",
      base_url: null,
      api_key_last4: "6789",
    });
    const compatible = await providerOf("openai-compatible");
    expectError(
      await beckon.call(`/providers/${compatible}`, { method: "PATCH", body: { base_url: null } }),
      400,
      "bad_request",
      /base_url/,
    );
  });
});
