import { randomBytes } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../test/beckon.ts";
import { allDecrypt, createEncryptedValues } from "../test/encrypted-values.ts";
import { expectError } from "../test/expect-error.ts";
import { ConfigError } from "./base/errors.ts";

const lost = randomBytes(32).toString("base64");
const before = await startTestBeckon({ BECKON_MASTER_KEY: lost });
const things = await createEncryptedValues(before);
const spare = await createEncryptedValues(before);
const fresh = { BECKON_MASTER_KEY: randomBytes(32).toString("base64") };
await expect(before.another({ settings: fresh })).rejects.toThrow(ConfigError);

const beckon = await before.another({ settings: { ...fresh, BECKON_MASTER_KEY_LOST: "1" } });
afterAll(() => beckon.stop());
const call: typeof before.call = (path, options) =>
  before.call(path.startsWith("http") ? path : `${beckon.url}/api/public${path}`, options);

test("credentials continue to work", async () => {
  expect(
    (
      await call(`/agents/${things.agent.id}/invoke`, {
        credential: things.agent.token,
        body: { input: "Hello" },
      })
    ).status,
  ).toBe(200);
  expect(
    (
      await call(`${beckon.url}${new URL(things.trigger.url).pathname}`, {
        credential: null,
        body: "Hello",
      })
    ).status,
  ).toBe(200);
  expect((await call("/agents")).status).toBe(200);
});

test("an error names a secret that cannot be decrypted and what to do", async () => {
  const sealed =
    "cannot be decrypted: it was encrypted with another master key, or was altered since.";
  expect(await things.try(beckon.url)).toEqual({
    "agent token": expect.stringMatching(
      `^409 secret_unreadable: This token ${sealed} It still works where it is used; rotate it`,
    ),
    "trigger token": expect.stringMatching(
      `^409 secret_unreadable: This token ${sealed} It still works where it is used; rotate it`,
    ),
    "provider check": `409 secret_unreadable: This provider key ${sealed} Set the provider's api_key again.`,
    "provider run": `500 model_error: This provider key ${sealed} Set the provider's api_key again.`,
    tool: expect.stringMatching(
      /^200 .*its credential .* cannot be decrypted.* Ask the agent.s administrator to enter it again/,
    ),
    "signing secret": `409 secret_unreadable: This signing secret ${sealed} Give the subscription a new secret: rotate it.`,
    "sender secret": `409 secret_unreadable: This sender secret ${sealed} Set the secret of this trigger again, and enter it at the sender.`,
    "stored answer": expect.stringMatching(
      `^409 secret_unreadable: This stored answer ${sealed} The request was executed`,
    ),
  });
});

test("a request whose stored response cannot be decrypted is not executed again", async () => {
  const count = async () => (await before.db.database.engine.query("select from agents")).rowCount;
  const agents = await count();
  for (let times = 0; times < 3; times++) {
    expectError(
      await things.createAgain(beckon.url),
      409,
      "secret_unreadable",
      /not executed again.*use a new key/,
    );
  }
  expect(await count()).toBe(agents);
});

test("everything else about them can be read and changed", async () => {
  for (const path of [
    `/agents/${things.handy.id}`,
    `/agents/${things.agent.id}/triggers`,
    `/providers/${things.provider.id}`,
  ]) {
    expect((await call(path)).status).toBe(200);
  }
  expect(
    (await call(`/agents/${things.handy.id}`, { method: "PATCH", body: { description: "x" } }))
      .status,
  ).toBe(200);
});

test("what the error says to do works", async () => {
  const { agent, trigger, provider, modelled, handy, toolGrant } = things;
  const { token } = (
    await call(`/agents/${agent.id}/token/rotate`, { body: { grace_seconds: 60 } })
  ).body.data;
  expect((await call(`/agents/${agent.id}/token`)).body.data.token).toBe(token);
  const rotated = (await call(`/agents/${agent.id}/triggers/${trigger.id}/rotate`, { body: {} }))
    .body.data;
  expect((await call(`/agents/${agent.id}/triggers/${trigger.id}/token`)).body.data.token).toBe(
    rotated.token,
  );
  expect(
    (
      await call(`/providers/${provider.id}`, {
        method: "PATCH",
        body: { api_key: "sk-given-again-0123456789" },
      })
    ).status,
  ).toBe(200);
  expect(
    (
      await call(`/agents/${modelled.id}/invoke`, {
        credential: modelled.token,
        body: { input: "Hello" },
      })
    ).status,
  ).toBe(200);
  expect(things.models.requests.at(-1)?.headers.authorization).toBe(
    "Bearer sk-given-again-0123456789",
  );
  const tools = [toolGrant({ secret: "sk-given-again-9876543210" })];
  expect((await call(`/agents/${handy.id}`, { method: "PATCH", body: { tools } })).status).toBe(
    200,
  );
  const { output } = (
    await call(`/agents/${handy.id}/invoke`, {
      credential: handy.token,
      body: { input: "/call read {}" },
    })
  ).body;
  expect(output).toMatch(/\[secret\]/);
});

test("a trigger that verifies its requests rejects them until its sender secret is set again", async () => {
  const { url, secretPath, secret } = things.receiver;
  const statusWith = async (sent: string) => {
    const path = `${beckon.url}${new URL(url).pathname}`;
    const headers = { "x-secret": sent };
    return (await call(path, { credential: null, body: "Hello", headers })).status;
  };
  expect(await statusWith(secret)).toBe(401);
  const set = (await call(secretPath, { method: "POST" })).body.data;
  expect(await statusWith(set.secret)).toBe(200);
});

test("from then on the new key is in use, without BECKON_MASTER_KEY_LOST", async () => {
  await expect(before.another()).rejects.toThrow(ConfigError);
  await (await before.another({ settings: fresh })).stop();
});

test("a lost key that is found again decrypts everything that was not replaced", async () => {
  const again = await before.another({ settings: { ...fresh, BECKON_MASTER_KEY_PREVIOUS: lost } });
  try {
    expect(await spare.try(again.url)).toEqual(allDecrypt);
    // `again` has re-encrypted the values with the new key, so `beckon`, which was started without
    // the lost key, can decrypt them too.
    expect(await spare.try(beckon.url)).toEqual(allDecrypt);
  } finally {
    await again.stop();
  }
});
