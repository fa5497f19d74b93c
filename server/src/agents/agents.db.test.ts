import { describe, expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";

const beckon = await startTestBeckon();

const change = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  beckon.call(`/agents/${id}`, { method: "PATCH", body, headers });
const idsOf = ({ body }: Answer): string[] => body.data.map((agent: { id: string }) => agent.id);
const toolAt = (origin: string, name = "shop") => ({
  type: "http",
  name,
  allowed_hosts: [new URL(origin).host],
  operations: [{ name: `read_${name}`, description: "Reads", method: "GET", url: origin }],
});
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe("creating an agent", () => {
  test("returns the whole agent with defaults and its token", async () => {
    const { status, body } = await beckon.call("/agents", {
      body: { name: "Ada", model: "demo/echo" },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      ok: true,
      data: {
        id: expect.stringMatching(/^agt_[0-9a-z]{26}$/),
        version: 1,
        name: "Ada",
        description: "",
        instructions: "",
        model: "demo/echo",
        model_settings: { stream: "auto" },
        tools: [],
        limits: {
          max_steps: 20,
          timeout_seconds: 600,
          max_concurrent_runs: null,
          max_queued_runs: 10_000,
          max_attempts: 3,
          max_answer_bytes: 4_194_304,
          max_cost_micros: null,
          reserve_output_tokens: 16_384,
        },
        metadata: {},
        provider_id: null,
        paused: false,
        paused_by: null,
        pause_reason: null,
        created_at: time,
        updated_at: time,
        token: expect.stringMatching(/^bka_[\w-]{48}$/),
      },
    });
  });

  test("returns its URL in Location", async () => {
    const { headers, body } = await beckon.call("/agents", {
      body: { name: "Ada", model: "demo/echo" },
    });
    const found = await beckon.call(new URL(headers.get("location") ?? "", beckon.url).href);
    const { token: _, ...shown } = body.data;
    expect(found.body).toEqual({ ok: true, data: shown });
  });

  test("stores all given fields", async () => {
    const given = {
      name: "Ada 👋",
      description: "Zeile 1\nZeile 2",
      instructions: "Be brief.",
      model: "demo/echo",
      model_settings: {
        temperature: 0.2,
        max_output_tokens: 100,
        reasoning_effort: "low",
        stream: "never",
      },
      tools: [{ type: "clock" }],
      limits: {
        max_steps: 3,
        timeout_seconds: 10,
        max_concurrent_runs: 2,
        max_queued_runs: 5,
        max_attempts: 1,
      },
      metadata: { team: "ops", nested: { list: [1, null, true, "é"] } },
    };
    const { id } = await beckon.createAgent(given);
    expect((await beckon.call(`/agents/${id}`)).body.data).toMatchObject(given);
  });

  test("allows a name that another agent has", async () => {
    const [one, other] = [
      await beckon.createAgent({ name: "Same" }),
      await beckon.createAgent({ name: "Same" }),
    ];
    expect(one.id).not.toBe(other.id);
  });

  test("with a model of an unknown provider is rejected with the known providers", async () => {
    const response = await beckon.call("/agents", { body: { name: "Ada", model: "nowhere/gpt" } });
    expectError(response, 400, "bad_request", /nowhere.*demo\/echo/);
  });

  test.each(["10.0.0.5:8080", "localhost:8080", "[::1]:8080"])(
    "with a tool at %s is rejected with how to allow it, as is its import and such a change",
    async (host) => {
      const tools = [toolAt(`http://${host}`)];
      const body = { name: "Ada", model: "demo/echo", tools };
      const how =
        /tools\.0\.operations\.0\.url: \S+:8080 is not .* add \S+:8080 to BECKON_EGRESS_ALLOW /;
      expectError(await beckon.call("/agents", { body }), 400, "bad_request", how);
      const document = { beckon: 1, agents: [body] };
      expectError(await beckon.call("/agents/import", { body: document }), 400, "bad_request", how);
      const { id } = await beckon.createAgent();
      expectError(await change(id, { tools }), 400, "bad_request", how);
      const draft = { input: "Hello", config: { tools } };
      expectError(
        await beckon.call(`/agents/${id}/draft-runs`, { body: draft }),
        400,
        "bad_request",
        how,
      );
    },
  );

  test("with an unknown demo model is rejected", async () => {
    expectError(
      await beckon.call("/agents", { body: { name: "Ada", model: "demo/other" } }),
      400,
      "bad_request",
      /demo\/other/,
    );
  });
});

describe("the list of agents", () => {
  test("is sorted newest first and paginated", async () => {
    const made: string[] = [];
    for (let index = 0; index < 3; index++) made.unshift((await beckon.createAgent()).id);
    const first = await beckon.call("/agents?limit=2");
    const second = await beckon.call(`/agents?limit=1&after=${first.body.next}`);
    expect([...idsOf(first), ...idsOf(second)]).toEqual(made);
  });

  test("shows each agent as GET of that agent does", async () => {
    const { id } = await beckon.createAgent();
    const { body } = await beckon.call("/agents?limit=1");
    expect(body.data).toEqual([(await beckon.call(`/agents/${id}`)).body.data]);
  });

  test("contains no deleted agent", async () => {
    const { id } = await beckon.createAgent();
    await beckon.call(`/agents/${id}`, { method: "DELETE" });
    expect(idsOf(await beckon.call("/agents?limit=200"))).not.toContain(id);
  });
});

describe("changing an agent", () => {
  test("adds a version and leaves fields that were not given unchanged", async () => {
    const { id } = await beckon.createAgent({ name: "Before", description: "Stays" });
    const { status, body } = await change(id, { name: "After" });
    expect([status, body.data]).toMatchObject([
      200,
      { id, version: 2, name: "After", description: "Stays", model: "demo/echo" },
    ]);
    expect((await beckon.call(`/agents/${id}`)).body).toEqual(body);
  });

  test("to what it is already adds no version and no audit entry", async () => {
    const config = {
      name: "Same",
      description: "As before",
      model_settings: { temperature: 1 },
      tools: [{ type: "clock" }],
      limits: { max_steps: 3 },
      metadata: { a: { b: 1 } },
    };
    const { id } = await beckon.createAgent(config);
    const before = (await beckon.call(`/agents/${id}`)).body;
    const audit = async () => (await beckon.call(`/audit?target=${id}&action=agent.update`)).body;
    for (const same of [config, { name: "Same" }, {}]) {
      const { status, body, headers } = await change(id, same);
      expect([status, body, headers.get("etag")]).toEqual([200, before, '"1"']);
    }
    expect((await audit()).data).toEqual([]);
    expectError(await change(id, config, { "if-match": '"2"' }), 412, "stale");
    await change(id, { name: "Other" });
    expect((await audit()).data).toHaveLength(1);
  });

  test("merges limits and model settings, and replaces tools and metadata", async () => {
    const { id } = await beckon.createAgent({
      limits: { max_steps: 3 },
      model_settings: { temperature: 1 },
      tools: [{ type: "clock" }],
      metadata: { a: 1 },
    });
    const { body } = await change(id, {
      limits: { max_attempts: 9 },
      model_settings: { stream: "never" },
      tools: [],
      metadata: { b: 2 },
    });
    expect(body.data).toMatchObject({
      limits: { max_steps: 3, max_attempts: 9 },
      model_settings: { temperature: 1, stream: "never" },
    });
    expect([body.data.tools, body.data.metadata]).toEqual([[], { b: 2 }]);
  });

  test("removes a model setting with null", async () => {
    const { id } = await beckon.createAgent({
      model_settings: { temperature: 1, max_output_tokens: 5 },
    });
    const { body } = await change(id, { model_settings: { temperature: null } });
    expect(body.data.model_settings).toEqual({ max_output_tokens: 5, stream: "auto" });
  });

  test("removes a concurrency limit with null", async () => {
    const { id } = await beckon.createAgent({ limits: { max_concurrent_runs: 1 } });
    expect(
      (await change(id, { limits: { max_concurrent_runs: null } })).body.data.limits
        .max_concurrent_runs,
    ).toBeNull();
  });

  test("keeps its tools at addresses that the operator no longer allows, and accepts no others", async () => {
    const host = "10.0.0.5:8080";
    const earlier = await beckon.another({
      settings: { BECKON_ROLE: "api", BECKON_EGRESS_ALLOW: host },
    });
    const tools = [toolAt(`http://${host}`)];
    const { body } = await beckon.call(`${earlier.url}/api/public/agents`, {
      body: { name: "Ada", model: "demo/echo", tools },
    });
    await earlier.stop();
    const { id } = body.data;
    expect((await change(id, { tools, description: "Other" })).status).toBe(200);
    const more = [...tools, toolAt("http://10.0.0.6", "other")];
    expectError(
      await change(id, { tools: more }),
      400,
      "bad_request",
      /tools\.1\..*10\.0\.0\.6:80/,
    );
  });

  test("to a model of an unknown provider is rejected and changes nothing", async () => {
    const { id } = await beckon.createAgent();
    expectError(await change(id, { model: "nowhere/gpt" }), 400, "bad_request", /nowhere/);
    expect((await beckon.call(`/agents/${id}`)).body.data.version).toBe(1);
  });

  test("concurrently adds one version per change", async () => {
    const { id } = await beckon.createAgent();
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, index) => change(id, { description: `change ${index}` })),
    );
    const versions = responses.map(({ body }) => body.data.version).sort((a, b) => a - b);
    expect(versions).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  test("applies to the next run", async () => {
    const agent = await beckon.createAgent({
      limits: { max_steps: 1 },
      tools: [{ type: "clock" }],
    });
    expect((await beckon.invoke(agent, "/call clock {}")).body.code).toBe("step_limit");
    await change(agent.id, { limits: { max_steps: 2 } });
    expect((await beckon.invoke(agent, "/call clock {}")).body.output).toMatch(/^clock answered/);
  });
});

