import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { echo, type ModelRequest, says, startModelServer } from "../../test/model-server.ts";
import { addPerson } from "../../test/people.ts";
import { startTargetServer } from "../../test/target-server.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";
import { newId } from "../base/ids.ts";

const beckon = await startTestBeckon();
const { engine } = beckon.db.database;
const models = await startModelServer();
const { name: provider } = await beckon.createProvider(models.url);
const model = `${provider}/scripted`;
const [target, elsewhere] = [await startTargetServer(), await startTargetServer()];
afterAll(() => Promise.all([models.close(), target.close(), elsewhere.close()]));
beforeEach(() => {
  models.reset();
  target.reached.length = 0;
  elsewhere.reached.length = 0;
});

type Agent = { id: string; token: string };
type Config = Record<string, unknown>;

const draft = (
  agent: { id: string },
  config: Config,
  {
    input = "Hello",
    credential = beckon.key,
    headers = {},
  }: { input?: string; credential?: string; headers?: Record<string, string> } = {},
) =>
  beckon.call(`/agents/${agent.id}/draft-runs`, { body: { input, config }, credential, headers });
const finished = (runId: string) =>
  eventually(`the end of ${runId}`, async () => {
    const { data } = (await beckon.call(`/runs/${runId}`)).body;
    return data.finished_at === null ? undefined : data;
  });
/** Starts a draft run and returns it when it has ended. */
async function drafted(agent: Agent, config: Config, input?: string) {
  const { status, body } = await draft(agent, config, input === undefined ? {} : { input });
  expect([status, body.error]).toEqual([201, undefined]);
  return finished(body.data.id);
}
const retry = (runId: string, { body = {}, credential = beckon.key } = {}) =>
  beckon.call(`/runs/${runId}/retry`, { body, credential });
const runsOf = async (agent: Agent, query = "") =>
  (await beckon.call(`/agents/${agent.id}/runs?limit=200${query}`)).body.data as { id: string }[];
const storedDrafts = async (runIds: readonly string[]) =>
  (await engine.query("select run_id, config from run_drafts where run_id = any ($1)", [runIds]))
    .rows;
const instructionsOf = ({ body }: ModelRequest) =>
  body.messages.find(({ role }) => role === "system")?.content;

test("a draft run is a run with the draft's configuration, from the agent's current version", async () => {
  const agent = await beckon.createAgent({ model, instructions: "Saved." });
  const { status, headers, body } = await draft(agent, { instructions: "Draft." });
  expect(status).toBe(201);
  expect(headers.get("location")).toBe(`/api/public/runs/${body.data.id}`);
  expect(body.data).toMatchObject({
    agent_id: agent.id,
    agent_version: 1,
    source: "draft",
    input: "Hello",
    trigger_id: null,
    retry_of: null,
  });
  expect(await finished(body.data.id)).toMatchObject({ status: "succeeded", output: "Hello" });
  expect(models.requests.map(instructionsOf)).toEqual(["Draft."]);
});

test("neither the agent nor its other runs see the draft", async () => {
  const agent = await beckon.createAgent({ model, instructions: "Saved." });
  const invoke = () => beckon.invoke(agent, "Hello");
  await invoke();
  await Promise.all(["One.", "Two."].map((instructions) => drafted(agent, { instructions })));
  await invoke();
  expect(models.requests.map(instructionsOf).sort()).toEqual(["One.", "Saved.", "Saved.", "Two."]);
  expect((await beckon.call(`/agents/${agent.id}`)).body.data).toMatchObject({
    version: 1,
    instructions: "Saved.",
  });
  expect((await beckon.call(`/agents/${agent.id}/versions`)).body.data).toHaveLength(1);
});

test("a first run that is a draft does not become the agent's cached configuration", async () => {
  const agent = await beckon.createAgent({ model, instructions: "Saved." });
  await drafted(agent, { instructions: "Draft." });
  await beckon.invoke(agent, "Hello");
  expect(models.requests.map(instructionsOf)).toEqual(["Draft.", "Saved."]);
});

