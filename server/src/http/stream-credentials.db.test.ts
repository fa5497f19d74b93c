import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { captureLog } from "../../test/capture-log.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { openStream, type StreamReader } from "../../test/read-stream.ts";

/**
 * This process checks the credentials of open streams often, so that the tests are fast. The second
 * process of the first test uses the production interval.
 */
const { log, named } = captureLog("warn");
const beckon = await startTestBeckon({}, { log, streamLimits: { checkMs: 100 } });

/**
 * Maximum time from a revocation to the end of the stream. The titles promise 5 s. The tests allow
 * three times as long, for a busy machine.
 */
const withinMs = 15_000;
const headersOf = (credential: string) => ({
  "x-api-key": credential,
  accept: "text/event-stream",
});

/** Starts a run whose model does not respond. Returns its agent and the URL of its stream. */
async function running() {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const { body } = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
  await held.reached(1);
  return { agent, url: `${beckon.url}/api/public/runs/${body.run_id}/events` };
}

async function open(url: string, credential: string): Promise<StreamReader> {
  const reader = await openStream(url, { credential });
  onTestFinished(() => reader.close());
  await reader.has("run.started");
  return reader;
}

async function createKey(body: Record<string, unknown>): Promise<{ id: string; key: string }> {
  return (await beckon.call("/keys", { body: { name: "Test", scopes: ["runs:read"], ...body } }))
    .body.data;
}

/**
 * Checks that the stream ends in time because of its credential, and that opening it again gets the
 * expected status.
 */
async function expectClosed(
  reader: StreamReader,
  url: string,
  credential: string,
  expectedStatus: number,
): Promise<void> {
  const since = performance.now();
  expect(await reader.over).toBe("ended");
  expect(performance.now() - since).toBeLessThan(withinMs);
  expect(reader.frames.at(-1)?.data).toEqual({
    type: "stream.closed",
    data: { code: "unauthorized", message: expect.any(String) },
  });
  expect((await fetch(url, { headers: headersOf(credential) })).status).toBe(expectedStatus);
}

test("a revoked token's stream ends within 5 s, at the process that revokes it and at another", async () => {
  const usual = await beckon.another();
  onTestFinished(() => usual.stop());
  const { agent, url } = await running();
  const there = url.replace(beckon.url, usual.url);
  const [reader, readerThere] = [await open(url, agent.token), await open(there, agent.token)];
  await beckon.call(`/agents/${agent.id}/token`, { method: "DELETE" });
  await Promise.all([
    expectClosed(reader, url, agent.token, 401),
    expectClosed(readerThere, there, agent.token, 401),
  ]);
});

test("a rotated token's stream ends, and that of its successor continues", async () => {
  const { agent, url } = await running();
  const reader = await open(url, agent.token);
  const { token } = (await beckon.call(`/agents/${agent.id}/token/rotate`, { body: {} })).body.data;
  const successor = await open(url, token);
  await expectClosed(reader, url, agent.token, 401);
  expect(successor.types).not.toContain("stream.closed");
});

test("a token's stream ends with its grace period", async () => {
  const { agent, url } = await running();
  const reader = await open(url, agent.token);
  await beckon.call(`/agents/${agent.id}/token/rotate`, { body: { grace_seconds: 1 } });
  await expectClosed(reader, url, agent.token, 401);
});

test("a token's stream ends when its agent is deleted", async () => {
  const { agent, url } = await running();
  const reader = await open(url, agent.token);
  await beckon.call(`/agents/${agent.id}`, { method: "DELETE" });
  await expectClosed(reader, url, agent.token, 401);
});

test("a deleted key's stream ends", async () => {
  const { url } = await running();
  const { id, key } = await createKey({});
  const reader = await open(url, key);
  await beckon.call(`/keys/${id}`, { method: "DELETE" });
  await expectClosed(reader, url, key, 401);
});