describe("If-Match", () => {
  test("accepts the ETag of a GET", async () => {
    const { id } = await beckon.createAgent();
    const { headers } = await beckon.call(`/agents/${id}`);
    const changed = await change(id, { name: "After" }, { "if-match": headers.get("etag") ?? "" });
    expect([changed.status, changed.headers.get("etag")]).toEqual([200, '"2"']);
  });

  test("that is stale is rejected with 412 and changes nothing", async () => {
    const { id } = await beckon.createAgent();
    await change(id, { name: "Theirs" });
    expectError(
      await change(id, { name: "Mine" }, { "if-match": '"1"' }),
      412,
      "stale",
      /version 2/,
    );
    expect((await beckon.call(`/agents/${id}`)).body.data).toMatchObject({
      name: "Theirs",
      version: 2,
    });
  });

  test("that is stale prevents a deletion", async () => {
    const { id } = await beckon.createAgent();
    await change(id, { name: "Theirs" });
    expectError(
      await beckon.call(`/agents/${id}`, { method: "DELETE", headers: { "if-match": '"1"' } }),
      412,
      "stale",
    );
    expect((await beckon.call(`/agents/${id}`)).status).toBe(200);
  });

  test("that is current allows a deletion", async () => {
    const { id } = await beckon.createAgent();
    expect(
      (await beckon.call(`/agents/${id}`, { method: "DELETE", headers: { "if-match": '"1"' } }))
        .status,
    ).toBe(204);
  });

  test.each(["1", 'W/"1"', "*", '"4", "1"', 'W/"4",W/"1"', '"1-gzip"', '"1-zstd"'])(
    "may be written %s",
    async (tag) => {
      const { id } = await beckon.createAgent();
      expect((await change(id, { name: "After" }, { "if-match": tag })).status).toBe(200);
    },
  );

  test("lets one of many concurrent changes succeed", async () => {
    const { id } = await beckon.createAgent();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => change(id, { name: "After" }, { "if-match": '"1"' })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(412)]);
  });

  test("is optional: without it the last change wins", async () => {
    const { id } = await beckon.createAgent();
    await change(id, { name: "Theirs" });
    expect((await change(id, { name: "Mine" })).body.data.name).toBe("Mine");
  });
});