test("a draft changes the fields that it has, as an update does", async () => {
  const agent = await beckon.createAgent({
    ...{ model, instructions: "Saved.", limits: { max_steps: 7, max_concurrent_runs: 3 } },
    model_settings: { temperature: 1, max_output_tokens: 50 },
  });
  const change = {
    name: "Other",
    model_settings: { temperature: null, stream: "never" },
    limits: { timeout_seconds: 9 },
  };
  const run = await drafted(agent, change);
  const [stored] = await storedDrafts([run.id]);
  const { status, body: updated } = await beckon.call(`/agents/${agent.id}`, {
    method: "PATCH",
    body: change,
  });
  expect(status).toBe(200);
  expect(updated.data).toMatchObject(stored?.config);
  expect(models.requests[0]?.body).not.toHaveProperty("temperature");
});

test("an empty draft has the configuration of the current version", async () => {
  const agent = await beckon.createAgent({ model, instructions: "Saved." });
  await beckon.call(`/agents/${agent.id}`, { method: "PATCH", body: { instructions: "Newer." } });
  expect(await drafted(agent, {})).toMatchObject({ agent_version: 2, status: "succeeded" });
  expect(models.requests.map(instructionsOf)).toEqual(["Newer."]);
});

test("the draft's limits apply, except those of all runs of the agent together", async () => {
  const agent = await beckon.createAgent({ tools: [{ type: "clock" }] });
  const limits = { max_steps: 1, max_concurrent_runs: 1, max_queued_runs: 1 };
  const run = await drafted(agent, { limits }, "/call clock {}");
  expect(run).toMatchObject({ status: "failed", error: { code: "step_limit" } });
  const [stored] = await storedDrafts([run.id]);
  expect(stored?.config.limits).toMatchObject({
    max_steps: 1,
    max_concurrent_runs: null,
    max_queued_runs: 10_000,
  });
});

test("draft runs are listed with the others and found by their source", async () => {
  const agent = await beckon.createAgent();
  const { id } = await drafted(agent, {});
  const { body } = await beckon.invoke(agent, "Hello");
  expect((await runsOf(agent)).map((run) => run.id)).toEqual([body.run_id, id]);
  expect((await runsOf(agent, "&source=draft")).map((run) => run.id)).toEqual([id]);
  expect((await runsOf(agent, "&source=invoke")).map((run) => run.id)).toEqual([body.run_id]);
});

test("the audit log has the start of a draft run with its changes", async () => {
  const agent = await beckon.createAgent({ instructions: "Saved." });
  const { id } = await drafted(agent, { instructions: "Draft." });
  const { body } = await beckon.call(`/audit?target=${id}`);
  expect(body.data).toMatchObject([
    {
      action: "run.start_draft",
      target: id,
      data: {
        agent_id: agent.id,
        version: 1,
        before: { instructions: "Saved." },
        after: { instructions: "Draft." },
      },
    },
  ]);
});

