import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { startTestBeckon } from "../test/beckon.ts";
import { allDecrypt, createEncryptedValues } from "../test/encrypted-values.ts";
import { addPerson } from "../test/people.ts";
import { migrate } from "./base/database/index.ts";
import { ConfigError } from "./base/errors.ts";
import { createLog } from "./base/log.ts";
import { createSecretCipher, type Queryable } from "./base/secrets/index.ts";
import { reconcileMasterKey } from "./reconcile-master-key.ts";

const [first, second, third] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const prefix = (key: Buffer) => createSecretCipher(key).prefix;
const settings = (key: Buffer, previous?: Buffer) => ({
  BECKON_MASTER_KEY: key.toString("base64"),
  BECKON_MASTER_KEY_PREVIOUS: previous?.toString("hex") ?? "",
});

/**
 * A server on another machine, while the operator replaces the first master key with the second. It
 * was started with the first key and, as `BECKON_MASTER_KEY_PREVIOUS`, the second one. So it still
 * encrypts with the first key but can decrypt with both (docs/master-key.md).
 */
const beckon = await startTestBeckon(settings(first, second));
const { engine } = beckon.db.database;
const things = await createEncryptedValues(beckon);
// Creates so many tokens that re-encrypting them takes more than one batch. Rotates one token, so
// that its earlier value is in its grace period.
const others: { readonly id: string }[] = [];
while (others.length < 250)
  others.push(...(await Promise.all(Array.from({ length: 25 }, () => beckon.createAgent()))));
await beckon.call(`/agents/${others[0]?.id}/token/rotate`, { body: { grace_seconds: 600 } });

const tables = await engine.query<{ name: string }>(
  "select format('%I', table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
);
/** Returns the number of rows of each table that are encrypted with the master key `key`. */
async function sealedWith(key: Buffer): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { name } of tables.rows) {
    const { rows } = await engine.query<{ count: number }>(
      `select count(*)::int as count from ${name} as t where strpos(t::text, $1) > 0`,
      [prefix(key)],
    );
    if (rows[0]?.count) found[name] = rows[0].count;
  }
  return found;
}
async function checkedBy(): Promise<string | undefined> {
  const { rows } = await engine.query<{ sealed: string }>(
    "select master_key_check as sealed from installation",
  );
  return rows[0]?.sealed.slice(0, prefix(first).length);
}
/**
 * Changes the master key from `previous` to `key` as a startup does. The statement with the number
 * `breaksAt`, counted from 1, fails as if the process were killed.
 * @returns whether the change finished, because it has fewer than `breaksAt` statements.
 */
async function settle(key: Buffer, previous: Buffer, breaksAt: number): Promise<boolean> {
  const keys = {
    masterKey: key.toString("base64"),
    previousMasterKey: previous.toString("base64"),
    masterKeyLost: false,
  };
  return migrate(beckon.db.database.settings, async (client) => {
    let statements = 0;
    const breaking: Queryable = {
      query: (text, values) =>
        ++statements === breaksAt
          ? Promise.reject(new Error("killed"))
          : client.query(text, values),
    };
    return reconcileMasterKey(breaking, keys, createLog("silent")).then(
      () => true,
      (thrown) => {
        expect(thrown).toEqual(new Error("killed"));
        return false;
      },
    );
  });
}

test("a startup killed at any moment leaves everything readable, and the next one continues", async () => {
  const before = await sealedWith(first);
  expect(before).toEqual({
    installation: 1,
    tokens: expect.any(Number),
    providers: 1,
    agent_secrets: 1,
    subscriptions: 1,
    triggers: 1,
    idempotency: 1,
  });
  expect(before.tokens).toBeGreaterThan(250);
  const member = await addPerson(beckon, { role: "viewer" });
  let starts = 1;
  let left = before.tokens ?? 0;
  for (let breaksAt = 1; !(await settle(second, first, breaksAt)); breaksAt++, starts++) {
    expect(await checkedBy()).toBe(prefix(first));
    expect(await things.try(beckon.url)).toEqual(allDecrypt);
    const now = await sealedWith(first);
    expect(now.tokens ?? 0).toBeLessThanOrEqual(left);
    left = now.tokens ?? 0;
  }
  expect(starts).toBeGreaterThan(8);
  expect(await sealedWith(first)).toEqual({});
  expect(await sealedWith(second)).toEqual(before);
  expect(await checkedBy()).toBe(prefix(second));
  expect((await member.call("/me")).status).toBe(401);
  expect(await things.try(beckon.url)).toEqual(allDecrypt);
});

test("then the new key alone decrypts everything, and the old one alone is rejected", async () => {
  const alone = await beckon.another({ settings: settings(second) });
  try {
    expect(await things.try(alone.url)).toEqual(allDecrypt);
  } finally {
    await alone.stop();
  }
  const refused = beckon.another({ settings: settings(first) });
  await expect(refused).rejects.toThrow(ConfigError);
  await expect(refused).rejects.toThrow(/BECKON_MASTER_KEY_PREVIOUS.*BECKON_MASTER_KEY_LOST=1/);
  await expect(beckon.another({ settings: settings(first, third) })).rejects.toThrow(ConfigError);
});

test("a later startup with the previous key still set writes nothing", async () => {
  const member = await addPerson(beckon, { role: "viewer" });
  const written = () =>
    engine.query(
      `select 'i' as of, xmin::text as by, '' as row from installation union all select 't', xmin::text, encode(hash, 'hex') from tokens
       union all select 'p', xmin::text, id from providers union all select 's', xmin::text, id from agent_secrets
       union all select 'u', xmin::text, id from subscriptions
       union all select 'a', xmin::text, key from idempotency where answer is not null order by 1, 3`,
    );
  const before = await written();
  await (await beckon.another({ settings: settings(second, first) })).stop();
  expect((await written()).rows).toEqual(before.rows);
  expect((await member.call("/me")).status).toBe(200);
});

test("what another machine still encrypts with the old key is re-encrypted by the next startup", async () => {
  const late = await beckon.createAgent();
  expect(await sealedWith(first)).toEqual({ tokens: 1 });
  const next = await beckon.another({ settings: settings(second, first) });
  await next.stop();
  expect(await sealedWith(first)).toEqual({});
  expect((await beckon.call(`/agents/${late.id}/token`)).body.data.token).toBe(late.token);
});

test("an altered ciphertext does not stop the change and is kept", async () => {
  const [damaged] = others;
  if (damaged === undefined) throw new Error("there are some");
  await engine.query(
    "update tokens set sealed = $1 || 'AAAAAAAAAAAAAAAA.AAAA' where agent_id = $2",
    [prefix(second), damaged.id],
  );
  const next = await beckon.another({ settings: settings(third, second) });
  try {
    expect(await sealedWith(second)).toEqual({ tokens: 2 });
    expect(await things.try(next.url)).toEqual(allDecrypt);
    const { status, body } = await beckon.call(`${next.url}/api/public/agents/${damaged.id}/token`);
    expect([status, body.code]).toEqual([409, "secret_unreadable"]);
  } finally {
    await next.stop();
  }
});

test("concurrent startups with the new key change it once", async () => {
  const all = await Promise.all(
    Array.from({ length: 4 }, () => beckon.another({ settings: settings(first, third) })),
  );
  try {
    for (const one of all) expect(await things.try(one.url)).toEqual(allDecrypt);
    expect(await sealedWith(third)).toEqual({});
  } finally {
    await Promise.all(all.map((one) => one.stop()));
  }
});
