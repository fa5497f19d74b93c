import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { insertKey } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();

async function made(body: Record<string, unknown> = {}) {
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id, body);
  return { agent, ...trigger, path: `/agents/${agent.id}/triggers/${trigger.id}/test` };
}
const send = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
  beckon.call(path, { method: "POST", headers, ...(body === undefined ? {} : { body }) });
const countOf = async (agentId: string): Promise<number> =>
  (await beckon.call(`/agents/${agentId}/runs`)).body.data.length;

describe("a test of a trigger", () => {
  test("starts a run of the trigger without a reveal of its URL", async () => {
    const { agent, id, path } = await made({ prompt_prefix: "A payment:" });
    const { status, headers, body } = await send(path, { payload: { amount: 5 } });
    expect(status).toBe(201);
    expect(headers.get("location")).toBe(`/api/public/runs/${body.data.id}`);
    expect(body.data).toMatchObject({
      agent_id: agent.id,
      source: "trigger",
      trigger_id: id,
      retry_of: null,
      input: 'A payment:\n\n{"amount":5}',
    });
    await eventually("the end of the run", async () => {
      const run = (await beckon.call(`/runs/${body.data.id}`)).body.data;
      return run.status === "succeeded" ? run : undefined;
    });
    const { body: log } = await beckon.call(`/audit?target=${body.data.id}`);
    expect(log.data).toMatchObject([{ action: "trigger.test", data: { trigger_id: id } }]);
    expect((await beckon.call(`/audit?target=${id}&action=trigger.reveal`)).body.data).toEqual([]);
  });

  test.each([
    ["text", "the mail", undefined],
    ["empty text", "", undefined],
    ["JSON as text", '{"amount": 1.00}', "application/json"],
    ["a form", "a=1&b=2&a=3", "application/x-www-form-urlencoded"],
    ["JSON", [1, { two: null }], undefined],
    ["null", null, undefined],
  ])("has the input that a fire would have: %s", async (_, payload, content_type) => {
    const { path, url } = await made({ prompt_prefix: "Do:" });
    const tested = await send(path, { payload, content_type });
    const isText = typeof payload === "string";
    const type = content_type ?? (isText ? "text/plain" : "application/json");
    const fired = await beckon.call(url, {
      method: "POST",
      credential: null,
      body: Buffer.from(isText ? payload : JSON.stringify(payload)),
      headers: { "content-type": type },
    });
    const { input } = (await beckon.call(`/runs/${fired.body.run_id}`)).body.data;
    expect([tested.status, tested.body.data?.input]).toEqual([201, input]);
  });

  test("rejects a large integer outside of the payload with the error of other numbers", async () => {
    const { path } = await made();
    const send = (to: string, body: string) =>
      beckon.call(to, { body, headers: { "content-type": "application/json" } });
    expectError(
      await send(path, '{"request":12345678901234567890}'),
      400,
      "bad_request",
      /^request must be a JSON object\.$/,
    );
    expectError(
      await send(
        path.replace(/test$/, "preview"),
        '{"request":{"payload":1},"receiving":{"max_per_minute":12345678901234567890}}',
      ),
      400,
      "bad_request",
      /^receiving\.max_per_minute must be at most/,
    );
  });

  test("accepts a large integer in the 32nd level of the payload", async () => {
    const { path } = await made();
    const payload = `${"[".repeat(32)}12345678901234567890${"]".repeat(32)}`;
    const { status, body } = await beckon.call(path, {
      body: `{"payload":${payload}}`,
      headers: { "content-type": "application/json" },
    });
    expect([status, body.data?.input]).toEqual([201, payload]);
  });

  test("keeps integers that JavaScript cannot represent, as a fire does", async () => {
    const payload = '{"order":1234567890123456789}';
    const request = `{"request":{"payload":${payload}}}`;
    const send = (to: string, body: string) =>
      beckon.call(to, { body, headers: { "content-type": "application/json" } });
    const plain = await made();
    const mapped = await made({ receiving: {} });
    for (const { path } of [plain, mapped]) {
      const tested = await send(path, `{"payload":${payload}}`);
      expect([tested.status, tested.body.data?.input]).toEqual([201, payload]);
    }
    const preview = await send(mapped.path.replace(/test$/, "preview"), request);
    expect([preview.status, JSON.stringify(preview.body)]).toEqual([
      200,
      expect.stringContaining("1234567890123456789"),
    ]);
  });

  test("with a received form has the files of the form", async () => {
    const { agent, id, path, url } = await made({ receiving: { bodies: { multipart: true } } });
    const form = new FormData();
    form.append("file", new File(["a,b"], "a.csv", { type: "text/csv" }));
    const fired = await fetch(url, { method: "POST", body: form });
    expect(fired.status).toBe(200);
    const { body: stored } = await beckon.call(`/agents/${agent.id}/triggers/${id}/requests`);
    const tested = await send(path, { request: { request_id: stored.data[0].id } });
    expect(tested.status).toBe(201);
    const { id: runId, input } = tested.body.data;
    const [artifactId] = /art_\w+/.exec(input) ?? [];
    const file = await fetch(`${beckon.url}/api/public/runs/${runId}/artifacts/${artifactId}`, {
      headers: { "x-api-key": beckon.key },
    });
    expect([file.status, await file.text()]).toEqual([200, "a,b"]);
  });

  test("needs a payload only if the trigger has no prompt prefix", async () => {
    expect((await send((await made({ prompt_prefix: "Do your work." })).path)).status).toBe(201);
    expectError(await send((await made()).path), 400, "bad_request", /empty/);
  });

  test("is repeated by an Idempotency-Key, even if the trigger was disabled meanwhile", async () => {
    const { agent, id, path } = await made();
    const key = { "idempotency-key": "test-1" };
    const first = await send(path, { payload: "Hello" }, key);
    await beckon.call(`/agents/${agent.id}/triggers/${id}`, {
      method: "PATCH",
      body: { enabled: false },
    });
    const again = await send(path, { payload: "Hello" }, key);
    expect(again.body.data.id).toBe(first.body.data.id);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expectError(await send(path, { payload: "Other" }, key), 422, "idempotency_mismatch");
    expect(await countOf(agent.id)).toBe(1);
  });
});

