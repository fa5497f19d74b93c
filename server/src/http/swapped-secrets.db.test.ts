import { describe, expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { insertStranger } from "../../test/workspace-key.ts";

/**
 * An attacker who can write to the database but does not have the master key can move an encrypted
 * value to another row or column. The server must not decrypt it there.
 */

const beckon = await startTestBeckon();
const { engine } = beckon.db.database;

/** An encrypted value: its location, and the request that decrypts it. */
interface Sealed {
  readonly table: string;
  readonly column: string;
  readonly where: string;
  open(): Promise<Answer>;
}

async function make(credential = beckon.key) {
  const call = (path: string, options = {}) => beckon.call(path, { ...options, credential });
  const agent = (await call("/agents", { body: { name: "Test", model: "demo/echo" } })).body.data;
  const trigger = (await call(`/agents/${agent.id}/triggers`, { body: { name: "Test" } })).body
    .data;
  const name = `p-${agent.id.slice(-12).toLowerCase()}`;
  const body = {
    name,
    kind: "openai-compatible",
    base_url: "http://127.0.0.1:9/v1",
    api_key: "sk-0123456789abcdef",
  };
  const provider = (await call("/providers", { body })).body.data;
  const subscription = (
    await call("/subscriptions", {
      body: { url: "http://127.0.0.1:9/events", event_types: ["run.finished"] },
    })
  ).body.data;
  const create = () =>
    call("/agents", {
      body: { name: "Once", model: "demo/echo" },
      headers: { "idempotency-key": agent.id },
    });
  await create();
  const tokens = { table: "tokens", column: "sealed" };
  return {
    agent,
    call,
    token: {
      ...tokens,
      where: `agent_id = '${agent.id}' and trigger_id is null and expires_at is null`,
      open: () => call(`/agents/${agent.id}/token`),
    },
    trigger: {
      ...tokens,
      where: `trigger_id = '${trigger.id}'`,
      open: () => call(`/agents/${agent.id}/triggers/${trigger.id}/token`),
    },
    provider: {
      table: "providers",
      column: "api_key_sealed",
      where: `id = '${provider.id}'`,
      open: () => call(`/providers/${provider.id}/check`, { method: "POST" }),
    },
    signing: {
      table: "subscriptions",
      column: "secret",
      where: `id = '${subscription.id}'`,
      open: () => call(`/subscriptions/${subscription.id}/secret`),
    },
    answer: { table: "idempotency", column: "answer", where: `key = '${agent.id}'`, open: create },
  };
}

async function read({ table, column, where }: Sealed): Promise<string | undefined> {
  const { rows } = await engine.query<{ text: string }>(
    `select ${column} as text from ${table} where ${where}`,
  );
  return rows[0]?.text;
}
async function swap(one: Sealed, other: Sealed): Promise<void> {
  const [ones, others] = [await read(one), await read(other)];
  await engine.query(`update ${one.table} set ${one.column} = $1 where ${one.where}`, [others]);
  await engine.query(`update ${other.table} set ${other.column} = $1 where ${other.where}`, [ones]);
}
const isReadable = async (sealed: Sealed) =>
  (await sealed.open()).body.code !== "secret_unreadable";

const mine = await make();
const alsoMine = await make();
const theirs = await make(await insertStranger(beckon));
const kinds = ["token", "trigger", "provider", "signing", "answer"] as const;

async function expectBound(one: Sealed, other: Sealed): Promise<void> {
  expect([await isReadable(one), await isReadable(other)]).toEqual([true, true]);
  await swap(one, other);
  try {
    for (const sealed of [one, other])
      expectError(await sealed.open(), 409, "secret_unreadable", /cannot be decrypted/);
  } finally {
    await swap(one, other);
  }
  expect([await isReadable(one), await isReadable(other)]).toEqual([true, true]);
}

describe("an encrypted value can only be decrypted in its location:", () => {
  test.each(kinds)("%s, not in another row", (kind) => expectBound(mine[kind], alsoMine[kind]));
  test.each(kinds)("%s, not in another workspace", (kind) => expectBound(mine[kind], theirs[kind]));
  test.each(kinds.flatMap((one, at) => kinds.slice(at + 1).map((other) => [one, other] as const)))(
    "%s, not as %s",
    (one, other) => expectBound(mine[one], mine[other]),
  );

  test("a token in its grace period not as its successor", async () => {
    const { agent, call, token } = await make();
    await call(`/agents/${agent.id}/token/rotate`, { body: { grace_seconds: 600 } });
    const predecessor = { ...token, where: `agent_id = '${agent.id}' and expires_at is not null` };
    await swap(token, predecessor);
    expectError(await token.open(), 409, "secret_unreadable", /rotate/);
    expect(
      (
        await call(`/agents/${agent.id}/invoke`, {
          credential: agent.token,
          body: { input: "Hello" },
        })
      ).status,
    ).toBe(200);
  });
});