describe("pausing an agent", () => {
  test("returns the agent with the reason", async () => {
    const { id } = await beckon.createAgent();
    const { status, body } = await beckon.call(`/agents/${id}/pause`, {
      body: { reason: "Holiday" },
    });
    expect([status, body.data]).toMatchObject([
      200,
      { id, version: 1, paused: true, pause_reason: "Holiday" },
    ]);
    expect((await beckon.call(`/agents/${id}`)).body).toEqual(body);
  });

  test("makes every start fail with 409", async () => {
    const agent = await beckon.createAgent();
    const { url } = await beckon.createTrigger(agent.id);
    await beckon.call(`/agents/${agent.id}/pause`, { method: "POST" });
    expectError(await beckon.invoke(agent, "Hello"), 409, "agent_paused");
    expectError(await beckon.call(url, { credential: null, body: "Hello" }), 409, "agent_paused");
  });

  test("again changes the reason", async () => {
    const { id } = await beckon.createAgent();
    await beckon.call(`/agents/${id}/pause`, { body: { reason: "Holiday" } });
    expect((await beckon.call(`/agents/${id}/pause`, { body: {} })).body.data).toMatchObject({
      paused: true,
      pause_reason: null,
    });
  });

  test("is undone by resume", async () => {
    const agent = await beckon.createAgent();
    await beckon.call(`/agents/${agent.id}/pause`, { body: { reason: "Holiday" } });
    const { status, body } = await beckon.call(`/agents/${agent.id}/resume`, { method: "POST" });
    expect([status, body.data]).toMatchObject([200, { paused: false, pause_reason: null }]);
    expect((await beckon.invoke(agent, "Hello")).status).toBe(200);
  });

  test("can be undone when the agent is not paused", async () => {
    const { id } = await beckon.createAgent();
    expect((await beckon.call(`/agents/${id}/resume`, { method: "POST" })).body.data.paused).toBe(
      false,
    );
  });

  test("is not undone by a change", async () => {
    const agent = await beckon.createAgent();
    await beckon.call(`/agents/${agent.id}/pause`, { method: "POST" });
    await change(agent.id, { name: "After" });
    expectError(await beckon.invoke(agent, "Hello"), 409, "agent_paused");
  });
});

