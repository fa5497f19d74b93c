import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson } from "../../test/people.ts";
import { rawRequest } from "../../test/raw-request.ts";
import { insertKey } from "../../test/workspace-key.ts";
import { hashCredential, newCredential } from "../base/secrets/index.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);
const expired = await insertKey(beckon, { expiresIn: -1 });

/** The response for every invalid credential, except for an agent's token at invoke. */
const { body: rejection } = await beckon.call("/agents", { credential: null });

/** The response of invoke for every credential with the prefix of an agent's token. */
const tokenRejection = {
  ...rejection,
  error: `${rejection.error} Or it is the token of another agent: check the agent's id in the URL.`,
};

/** Creates an agent and invokes it, so that the server has cached the agent's token. */
async function invokedAgent() {
  const made = await beckon.createAgent();
  await beckon.invoke(made, "Hello");
  return made;
}

async function firedTrigger() {
  const owner = await beckon.createAgent();
  const made = await beckon.createTrigger(owner.id);
  await beckon.call(made.url, { credential: null, body: "Hello" });
  return { agent: owner, path: `/agents/${owner.id}/triggers/${made.id}`, token: made.token };
}

test("the response for a rejected credential says what to do", async () => {
  expectError(await beckon.call("/agents", { credential: null }), 401, "unauthorized", /valid one/);
});

describe.each([
  [
    "invoke",
    tokenRejection,
    { method: "POST", path: `/agents/${agent.id}/invoke`, body: { input: "Hello" } },
  ],
  ["the management API", rejection, { method: "GET", path: "/agents", body: undefined }],
])("%s", (_, ofToken, { path, ...request }) => {
  test.each([
    ["no credential", null],
    ["an empty one", ""],
    ["junk", "junk"],
    ["junk with the prefix of an agent token", "bka_junk"],
    ["an unknown agent token", newCredential("bka_")],
    [
      "an agent token with a wrong checksum",
      `${agent.token.slice(0, -1)}${agent.token.endsWith("A") ? "B" : "A"}`,
    ],
    ["an agent token with trailing characters", `${agent.token}x`],
    ["an agent token in another case", agent.token.toUpperCase()],
    ["an unknown key", newCredential("bkw_")],
    ["an unknown bootstrap key", "x".repeat(40)],
    ["the bootstrap key, truncated", beckon.key.slice(0, -1)],
    ["a trigger's token", trigger.token],
    ["an expired key", expired],
  ])("rejects %s with the same response", async (__, credential) => {
    const { status, body } = await beckon.call(path, { ...request, credential });
    const isToken = credential?.startsWith("bka_");
    expect([status, body]).toEqual([401, isToken ? ofToken : rejection]);
  });

  test("accepts credentials only in their header", async () => {
    const { status } = await beckon.call(`${path}?x-api-key=${beckon.key}&api_key=${beckon.key}`, {
      ...request,
      credential: null,
      headers: { authorization: `Bearer ${beckon.key}`, cookie: `x-api-key=${beckon.key}` },
    });
    expect(status).toBe(401);
  });

  test("rejects more than one credential", async () => {
    const { status, body } = await rawRequest(`${beckon.url}/api/public${path}`, {
      method: request.method,
      headers: ["x-api-key", beckon.key, "x-api-key", beckon.key],
      ...(request.body === undefined ? {} : { pieces: [JSON.stringify(request.body)] }),
    });
    expect([status, body]).toEqual([401, rejection]);
  });
});

