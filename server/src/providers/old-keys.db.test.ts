import { randomBytes } from "node:crypto";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { startModelServer } from "../../test/model-server.ts";
import { createSecretCipher } from "../base/secrets/index.ts";

const oldKey = randomBytes(32);
const before = await startTestBeckon({ BECKON_MASTER_KEY: oldKey.toString("base64") });
const [models, elsewhere] = [await startModelServer(), await startModelServer()];
afterAll(() => Promise.all([models.close(), elsewhere.close()]));
const { engine } = before.db.database;
const apiKey = "sk-of-an-old-row-0123";

async function create(name: string, kind: string, baseUrl: string | undefined): Promise<string> {
  const { body } = await before.call("/providers", {
    body: { name, kind, base_url: baseUrl, api_key: apiKey },
  });
  const { workspace_id } = (
    await engine.query("select workspace_id from providers where id = $1", [body.data.id])
  ).rows[0];
  const place = { workspaceId: workspace_id, kind: "provider key", row: body.data.id, remedy: "" };
  await engine.query("update providers set api_key_sealed = $1 where id = $2", [
    createSecretCipher(oldKey).encrypt(apiKey, place),
    body.data.id,
  ]);
  return body.data.id;
}

const ids = {
  own: await create("own", "openai-compatible", models.url),
  rotated: await create("rotated", "openai-compatible", models.url.replace("http:", "HTTP:")),
  openai: await create("openai", "openai", undefined),
  google: await create("google", "google", undefined),
};
const agent = await before.createAgent({ model: "own/m" });
// Makes the database look as if written by a version of Beckon before migration 0005. Such versions
// encrypt keys as `create` does, and have no column for the address that a key was entered for.
await engine.query("alter table providers drop column api_key_url");
await engine.query("delete from migrations where name like '0005-%'");

async function startAfter(
  settings: Record<string, string>,
  stopLater: (stop: () => Promise<void>) => void,
) {
  const beckon = await before.another({ settings });
  stopLater(() => beckon.stop());
  const call: typeof before.call = (path, options) =>
    before.call(`${beckon.url}/api/public${path}`, options);
  return {
    call,
    change: (id: string, body: object) => call(`/providers/${id}`, { method: "PATCH", body }),
  };
}
const after = await startAfter({}, afterAll);

test("a key of an earlier version goes on working where it was given for, and nowhere else", async () => {
  const ran = await after.call(`/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input: "Hello" },
  });
  expect([ran.status, models.requests.at(-1)?.headers.authorization]).toEqual([
    200,
    `Bearer ${apiKey}`,
  ]);
  expectError(
    await after.change(ids.own, { base_url: elsewhere.url }),
    400,
    "bad_request",
    /^api_key: /,
  );
  expect((await after.change(ids.own, { base_url: `${models.url}/` })).status).toBe(200);
  expect(
    (await after.call(`/providers/${ids.own}/check`, { method: "POST" })).body.data.works,
  ).toBe(true);
});

test("a key of an earlier version for a kind's own address was given for that", async () => {
  const own = {
    openai: "https://api.openai.com/v2",
    google: "https://generativelanguage.googleapis.com",
  } as const;
  for (const kind of ["openai", "google"] as const) {
    expectError(
      await after.change(ids[kind], { base_url: elsewhere.url }),
      400,
      "bad_request",
      /^api_key: /,
    );
    expect((await after.change(ids[kind], { base_url: own[kind] })).status).toBe(200);
  }
});

test("a new master key binds it to its address for good", async () => {
  const master = {
    BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
    BECKON_MASTER_KEY_PREVIOUS: oldKey.toString("base64"),
  };
  const rotated = await startAfter(master, onTestFinished);
  const check = () => rotated.call(`/providers/${ids.rotated}/check`, { method: "POST" });
  expect((await check()).body.data.works).toBe(true);
  await engine.query("update providers set base_url = $1, api_key_url = $1 where id = $2", [
    elsewhere.url,
    ids.rotated,
  ]);
  expectError(await check(), 409, "secret_unreadable", /Set the provider's api_key again/);
});