describe("deleting an agent", () => {
  test("returns 204 without a body, and the agent is not found afterwards", async () => {
    const { id } = await beckon.createAgent();
    const { status, body } = await beckon.call(`/agents/${id}`, { method: "DELETE" });
    expect([status, body]).toEqual([204, undefined]);
    expectError(await beckon.call(`/agents/${id}`), 404, "not_found");
    expectError(await beckon.call(`/agents/${id}`, { method: "DELETE" }), 404, "not_found");
  });

  test("hides its triggers", async () => {
    const { id } = await beckon.createAgent();
    const trigger = await beckon.createTrigger(id);
    await beckon.call(`/agents/${id}`, { method: "DELETE" });
    expectError(await beckon.call(`/agents/${id}/triggers/${trigger.id}`), 404, "not_found");
  });
});

describe("restoring a deleted agent", () => {
  async function restored() {
    const agent = await beckon.createAgent({ name: "Back" });
    const trigger = await beckon.createTrigger(agent.id);
    await beckon.call(`/agents/${agent.id}`, { method: "DELETE" });
    return {
      agent,
      trigger,
      response: await beckon.call(`/agents/${agent.id}/restore`, { method: "POST" }),
    };
  }

  test("returns the agent as it was", async () => {
    const { agent, response } = await restored();
    expect([response.status, response.body.data]).toMatchObject([
      200,
      { id: agent.id, name: "Back", version: 1, paused: false },
    ]);
    expect((await beckon.call(`/agents/${agent.id}`)).body).toEqual(response.body);
  });

  test("leaves it without a token", async () => {
    const { agent } = await restored();
    expectError(await beckon.invoke(agent, "Hello"), 401, "unauthorized");
    expectError(await beckon.call(`/agents/${agent.id}/token`), 404, "not_found", /[Rr]otate/);
  });

  test("allows a new token to be issued", async () => {
    const { agent } = await restored();
    const { token } = (await beckon.call(`/agents/${agent.id}/token/rotate`, { method: "POST" }))
      .body.data;
    expect((await beckon.invoke({ id: agent.id, token }, "Hello")).status).toBe(200);
  });

  test("disables its triggers until they are enabled", async () => {
    const { agent, trigger } = await restored();
    const fire = () => beckon.call(trigger.url, { credential: null, body: "Hello" });
    expectError(await fire(), 409, "trigger_disabled");
    await beckon.call(`/agents/${agent.id}/triggers/${trigger.id}`, {
      method: "PATCH",
      body: { enabled: true },
    });
    expect((await fire()).status).toBe(200);
  });

  test("makes triggers reject requests that they swallowed while they were disabled", async () => {
    const agent = await beckon.createAgent();
    const trigger = await beckon.createTrigger(agent.id, {
      enabled: false,
      receiving: { when_disabled: "swallow" },
    });
    const fire = () => beckon.call(trigger.url, { credential: null, body: "Hello" });
    expect((await fire()).status).toBe(202);
    await beckon.call(`/agents/${agent.id}`, { method: "DELETE" });
    await beckon.call(`/agents/${agent.id}/restore`, { method: "POST" });
    expectError(await fire(), 409, "trigger_disabled");
    const shown = (await beckon.call(`/agents/${agent.id}/triggers/${trigger.id}`)).body.data;
    expect(shown.receiving.when_disabled).toBe("refuse");
  });

  test("that is not deleted returns 409", async () => {
    const { id } = await beckon.createAgent();
    expectError(await beckon.call(`/agents/${id}/restore`, { method: "POST" }), 409, "conflict");
  });
});