describe("an agent token is rejected", () => {
  const invoke = async (path: string, token: string) => {
    const { status, body } = await beckon.call(path, {
      credential: token,
      body: { input: "Hello" },
    });
    return [status, body];
  };

  test("at another agent", async () => {
    const other = await beckon.createAgent();
    expect(await invoke(`/agents/${other.id}/invoke`, agent.token)).toEqual([401, tokenRejection]);
  });

  test.each(["agt_00000000000000000000000000", "unknown", "%00", "%F0%9F%91%8B"])(
    "at the unknown agent %s",
    async (id) => {
      expect(await invoke(`/agents/${id}/invoke`, agent.token)).toEqual([401, tokenRejection]);
    },
  );

  test("after it was rotated", async () => {
    const made = await invokedAgent();
    await beckon.call(`/agents/${made.id}/token/rotate`, { method: "POST" });
    expect(await invoke(`/agents/${made.id}/invoke`, made.token)).toEqual([401, tokenRejection]);
  });

  test("after its grace period has ended", async () => {
    const made = await invokedAgent();
    await beckon.call(`/agents/${made.id}/token/rotate`, { body: { grace_seconds: 60 } });
    await beckon.db.database.engine.query("update tokens set expires_at = now() where hash = $1", [
      hashCredential(made.token),
    ]);
    expect(await invoke(`/agents/${made.id}/invoke`, made.token)).toEqual([401, tokenRejection]);
  });

  test("after it was revoked", async () => {
    const made = await invokedAgent();
    await beckon.call(`/agents/${made.id}/token`, { method: "DELETE" });
    expect(await invoke(`/agents/${made.id}/invoke`, made.token)).toEqual([401, tokenRejection]);
  });

  test("after its agent was deleted", async () => {
    const made = await invokedAgent();
    await beckon.call(`/agents/${made.id}`, { method: "DELETE" });
    expect(await invoke(`/agents/${made.id}/invoke`, made.token)).toEqual([401, tokenRejection]);
    expect((await beckon.call("/runs", { credential: made.token })).status).toBe(401);
  });
});

describe("a fire is rejected with the same response as other requests", () => {
  const fire = async (token: string) => {
    const { status, body } = await beckon.call(`/triggers/${token}`, {
      credential: null,
      body: "Hello",
    });
    return [status, body];
  };

  test.each([
    ["junk", "junk"],
    ["junk with the prefix of a trigger's token", "bkt_junk"],
    ["an unknown token", newCredential("bkt_")],
    ["the token of an agent", agent.token],
    ["the bootstrap key", beckon.key],
    ["a NUL", "%00"],
    ["an invalid escape", "%ff"],
  ])("for %s", async (_, token) => {
    expect(await fire(token)).toEqual([401, rejection]);
  });

  test("after its trigger's token was rotated", async () => {
    const { token, path } = await firedTrigger();
    await beckon.call(`${path}/rotate`, { method: "POST" });
    expect(await fire(token)).toEqual([401, rejection]);
  });

  test("after its trigger was deleted", async () => {
    const { token, path } = await firedTrigger();
    await beckon.call(path, { method: "DELETE" });
    expect(await fire(token)).toEqual([401, rejection]);
  });

  test("after its agent was deleted", async () => {
    const { token, agent: owner } = await firedTrigger();
    await beckon.call(`/agents/${owner.id}`, { method: "DELETE" });
    expect(await fire(token)).toEqual([401, rejection]);
  });
});

describe("Authorization: Bearer", () => {
  const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });

  test.each([
    ["invoke", `/agents/${agent.id}/invoke`, { input: "Hello" }],
    ["the management API", "/agents", undefined],
    ["a person's routes", "/me", undefined],
  ])("alone is answered by %s with 401 and the name of the right header", async (_, path, body) => {
    const answer = await beckon.call(path, {
      credential: null,
      body,
      headers: bearer(agent.token),
    });
    expectError(answer, 401, "unauthorized", /x-api-key/);
  });

  test("alone is told apart from a wrong x-api-key", async () => {
    const without = await beckon.call("/agents", { credential: null, headers: bearer("x") });
    expect(without.body.error).toMatch(/does not read Authorization: Bearer/);
    const wrong = await beckon.call("/agents", { credential: "x", headers: bearer(beckon.key) });
    expect(wrong.body).toEqual(rejection);
  });

  test("is ignored beside an x-api-key", async () => {
    expect((await beckon.call("/agents", { headers: bearer("x") })).status).toBe(200);
    const invoked = await beckon.call(`/agents/${agent.id}/invoke`, {
      credential: agent.token,
      body: { input: "Hello" },
      headers: bearer("x"),
    });
    expect(invoked.status).toBe(200);
  });

  test("is ignored beside a session", async () => {
    const { cookie } = await addPerson(beckon, { role: "viewer" });
    const read = await beckon.call("/agents", {
      credential: null,
      headers: { cookie, ...bearer("x") },
    });
    expect(read.status).toBe(200);
  });

  test("is ignored by a fire", async () => {
    const fire = (url: string) =>
      beckon.call(url, { credential: null, body: "Hello", headers: bearer("x") });
    expect((await fire(trigger.url)).status).toBe(200);
    const unknown = await fire(`${beckon.url}/api/public/triggers/bkt_unknown`);
    expect([unknown.status, unknown.body]).toEqual([401, rejection]);
  });
});