describe("a draft run is rejected, and nothing is stored,", () => {
  test.each([
    [{ input: "Hello" }, /config is missing/],
    [{ config: {} }, /input must be a string/],
    [{ input: "", config: {} }, /input must not be empty/],
    [{ input: "Hello", config: {}, version: 1 }, /unknown field version/],
    [{ input: "Hello", config: { instruction: "x" } }, /unknown field config\.instruction/],
    [{ input: "Hello", config: { model: "nobody/x" } }, /no provider nobody/],
    [{ input: "Hello", config: { limits: { max_steps: 0 } } }, /config\.limits\.max_steps/],
    [
      { input: "Hello", config: { instructions: "x".repeat(200_001) } },
      /config\.instructions must be at most 200000 characters/,
    ],
    [{ input: "Hello", config: { tools: [{ type: "shell" }] } }, /config\.tools\.0/],
  ])("with the body %j", async (body, message) => {
    const agent = await beckon.createAgent();
    const answer = await beckon.call(`/agents/${agent.id}/draft-runs`, { body });
    expectError(answer, 400, "bad_request", message);
    expect(await runsOf(agent)).toEqual([]);
  });

  test("with a configuration above the size of a body", async () => {
    const agent = await beckon.createAgent();
    expectError(await draft(agent, { metadata: { x: "x".repeat(1_100_000) } }), 413, "too_large");
    expect(await runsOf(agent)).toEqual([]);
  });

  test("while the agent is paused", async () => {
    const agent = await beckon.createAgent();
    await beckon.call(`/agents/${agent.id}/pause`, { body: {} });
    expectError(await draft(agent, {}), 409, "agent_paused");
    expect(await runsOf(agent)).toEqual([]);
  });

  test("when the agent's queue is full", async () => {
    const held = await startHeldModel(beckon);
    const agent = await beckon.createAgent({
      model: held.model,
      limits: { max_concurrent_runs: 1, max_queued_runs: 1 },
    });
    await beckon.invoke(agent, "executing", { prefer: "respond-async" });
    await held.reached(1);
    expect((await draft(agent, { limits: { max_queued_runs: 5 } })).status).toBe(201);
    const answer = await draft(agent, { limits: { max_queued_runs: 5 } });
    expectError(answer, 429, "agent_busy");
    const stored = await storedDrafts((await runsOf(agent)).map(({ id }) => id));
    expect(stored).toHaveLength(1);
  });

  test("for a caller without both scopes, of another agent or of another workspace", async () => {
    const agent = await beckon.createAgent();
    const other = await beckon.createAgent();
    const as = async (credential: string) => (await draft(agent, {}, { credential })).status;
    const scopes = ["agents:write", "agents:invoke"];
    expect(await as(await insertKey(beckon, { scopes }))).toBe(201);
    expect(await as(await insertKey(beckon, { scopes, agentIds: [agent.id] }))).toBe(201);
    for (const scope of scopes)
      expect(await as(await insertKey(beckon, { scopes: [scope] }))).toBe(403);
    expect(await as(await insertKey(beckon, { scopes, agentIds: [other.id] }))).toBe(404);
    expect(await as(agent.token)).toBe(403);
    expect(await as(await insertStranger(beckon))).toBe(404);
    const call = async (role: "viewer" | "editor") =>
      (await addPerson(beckon, { role })).call(`/agents/${agent.id}/draft-runs`, {
        body: { input: "Hello", config: {} },
      });
    expectError(await call("viewer"), 403, "forbidden");
    expect((await call("editor")).status).toBe(201);
    expect(await runsOf(agent)).toHaveLength(3);
  });

  test("for a deleted agent", async () => {
    const agent = await beckon.createAgent();
    await beckon.call(`/agents/${agent.id}`, { method: "DELETE" });
    expectError(await draft(agent, {}), 404, "not_found");
  });
});

