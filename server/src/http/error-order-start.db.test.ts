import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { insertKey } from "../../test/workspace-key.ts";

/**
 * Each request has two errors that are adjacent in the API's order of errors: method, credential,
 * scope, resource, idempotency, paused or disabled, body, queue limit. The response must be the
 * first of the two.
 */

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const unscoped = await insertKey(beckon, { scopes: ["agents:read"] });
const invoker = await insertKey(beckon, { scopes: ["agents:invoke"] });
const tooLarge = "x".repeat(1_048_577);
const unknownAgent = "agt_00000000000000000000000000";

interface Request {
  readonly credential: string | null;
  readonly body: string;
  readonly key?: string;
}

const invoke = (agentId: string, { credential, body, key }: Request) =>
  beckon.call(`/agents/${agentId}/invoke`, {
    credential,
    body,
    headers: key === undefined ? {} : { "idempotency-key": key },
  });
const fire = (
  url: string,
  { body, key, type = "text/plain" }: Omit<Request, "credential"> & { type?: string },
) =>
  beckon.call(url, {
    credential: null,
    method: "POST",
    body,
    headers: { "content-type": type, ...(key === undefined ? {} : { "idempotency-key": key }) },
  });

/**
 * @param known Whether the server has cached the agent's token. With a cached token, it reads the
 *   body of a request without querying the token in the database first.
 */
async function pausedAgent(known: boolean) {
  const made = await beckon.createAgent();
  if (known) await beckon.invoke(made, "Hello", { "idempotency-key": "used" });
  await beckon.call(`/agents/${made.id}/pause`, { method: "POST" });
  return made;
}

async function disabledTrigger(known: boolean) {
  const made = await beckon.createTrigger(agent.id);
  if (known) await fire(made.url, { body: "Hello", key: "used" });
  await beckon.call(`/agents/${agent.id}/triggers/${made.id}`, {
    method: "PATCH",
    body: { enabled: false },
  });
  return made.url;
}

describe("invoke", () => {
  test("checks the method before the credential", async () => {
    expectError(
      await beckon.call(`/agents/${agent.id}/invoke`, { method: "GET", credential: null }),
      405,
      "method_not_allowed",
    );
  });

  test("checks the credential before the resource", async () => {
    expectError(
      await invoke(unknownAgent, { credential: "junk", body: '{"input":"Hello"}' }),
      401,
      "unauthorized",
    );
  });

  test("checks the credential before the body's size", async () => {
    expectError(await invoke(agent.id, { credential: null, body: tooLarge }), 401, "unauthorized");
  });

  test("checks the scope before the resource", async () => {
    expectError(
      await invoke(unknownAgent, { credential: unscoped, body: '{"input":"Hello"}' }),
      403,
      "forbidden",
      /agents:invoke/,
    );
  });

  test("checks the scope before a reused key", async () => {
    await invoke(agent.id, { credential: agent.token, body: '{"input":"Hello"}', key: "scope" });
    expectError(
      await invoke(agent.id, { credential: unscoped, body: '{"input":"Hello"}', key: "scope" }),
      403,
      "forbidden",
    );
  });

  test("checks the resource before the key", async () => {
    expectError(
      await invoke(unknownAgent, {
        credential: invoker,
        body: '{"input":"Hello"}',
        key: "x".repeat(256),
      }),
      404,
      "not_found",
    );
  });

  test("checks the resource before the body's size", async () => {
    expectError(
      await invoke(unknownAgent, { credential: invoker, body: tooLarge, key: "large" }),
      404,
      "not_found",
    );
  });

  describe.each([
    ["a cached credential", true],
    ["a new credential", false],
  ])("with %s", (_, known) => {
    test("checks an unusable key before the pause", async () => {
      const { id, token } = await pausedAgent(known);
      const answer = await invoke(id, {
        credential: token,
        body: '{"input":"Hello"}',
        key: "x".repeat(256),
      });
      expectError(answer, 400, "bad_request", /Idempotency-Key/);
    });

    test("checks the size of a body with a key before the pause", async () => {
      const { id, token } = await pausedAgent(known);
      expectError(
        await invoke(id, { credential: token, body: tooLarge, key: "large" }),
        413,
        "too_large",
      );
    });

    test("checks the pause before the size of a body without a key", async () => {
      const { id, token } = await pausedAgent(known);
      expectError(await invoke(id, { credential: token, body: tooLarge }), 409, "agent_paused");
    });

    test("checks the pause before the body", async () => {
      const { id, token } = await pausedAgent(known);
      expectError(await invoke(id, { credential: token, body: "no JSON" }), 409, "agent_paused");
    });

    test("checks the pause before the body with a new key", async () => {
      const { id, token } = await pausedAgent(known);
      expectError(
        await invoke(id, { credential: token, body: "no JSON", key: "new" }),
        409,
        "agent_paused",
      );
    });
  });

  test("checks a key that was used with another body before the pause", async () => {
    const { id, token } = await pausedAgent(true);
    expectError(
      await invoke(id, { credential: token, body: '{"input":"Other"}', key: "used" }),
      422,
      "idempotency_mismatch",
    );
  });

  test("checks a key that was used with another body before that body", async () => {
    const made = await beckon.createAgent();
    await beckon.invoke(made, "Hello", { "idempotency-key": "used" });
    expectError(
      await invoke(made.id, { credential: made.token, body: "no JSON", key: "used" }),
      422,
      "idempotency_mismatch",
    );
  });

  test("checks the body before the queue limit", async () => {
    const { id, token } = await busyAgent();
    expectError(await invoke(id, { credential: token, body: '{"input":""}' }), 400, "bad_request");
  });
});

