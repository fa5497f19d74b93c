import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { repeatUnavailable } from "../../test/repeat-unavailable.ts";

const beckon = await startTestBeckon();

async function rotate(agentId: string, body?: unknown): Promise<string> {
  const response = await repeatUnavailable(() =>
    beckon.call(`/agents/${agentId}/token/rotate`, { method: "POST", body }),
  );
  expect(response.body).toEqual({
    ok: true,
    data: { token: expect.stringMatching(/^bka_[\w-]{48}$/) },
  });
  return response.body.data.token;
}
const works = async (id: string, token: string) =>
  (await beckon.invoke({ id, token }, "Hello")).status;

async function recorded(
  action: string,
  target: string,
): Promise<{ actor: string; data: unknown }[]> {
  const { rows } = await beckon.db.database.engine.query(
    "select actor, data from audit where action = $1 and target = $2",
    [action, target],
  );
  return rows;
}

describe("rotating a token", () => {
  test("issues a new token and revokes the old one at once", async () => {
    const { id, token: old } = await beckon.createAgent();
    const token = await rotate(id);
    expect(token).not.toBe(old);
    expect([await works(id, token), await works(id, old)]).toEqual([200, 401]);
  });

  test("with a grace period keeps the old token valid", async () => {
    const { id, token: old } = await beckon.createAgent();
    const token = await rotate(id, { grace_seconds: 60 });
    expect([await works(id, token), await works(id, old)]).toEqual([200, 200]);
  });

  test("keeps at most one previous token", async () => {
    const { id, token: first } = await beckon.createAgent();
    const second = await rotate(id, { grace_seconds: 60 });
    const third = await rotate(id, { grace_seconds: 60 });
    expect([await works(id, first), await works(id, second), await works(id, third)]).toEqual([
      401, 200, 200,
    ]);
  });

  test("without a grace period also revokes a token in its grace period", async () => {
    const { id, token: first } = await beckon.createAgent();
    const second = await rotate(id, { grace_seconds: 60 });
    const third = await rotate(id);
    expect([await works(id, first), await works(id, second), await works(id, third)]).toEqual([
      401, 401, 200,
    ]);
  });

  test.each([-1, 604_801, 1.5, "60", null])(
    "with a grace period of %j is rejected and keeps the token",
    async (grace_seconds) => {
      const { id, token } = await beckon.createAgent();
      const response = await beckon.call(`/agents/${id}/token/rotate`, { body: { grace_seconds } });
      expectError(response, 400, "bad_request", /grace_seconds/);
      expect(await works(id, token)).toBe(200);
    },
  );

  test("a hundred times concurrently leaves one valid token", async () => {
    const { id, token: old } = await beckon.createAgent();
    const tokens = await Promise.all(Array.from({ length: 100 }, () => rotate(id)));
    expect(new Set(tokens).size).toBe(100);
    const statuses = await Promise.all([old, ...tokens].map((token) => works(id, token)));
    expect(statuses.filter((status) => status === 200).length).toBe(1);
    expect((await beckon.call(`/agents/${id}/token`)).body.data.token).toBe(
      tokens[statuses.indexOf(200) - 1],
    );
  });

  test("a hundred times concurrently with a grace period leaves two valid tokens", async () => {
    const { id } = await beckon.createAgent();
    const tokens = await Promise.all(
      Array.from({ length: 100 }, () => rotate(id, { grace_seconds: 60 })),
    );
    const statuses = await Promise.all(tokens.map((token) => works(id, token)));
    expect(statuses.filter((status) => status === 200).length).toBe(2);
  });

  test("does not affect other agents' tokens", async () => {
    const [one, other] = [await beckon.createAgent(), await beckon.createAgent()];
    await rotate(one.id);
    expect(await works(other.id, other.token)).toBe(200);
  });

  test("works for a paused agent", async () => {
    const { id } = await beckon.createAgent();
    await beckon.call(`/agents/${id}/pause`, { method: "POST" });
    await rotate(id);
  });
});

describe("revealing a token", () => {
  const reveal = (id: string) => beckon.call(`/agents/${id}/token`);

  test("returns the valid token", async () => {
    const { id, token } = await beckon.createAgent();
    const { status, body } = await reveal(id);
    expect([status, body]).toEqual([200, { ok: true, data: { token } }]);
  });

  test("returns the new token after a rotation, also in the grace period of the old one", async () => {
    const { id } = await beckon.createAgent();
    const token = await rotate(id, { grace_seconds: 60 });
    expect((await reveal(id)).body.data.token).toBe(token);
  });

  test("is in the audit log each time, without the token", async () => {
    const { id, token } = await beckon.createAgent();
    await reveal(id);
    await reveal(id);
    const records = await recorded("agent.token.reveal", id);
    expect(records.map(({ actor }) => actor)).toEqual([
      expect.stringMatching(/^key:key_/),
      expect.stringMatching(/^key:key_/),
    ]);
    expect(JSON.stringify(records)).not.toContain(token);
  });

  test("of a ciphertext copied from another agent fails and says what to do", async () => {
    const [one, other] = [await beckon.createAgent(), await beckon.createAgent()];
    await beckon.db.database.engine.query(
      "update tokens t set sealed = o.sealed from tokens o where t.agent_id = $1 and o.agent_id = $2",
      [one.id, other.id],
    );
    expectError(await reveal(one.id), 409, "secret_unreadable", /rotate/);
    expect(await works(one.id, one.token)).toBe(200);
  });

  test("that fails is not in the audit log", async () => {
    const { id, token } = await beckon.createAgent();
    expectError(await beckon.call(`/agents/${id}/token`, { credential: token }), 403, "forbidden");
    expect(await recorded("agent.token.reveal", id)).toEqual([]);
  });
});

describe("revoking a token", () => {
  const revoke = (id: string) => beckon.call(`/agents/${id}/token`, { method: "DELETE" });

  test("returns 204, and the token is rejected", async () => {
    const { id, token } = await beckon.createAgent();
    expect((await revoke(id)).status).toBe(204);
    expect(await works(id, token)).toBe(401);
  });

  test("also revokes a token in its grace period", async () => {
    const { id, token: old } = await beckon.createAgent();
    const token = await rotate(id, { grace_seconds: 60 });
    await revoke(id);
    expect([await works(id, token), await works(id, old)]).toEqual([401, 401]);
  });

  test("leaves nothing to reveal, and the error says how to issue a new token", async () => {
    const { id } = await beckon.createAgent();
    await revoke(id);
    expectError(await beckon.call(`/agents/${id}/token`), 404, "not_found", /[Rr]otate/);
  });

  test("twice has no further effect", async () => {
    const { id } = await beckon.createAgent();
    await revoke(id);
    expect((await revoke(id)).status).toBe(204);
    expect((await recorded("agent.token.revoke", id)).length).toBe(1);
  });

  test("is followed by a rotation that issues a new token", async () => {
    const { id, token: old } = await beckon.createAgent();
    await revoke(id);
    const token = await rotate(id, { grace_seconds: 60 });
    expect([await works(id, token), await works(id, old)]).toEqual([200, 401]);
  });

  test("does not affect the agent's triggers", async () => {
    const { id } = await beckon.createAgent();
    const { url } = await beckon.createTrigger(id);
    await revoke(id);
    expect((await beckon.call(url, { credential: null, body: "Hello" })).status).toBe(200);
  });
});