describe("an Idempotency-Key", () => {
  const headers = { "idempotency-key": "one" };

  test("starts one draft run, however often and concurrently the request is sent", async () => {
    const agent = await beckon.createAgent();
    const answers = await Promise.all([1, 2, 3].map(() => draft(agent, {}, { headers })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    const again = await draft(agent, {}, { headers });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(await runsOf(agent)).toHaveLength(1);
  });

  test("returns neither input nor output to a key without runs:read", async () => {
    const agent = await beckon.createAgent();
    const scopes = ["agents:write", "agents:invoke"];
    const credential = await insertKey(beckon, { scopes });
    const started = await draft(agent, {}, { headers, credential });
    await finished(started.body.data.id);
    const { body } = await draft(agent, {}, { headers, credential });
    expect(body.data).toMatchObject({ status: "succeeded", input: "", output: null });
    expect(started.body.data).toMatchObject({ id: body.data.id, input: "" });
  });

  test("is rejected with another body, and takes precedence over what has become invalid", async () => {
    const { id } = await beckon.createProvider(models.url, "passing");
    const agent = await beckon.createAgent();
    const config = { model: "passing/scripted" };
    const { body } = await draft(agent, config, { headers });
    await finished(body.data.id);
    expectError(await draft(agent, {}, { headers }), 422, "idempotency_mismatch");
    await beckon.call(`/providers/${id}`, { method: "DELETE" });
    expectError(await draft(agent, config), 400, "bad_request");
    expect((await draft(agent, config, { headers })).body.data.id).toBe(body.data.id);
  });
});

describe("a retry of a draft run", () => {
  test("uses the configuration that is stored with it, whatever the agent has become", async () => {
    const agent = await beckon.createAgent({ model, instructions: "Saved." });
    const { id } = await drafted(agent, { instructions: "Draft." });
    await beckon.call(`/agents/${agent.id}`, { method: "PATCH", body: { instructions: "Newer." } });
    const { body: first } = await retry(id, { body: { version: "current" } });
    expect(first.data).toMatchObject({ source: "draft", retry_of: id, agent_version: 1 });
    await finished(first.data.id);
    // Each retry has its own copy of the configuration, so it does not need the original run.
    await beckon.call(`/runs/${id}`, { method: "DELETE" });
    await finished((await retry(first.data.id)).body.data.id);
    expect(models.requests.map(instructionsOf)).toEqual(["Draft.", "Draft.", "Draft."]);
  });

  test("can have another input", async () => {
    const agent = await beckon.createAgent({ model, instructions: "Saved." });
    const { id } = await drafted(agent, { instructions: "Draft." });
    const { body } = await retry(id, { body: { input: "Another" } });
    expect(body.data).toMatchObject({ source: "draft", input: "Another" });
    await finished(body.data.id);
    expect(models.requests.map(instructionsOf)).toEqual(["Draft.", "Draft."]);
  });

  test("needs the scopes of a draft run besides its own", async () => {
    const agent = await beckon.createAgent();
    const { id } = await drafted(agent, {});
    const as = async (...scopes: string[]) =>
      (await retry(id, { credential: await insertKey(beckon, { scopes }) })).status;
    expect(await as("runs:write")).toBe(403);
    expect(await as("runs:write", "agents:invoke")).toBe(403);
    expect(await as("runs:write", "agents:write")).toBe(403);
    expect(await as("agents:write", "agents:invoke")).toBe(403);
    expect(await as("runs:write", "agents:write", "agents:invoke")).toBe(201);
  });
});

test("the stored configuration is deleted with its run", async () => {
  const agent = await beckon.createAgent();
  const [one, two] = [await drafted(agent, {}), await drafted(agent, {})];
  await beckon.call(`/runs/${one.id}`, { method: "DELETE" });
  expect(await storedDrafts([one.id, two.id])).toMatchObject([{ run_id: two.id }]);
  await beckon.call("/runs/delete", { body: { filter: { source: ["draft"] } } });
  expect(await storedDrafts([one.id, two.id])).toEqual([]);
});

describe("secrets of the agent's tools", () => {
  const secret = "sk-secret-of-the-shop-1234";
  const tool = (authorization: unknown, { url, host } = target) => ({
    type: "http",
    name: "shop",
    allowed_hosts: [host],
    headers: { Authorization: authorization },
    operations: [{ name: "read", description: "Reads", method: "GET", url: `${url}/orders` }],
  });
  const withSecret = async () => {
    const agent = await beckon.createAgent({ tools: [tool({ secret })] });
    const { data } = (await beckon.call(`/agents/${agent.id}`)).body;
    return { agent, reference: data.tools[0].headers.Authorization };
  };
  const call = "/call read {}";
  const sentTo = (server: typeof target) => server.reached.map(({ headers }) => headers);

  test("are sent by a draft to the origins that they were given for", async () => {
    const { agent, reference } = await withSecret();
    await drafted(agent, { tools: [{ ...tool(reference), name: "renamed" }] }, call);
    await drafted(agent, { instructions: "Draft." }, call);
    expect(sentTo(target).map(({ authorization }) => authorization)).toEqual([secret, secret]);
  });

  test("are not sent to another origin: the draft is rejected", async () => {
    const { agent, reference } = await withSecret();
    const answer = await draft(agent, { tools: [tool(reference, elsewhere)] }, { input: call });
    expectError(answer, 400, "bad_request", /would send its secret to .* not given/);
    expect(await runsOf(agent)).toEqual([]);
    expect(elsewhere.reached).toEqual([]);
  });

  test("are not sent to another origin, even if the stored configuration says so", async () => {
    const { agent } = await withSecret();
    const { id } = await drafted(agent, {}, call);
    await engine.query(
      "update run_drafts set config = replace(config::text, $2, $3)::jsonb where run_id = $1",
      [id, target.host, elsewhere.host],
    );
    await finished((await retry(id)).body.data.id);
    expect(JSON.stringify(elsewhere.reached)).not.toContain(secret);
    expect(target.reached).toHaveLength(1);
  });

  test("of another agent cannot be used", async () => {
    const { reference } = await withSecret();
    const agent = await beckon.createAgent();
    const answer = await draft(agent, { tools: [tool(reference)] });
    expectError(answer, 400, "bad_request", /refers to a secret that this agent does not have/);
  });

  test("cannot be new in a draft, and the agent's stay", async () => {
    const { agent } = await withSecret();
    const answer = await draft(agent, { tools: [tool({ secret: "sk-new-secret-9876" })] });
    expectError(answer, 400, "bad_request", /tools\.0\.headers\.Authorization has a new secret/);
    expect(JSON.stringify(answer.body)).not.toContain("9876");
    expect((await draft(agent, { tools: [] })).status).toBe(201);
    expect((await beckon.invoke(agent, call)).status).toBe(200);
    expect(sentTo(target)[0]?.authorization).toBe(secret);
  });
});

describe("after the exit of the process that executes it", () => {
  test("a draft run is resumed with its own configuration and its own limit of attempts", async () => {
    const api = await startTestBeckon({ BECKON_ROLE: "api" });
    const held = await startModelServer();
    onTestFinished(() => held.close());
    const released = Promise.withResolvers<void>();
    held.script(async (request, index) => {
      if (index < 2) await released.promise;
      return echo()(request, index);
    });
    const { name } = await api.createProvider(held.url, "held");
    const agent = await api.createAgent({ instructions: "Saved.", limits: { max_attempts: 2 } });
    const start = async (max_attempts: number) => {
      const config = {
        model: `${name}/scripted`,
        instructions: "Draft.",
        limits: { max_attempts },
      };
      const { status, body } = await api.call(`/agents/${agent.id}/draft-runs`, {
        body: { input: "Hello", config },
      });
      expect(status).toBe(201);
      return body.data.id as string;
    };
    const [resumed, ended] = [await start(3), await start(1)];
    const worker = { BECKON_ROLE: "worker" };
    const processId = newId("prc");
    const dead = await api.another({ processId, settings: worker });
    onTestFinished(() => dead.stop());
    onTestFinished(() => released.resolve());
    await eventually("both runs at the model", () => held.requests.length === 2 || undefined);
    const heir = await api.another({ settings: worker });
    onTestFinished(() => heir.stop());
    await heir.recordDeaths([processId]);
    const over = (runId: string) =>
      eventually(`the end of ${runId}`, async () => {
        const { data } = (await api.call(`/runs/${runId}`)).body;
        return data.finished_at === null ? undefined : data;
      });
    expect(await over(ended)).toMatchObject({ status: "failed", error: { code: "interrupted" } });
    expect(await over(resumed)).toMatchObject({ status: "succeeded", attempt: 2, output: "Hello" });
    expect(held.requests.map(instructionsOf)).toEqual(["Draft.", "Draft.", "Draft."]);
  });

  test("processes of an earlier version leave draft runs alone, and take other runs", async () => {
    const agent = await beckon.createAgent();
    const { id } = await drafted(agent, {});
    const { body: retried } = await retry(id);
    const { body: invoked } = await beckon.invoke(agent, "Hello");
    const { body: again } = await retry(invoked.run_id);
    const ids = [id, retried.data.id, invoked.run_id, again.data.id];
    const { rows } = await engine.query(
      `select engine_version from run_inputs where run_id = any ($1)
        order by array_position($1, run_id)`,
      [ids],
    );
    expect(rows.map(({ engine_version }) => engine_version)).toEqual([2, 2, 1, 1]);
  });
});

test("a draft run that calls tools in several steps sees its own tools", async () => {
  const agent = await beckon.createAgent({ model });
  models.script([says({ calls: [{ id: "c", name: "clock", arguments: "{}" }] }), says("Done")]);
  const run = await drafted(agent, { tools: [{ type: "clock" }] });
  expect(run).toMatchObject({ status: "succeeded", output: "Done" });
  expect(models.requests[0]?.body.tools?.map((tool) => tool.function.name)).toEqual(["clock"]);
});