/** Creates an agent whose only executing run does not finish, and fills its queue. */
async function busyAgent() {
  const held = await startHeldModel(beckon);
  const made = await beckon.createAgent({
    model: held.model,
    limits: { max_concurrent_runs: 1, max_queued_runs: 1 },
  });
  const async = { prefer: "respond-async" };
  await beckon.invoke(made, "executing", async);
  await held.reached(1);
  await beckon.invoke(made, "queued", async);
  expectError(await beckon.invoke(made, "one more", async), 429, "agent_busy");
  return made;
}

describe("fire", () => {
  test("checks the method before the credential", async () => {
    const answer = await beckon.call(`${beckon.url}/api/public/triggers/junk`, {
      method: "PUT",
      credential: null,
      body: "Hello",
    });
    expectError(answer, 405, "method_not_allowed");
  });

  test("checks the credential before the body's type", async () => {
    expectError(
      await fire(`${beckon.url}/api/public/triggers/junk`, { body: "Hello", type: "image/png" }),
      401,
      "unauthorized",
    );
  });

  test("checks the credential before the body's size", async () => {
    expectError(
      await fire(`${beckon.url}/api/public/triggers/junk`, { body: tooLarge }),
      401,
      "unauthorized",
    );
  });

  describe.each([
    ["a cached trigger", true],
    ["a new trigger", false],
  ])("of %s", (_, known) => {
    test("checks an unusable key before the disabled trigger", async () => {
      expectError(
        await fire(await disabledTrigger(known), { body: "Hello", key: "" }),
        400,
        "bad_request",
        /Idempotency-Key/,
      );
    });

    test("checks the size of a body with a key before the disabled trigger", async () => {
      expectError(
        await fire(await disabledTrigger(known), { body: tooLarge, key: "large" }),
        413,
        "too_large",
      );
    });

    test("checks the disabled trigger before the body's size", async () => {
      expectError(
        await fire(await disabledTrigger(known), { body: tooLarge }),
        409,
        "trigger_disabled",
      );
    });

    test("checks the disabled trigger before the content type", async () => {
      expectError(
        await fire(await disabledTrigger(known), { body: "Hello", type: "image/png" }),
        409,
        "trigger_disabled",
      );
    });

    test("checks the disabled trigger before an empty body", async () => {
      expectError(await fire(await disabledTrigger(known), { body: "" }), 409, "trigger_disabled");
    });
  });

  test("checks a key that was used with another body before the disabled trigger", async () => {
    expectError(
      await fire(await disabledTrigger(true), { body: "Other", key: "used" }),
      422,
      "idempotency_mismatch",
    );
  });

  test("checks the pause of the agent before the body", async () => {
    const { id } = await pausedAgent(false);
    const { url } = await beckon.createTrigger(id);
    expectError(await fire(url, { body: "Hello", type: "image/png" }), 409, "agent_paused");
  });

  test("checks the body before the queue limit", async () => {
    const { url } = await beckon.createTrigger((await busyAgent()).id);
    expectError(await fire(url, { body: "Hello", type: "image/png" }), 415, "unsupported_type");
  });

  test("checks an empty body before the queue limit", async () => {
    const { url } = await beckon.createTrigger((await busyAgent()).id);
    expectError(await fire(url, { body: "" }), 400, "bad_request");
  });
});

test("a rejected request creates no run", async () => {
  const { id, token } = await pausedAgent(false);
  await invoke(id, { credential: token, body: '{"input":"Hello"}', key: "k" });
  expect((await beckon.call(`/agents/${id}/runs`)).body.data).toEqual([]);
});