describe("a test of a trigger is rejected", () => {
  test("if the trigger is disabled, the agent is paused, or both", async () => {
    const { agent, path } = await made({ enabled: false });
    expectError(await send(path, { payload: "Hello" }), 409, "trigger_disabled");
    await beckon.call(`/agents/${agent.id}/pause`, { method: "POST" });
    expectError(await send(path, { payload: "Hello" }), 409, "agent_paused");
    expect(await countOf(agent.id)).toBe(0);
  });

  test("if the trigger is deleted, or another agent's", async () => {
    const { agent, id, path } = await made();
    const other = await beckon.createAgent();
    expectError(await send(`/agents/${other.id}/triggers/${id}/test`), 404, "not_found");
    await beckon.call(`/agents/${agent.id}/triggers/${id}`, { method: "DELETE" });
    expectError(await send(path, { payload: "Hello" }), 404, "not_found");
  });

  test.each([["triggers:write"], ["agents:invoke"]])("with only the scope %s", async (scope) => {
    const { path } = await made();
    const credential = await insertKey(beckon, { scopes: [scope, "triggers:read"] });
    const missing = scope === "triggers:write" ? /agents:invoke/ : /triggers:write/;
    expectError(
      await beckon.call(path, { credential, body: { payload: "Hello" } }),
      403,
      "forbidden",
      missing,
    );
  });

  test.each([
    ["a type that a fire rejects", { payload: "x", content_type: "image/png" }, 415],
    ["JSON that is none", { payload: "{", content_type: "application/json" }, 400],
    ["an unknown field", { body: "Hello" }, 400],
    ["a NUL", { payload: "a\0b" }, 400],
    ["an empty content type", { payload: "x", content_type: "" }, 400],
    ["a content type that is no text", { payload: "x", content_type: 1 }, 400],
  ])("with %s", async (_, body, status) => {
    const { agent, path } = await made();
    expectError(
      await send(path, body),
      status,
      status === 415 ? "unsupported_type" : "bad_request",
    );
    expect(await countOf(agent.id)).toBe(0);
  });

  test("with JSON that is nested too deeply", async () => {
    const { path } = await made();
    const body = `{"payload": ${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    const answer = await send(path, body, { "content-type": "application/json" });
    expectError(answer, 400, "bad_request", /32 levels/);
  });
});
