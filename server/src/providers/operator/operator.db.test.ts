import { randomBytes } from "node:crypto";
import { afterAll, beforeEach, expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { expectError } from "../../../test/expect-error.ts";
import { says, startModelServer } from "../../../test/model-server.ts";
import { insertStranger } from "../../../test/workspace-key.ts";

const operator = await startModelServer();
const tenant = await startModelServer();
afterAll(() => Promise.all([operator.close(), tenant.close()]));
beforeEach(() => {
  operator.reset();
  tenant.reset();
});

const operatorKey = `operator-${randomBytes(12).toString("hex")}`;
const account = {
  OPENAI_API_KEY: operatorKey,
  OPENAI_BASE_URL: operator.url,
  ANTHROPIC_API_KEY: operatorKey,
  ANTHROPIC_BASE_URL: operator.url,
  BECKON_EGRESS_ALLOW: new URL(tenant.url).host,
};
const beckon = await startTestBeckon(account);

test.each([
  ["openai/gpt-5", "/v1/responses"],
  ["openai-chat/gpt-5", "/v1/chat/completions"],
  ["anthropic/claude-sonnet-4-5", "/v1/messages"],
])("%s is the operator's in the workspace default", async (model, path) => {
  const agent = await beckon.createAgent({ model });
  expect((await beckon.invoke(agent, "hello")).body).toMatchObject({ ok: true, output: "hello" });
  expect(operator.requests.map((request) => request.path)).toEqual([path]);
  expect(JSON.stringify(operator.requests[0]?.headers)).toContain(operatorKey);
});

test("what the operator has not set up is not there, and the error lists what is", async () => {
  const answer = await beckon.call("/agents", {
    body: { name: "Test", model: "google/gemini-3-flash" },
  });
  expectError(
    answer,
    400,
    "bad_request",
    /there is no provider google.*openai\/, openai-chat\/, anthropic\/, demo\/echo/,
  );
});

test("another workspace has none of it", async () => {
  const credential = await insertStranger(beckon);
  const answer = await beckon.call("/agents", {
    credential,
    body: { name: "Test", model: "openai/gpt-5" },
  });
  expectError(
    answer,
    400,
    "bad_request",
    /there is no provider openai\. Models here begin with demo\/echo/,
  );
});

test("another workspace has it when the operator shares, until the operator does not", async () => {
  const credential = await insertStranger(beckon);
  const sharing = await beckon.another({ settings: { BECKON_SHARE_PROVIDERS: "1" } });
  const { id, token } = await created(
    `${sharing.url}/api/public/agents`,
    { name: "Test", model: "openai/gpt-5" },
    credential,
  );
  const invoke = (url: string) =>
    beckon.call(`${url}/api/public/agents/${id}/invoke`, {
      credential: token,
      body: { input: "hello" },
    });
  // Each process executes the runs that it accepts, so this run can use the providers that only
  // `sharing` shares.
  expect((await invoke(sharing.url)).body).toMatchObject({ ok: true, output: "hello" });
  await sharing.stop();

  const { status, body } = await invoke(beckon.url);
  expect({ status, code: body.code, error: body.error }).toEqual({
    status: 500,
    code: "model_error",
    error: expect.stringMatching(
      /The operator no longer offers openai to this workspace\. Save the agent again if/,
    ),
  });
  expect(operator.requests).toHaveLength(1);
});

test("a workspace's own provider of the name goes before, and its agents never fall back to the operator's", async () => {
  const before = await beckon.createAgent({ model: "openai/gpt-5" });
  const own = await created("/providers", {
    name: "openai",
    kind: "openai",
    base_url: tenant.url,
    api_key: "own-key-0123456789",
  });
  const agent = await beckon.createAgent({ model: "openai/gpt-5" });
  expect((await beckon.invoke(agent, "hello")).body).toMatchObject({ ok: true });
  expect(JSON.stringify(tenant.requests[0]?.headers)).toContain("own-key-0123456789");
  expect(operator.requests).toHaveLength(0);

  // A version keeps the provider that its model resolved to. Only the next version resolves the
  // model again, now to the workspace's own provider.
  expect((await beckon.invoke(before, "hello")).body).toMatchObject({ ok: true });
  expect(operator.requests).toHaveLength(1);
  await beckon.call(`/agents/${before.id}`, { method: "PATCH", body: { description: "changed" } });
  expect((await beckon.invoke(before, "hello")).body).toMatchObject({ ok: true });
  expect([operator.requests.length, tenant.requests.length]).toEqual([1, 2]);

  // If the workspace's provider has no key, it is called without a key, not with the operator's.
  await beckon.call(`/providers/${own.id}`, { method: "PATCH", body: { api_key: null } });
  expect((await beckon.invoke(agent, "hello")).body).toMatchObject({ ok: true });
  expect(JSON.stringify(tenant.requests.at(-1)?.headers)).not.toContain(operatorKey);

  const removed = await beckon.call(`/providers/${own.id}`, { method: "DELETE" });
  expectError(removed, 409, "conflict", /Agents use this provider/);
});

test("a switch to the workspace's own provider is in the audit log, and the version before cannot be restored", async () => {
  const credential = await insertStranger(beckon);
  const sharing = await beckon.another({ settings: { BECKON_SHARE_PROVIDERS: "1" } });
  const api = `${sharing.url}/api/public`;
  const model = "openai/gpt-5";
  const { id } = await created(`${api}/agents`, { name: "Test", model }, credential);
  const own = await created(
    `${api}/providers`,
    { name: "openai", kind: "openai", base_url: tenant.url, api_key: "own-key-0123456789" },
    credential,
  );
  const draft = { input: "hello", config: {} };
  const run = await created(`${api}/agents/${id}/draft-runs`, draft, credential);
  const body = { description: "changed" };
  await beckon.call(`${api}/agents/${id}`, { method: "PATCH", body, credential });
  const entryOf = async (target: string, action: string) =>
    (await beckon.call(`${api}/audit?target=${target}&action=${action}`, { credential })).body
      .data[0];
  expect((await entryOf(run.id, "run.start_draft")).data).toMatchObject({
    before: { provider_id: null },
    after: { provider_id: own.id },
  });
  expect((await entryOf(id, "agent.update")).data).toEqual({
    version: 2,
    before: { description: "", provider_id: null },
    after: { description: "changed", provider_id: own.id },
  });
  expectError(
    await beckon.call(`${api}/agents/${id}/versions/1/restore`, { method: "POST", credential }),
    409,
    "conflict",
    /it used the operator's provider, and openai\/gpt-5 now belongs to the workspace's own provider/,
  );
  await sharing.stop();
});

test("an agent has the id of the workspace's provider that it uses, and null for the operator's", async () => {
  const credential = await insertStranger(beckon);
  const sharing = await beckon.another({ settings: { BECKON_SHARE_PROVIDERS: "1" } });
  const api = `${sharing.url}/api/public`;
  const createAgent = () =>
    created(`${api}/agents`, { name: "Test", model: "openai/gpt-5" }, credential);
  const before = await createAgent();
  const own = await created(
    `${api}/providers`,
    { name: "openai", kind: "openai", base_url: tenant.url, api_key: "own-key-0123456789" },
    credential,
  );
  const after = await createAgent();
  expect([before.provider_id, after.provider_id]).toEqual([null, own.id]);
  for (const view of ["full", "summary"]) {
    const { body } = await beckon.call(`${api}/agents?view=${view}`, { credential });
    expect(body.data.map((agent: { provider_id: string | null }) => agent.provider_id)).toEqual([
      own.id,
      null,
    ]);
  }

  // The agent with the operator's provider does not prevent the deletion.
  await beckon.call(`${api}/agents/${after.id}`, { method: "DELETE", credential });
  const removed = await beckon.call(`${api}/providers/${own.id}`, { method: "DELETE", credential });
  expect(removed.status).toBe(204);
  await sharing.stop();
});

test("an own provider that is gone does not become the operator's for the versions that pinned it", async () => {
  const own = await created("/providers", {
    name: "anthropic",
    kind: "anthropic",
    base_url: tenant.url,
    api_key: "own-key-0123456789",
  });
  const agent = await beckon.createAgent({ model: "anthropic/claude-sonnet-4-5" });
  // Simulates a provider that is deleted while the run waits. The API rejects the deletion of a
  // provider that an agent uses.
  await beckon.db.database.engine.query("update providers set deleted_at = now() where id = $1", [
    own.id,
  ]);
  const { body } = await beckon.invoke(agent, "hello");
  expect(body).toMatchObject({ code: "model_error", error: expect.stringMatching(/was deleted/) });
  expect(operator.requests).toHaveLength(0);
});

test("the operator's key is in no answer, whatever the provider echoes", async () => {
  operator.script(says({ text: "hello" }));
  const agent = await beckon.createAgent({ model: "openai-chat/gpt-5" });
  const { body } = await beckon.invoke(agent, "hello");
  const events = await beckon.call(`/runs/${body.run_id}/events`);
  const providers = await beckon.call("/providers");
  expect(JSON.stringify([body, events.body, providers.body])).not.toContain(operatorKey);
});

test.each([
  "google/../files?x=",
  "google/gemini?alt=",
  "google/a//b",
  "google/gem#ini",
  "google/..",
])("%s names no model of Google's, whoever has the key", async (model) => {
  const body = { name: "google", kind: "google", api_key: "own-key-0123456789" };
  await beckon.call("/providers", { body });
  const answer = await beckon.call("/agents", { body: { name: "Test", model } });
  expectError(answer, 400, "bad_request", /a model of Google/);
});

async function created(path: string, body: unknown, credential = beckon.key) {
  const answer = await beckon.call(path, { body, credential });
  if (answer.status !== 201)
    throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}