test("an expired key's stream ends", async () => {
  const { url } = await running();
  const { id, key } = await createKey({});
  const reader = await open(url, key);
  // The expiry is set only after the stream is open. On a busy machine, a key that is created with
  // this expiry could expire before.
  await beckon.db.database.engine.query(
    "update keys set expires_at = now() + interval '1 second' where id = $1",
    [id],
  );
  await expectClosed(reader, url, key, 401);
});

test("a rotated key's stream ends", async () => {
  const { url } = await running();
  const { id, key } = await createKey({});
  const reader = await open(url, key);
  await beckon.call(`/keys/${id}/rotate`, { body: {} });
  await expectClosed(reader, url, key, 401);
});

test("a key's stream ends when its scope is removed", async () => {
  const { url } = await running();
  const { id, key } = await createKey({});
  const reader = await open(url, key);
  await beckon.call(`/keys/${id}`, { method: "PATCH", body: { scopes: ["agents:read"] } });
  await expectClosed(reader, url, key, 403);
});

test("a key's stream ends when it is limited to other agents", async () => {
  const { agent, url } = await running();
  const { id, key } = await createKey({ agent_ids: [agent.id] });
  const reader = await open(url, key);
  const other = await beckon.createAgent();
  await beckon.call(`/keys/${id}`, { method: "PATCH", body: { agent_ids: [other.id] } });
  await expectClosed(reader, url, key, 404);
});

test("the stream of an invoke ends with its credential, and its run continues", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const { id, key } = await createKey({ scopes: ["agents:invoke"] });
  const invokeUrl = `${beckon.url}/api/public/agents/${agent.id}/invoke`;
  const reader = await openStream(invokeUrl, { credential: key, body: { input: "Hello" } });
  await held.reached(1);
  await beckon.call(`/keys/${id}`, { method: "DELETE" });
  expect(await reader.over).toBe("ended");
  expect(reader.types.at(-1)).toBe("stream.closed");
  held.release();
  const rest = await openStream(`${beckon.url}${reader.headers.location}/events`, {
    credential: beckon.key,
  });
  await rest.over;
  expect(rest.types.at(-1)).toBe("run.finished");
});

test("an export ends early when its key is deleted, and the log says why", async () => {
  // These rows make an export of 20 MB. That is more than the network buffers of a connection hold,
  // so the export is still being sent when the key is deleted.
  await beckon.db.database.engine.query(
    `insert into audit (id, workspace_id, actor, action, target, data)
      select 'aud_' || lpad(i::text, 26, '0'), 'wsp_00000000000000000000000000', 'test', 'test.fill',
        'x', jsonb_build_object('text', repeat('x', 1000)) from generate_series(1, 20000) as i`,
  );
  const { id, key } = await createKey({ scopes: ["audit:read"] });
  const response = await fetch(`${beckon.url}/api/public/audit/export?action=test.fill`, {
    headers: { "x-api-key": key },
  });
  await beckon.call(`/keys/${id}`, { method: "DELETE" });
  const [line] = await eventually("the end of the export", () => {
    const lines = named("a response was ended early");
    return lines.length > 0 ? lines : undefined;
  });
  expect(line).toMatchObject({
    route: "/api/public/audit/export",
    reason: expect.stringContaining("no longer valid"),
  });
  await expect(response.text()).rejects.toThrow();
});

test("streams of valid credentials continue through many polls", async () => {
  const { agent, url } = await running();
  const { key } = await createKey({ agent_ids: [agent.id] });
  const readers = [await open(url, agent.token), await open(url, key), await open(url, beckon.key)];
  const revoked = await createKey({});
  const sign = await open(url, revoked.key);
  await beckon.call(`/keys/${revoked.id}`, { method: "DELETE" });
  await sign.over;
  expect(readers.map(({ types }) => types.at(-1))).toEqual([
    "run.started",
    "run.started",
    "run.started",
  ]);
});
