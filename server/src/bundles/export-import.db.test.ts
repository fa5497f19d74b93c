import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { startTargetServer } from "../../test/target-server.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const target = await startTargetServer();
afterAll(() => target.close());

const yaml = { "content-type": "application/yaml" };
const exported = async (path: string, credential = beckon.key) =>
  (await beckon.call(path, { credential })).body;
const importing = (
  body: unknown,
  options: { credential?: string; headers?: Record<string, string> } = {},
) => beckon.call("/agents/import", { body, ...options });
/** Creates an empty workspace and returns a key of it. */
const elsewhere = () => insertStranger(beckon);

const secret = "sk-the-secret-of-the-shop-1234";
const tool = (authorization: unknown) => ({
  type: "http",
  name: "shop",
  allowed_hosts: [target.host],
  headers: { Authorization: authorization },
  operations: [
    {
      name: "read",
      description: "Reads",
      method: "GET",
      url: `${target.url}/orders`,
      query: { key: authorization },
    },
  ],
});
const full = {
  name: "Ada 👋",
  description: "First\nand second line",
  instructions: "  Be brief.\r\n\n\tAlways: yes # no\n\n",
  model: "demo/echo",
  model_settings: { temperature: 0.1, max_output_tokens: 100, stream: "never" },
  tools: [tool({ secret, prefix: "Bearer " }), { type: "clock" }],
  limits: {
    max_steps: 3,
    timeout_seconds: 10,
    max_concurrent_runs: 2,
    max_queued_runs: 5,
    max_attempts: 1,
    max_answer_bytes: 2_000_000,
    max_cost_micros: 500_000,
    reserve_output_tokens: 4_096,
  },
  metadata: {
    nested: { list: [1, null, true, "é", "no", "1.0", "2020-01-01"] },
    "": "",
    "a: b": "~",
  },
};
const source = await beckon.createAgent(full);
await beckon.createTrigger(source.id, {
  name: "Payments",
  prompt_prefix: "A payment came in:\n",
  enabled: false,
  allows_callback: true,
});
await beckon.createTrigger(source.id, { name: "Mail" });
const deletedTrigger = await beckon.createTrigger(source.id, { name: "Gone" });
await beckon.call(`/agents/${source.id}/triggers/${deletedTrigger.id}`, { method: "DELETE" });
await beckon.call(`/agents/${source.id}/pause`, { body: { reason: "Holiday" } });

describe("an export", () => {
  test("contains all settings and triggers of an agent, and no ids or times", async () => {
    const { body, headers, status } = await beckon.call(`/agents/${source.id}/export`);
    expect([status, headers.get("content-type"), headers.get("content-disposition")]).toEqual([
      200,
      "application/json",
      'attachment; filename="beckon-agents.json"',
    ]);
    const leftOut = { secret: null, prefix: "Bearer " };
    expect(body).toEqual({
      beckon: 1,
      agents: [
        {
          ...full,
          model_settings: { ...full.model_settings, reasoning_effort: null },
          tools: [
            expect.objectContaining({
              headers: { Authorization: leftOut },
              operations: [
                expect.objectContaining({ query: { key: leftOut }, safe_to_repeat: true }),
              ],
            }),
            { type: "clock" },
          ],
          paused: true,
          pause_reason: "Holiday",
          triggers: [
            {
              name: "Payments",
              prompt_prefix: "A payment came in:\n",
              enabled: false,
              allows_callback: true,
              receiving: null,
            },
            {
              name: "Mail",
              prompt_prefix: "",
              enabled: true,
              allows_callback: false,
              receiving: null,
            },
          ],
        },
      ],
    });
  });

  test("contains no secret, token or id, in JSON and YAML", async () => {
    for (const format of ["json", "yaml"]) {
      for (const path of [`/agents/${source.id}/export`, "/agents/export"]) {
        const { body } = await beckon.call(`${path}?format=${format}`);
        expect(typeof body === "string" ? body : JSON.stringify(body)).not.toMatch(
          /sk-|1234|bk[atw]_|(agt|trg|sec|prv|wsp)_/,
        );
      }
    }
  });

  test("in YAML has the same content as in JSON, formatted for people", async () => {
    const { body, headers } = await beckon.call(`/agents/${source.id}/export?format=yaml`);
    expect([headers.get("content-type"), headers.get("content-disposition")]).toEqual([
      "application/yaml",
      'attachment; filename="beckon-agents.yaml"',
    ]);
    expect(body).toMatch(/^beckon: 1\nagents:\n- name: Ada 👋\n/);
    expect(body).toContain("description: |-\n    First\n    and second line\n");
    expect(parseYaml(body)).toEqual(await exported(`/agents/${source.id}/export`));
  });

  test("of all agents contains those that are not deleted, oldest first, across batches", async () => {
    const credential = await elsewhere();
    const names = Array.from({ length: 45 }, (_, index) => `Agent ${index}`);
    for (const name of names)
      await beckon.call("/agents", { body: { name, model: "demo/echo" }, credential });
    const { id } = (await beckon.call("/agents?limit=1", { credential })).body.data[0];
    await beckon.call(`/agents/${id}`, { method: "DELETE", credential });
    for (const format of ["json", "yaml"]) {
      const body = await exported(`/agents/export?format=${format}`, credential);
      const { agents } = typeof body === "string" ? parseYaml(body) : body;
      expect(agents.map(({ name }: { name: string }) => name)).toEqual(names.slice(0, -1));
    }
  });

  test("of an empty workspace is a document that can be imported", async () => {
    const credential = await elsewhere();
    expect(await exported("/agents/export", credential)).toEqual({ beckon: 1, agents: [] });
    const text = await exported("/agents/export?format=yaml", credential);
    expect(text).toBe("beckon: 1\nagents: []\n");
    expect((await importing(text, { credential, headers: yaml })).body).toEqual({
      ok: true,
      data: { agents: [] },
    });
  });

  test.each(["?format=xml", "?format=", "?limit=1"])("%s is rejected", async (query) => {
    for (const path of ["/agents/export", `/agents/${source.id}/export`]) {
      expectError(
        await beckon.call(`${path}${query}`),
        400,
        "bad_request",
        /^query parameter format must be|^unknown query parameter limit/,
      );
    }
  });

  test("for a key without triggers:read contains no triggers", async () => {
    const credential = await insertKey(beckon, { scopes: ["agents:read"] });
    const { agents } = await exported(`/agents/${source.id}/export`, credential);
    expect([agents[0].name, "triggers" in agents[0]]).toEqual([full.name, false]);
  });

  test("for a key limited to agents contains only these", async () => {
    const other = await beckon.createAgent({ name: "Other" });
    const credential = await insertKey(beckon, { agentIds: [other.id] });
    const { agents } = await exported("/agents/export", credential);
    expect(agents.map(({ name }: { name: string }) => name)).toEqual(["Other"]);
    expectError(await beckon.call(`/agents/${source.id}/export`, { credential }), 404, "not_found");
  });

  test("is not found for an agent of another workspace or a deleted one", async () => {
    expectError(
      await beckon.call(`/agents/${source.id}/export`, { credential: await elsewhere() }),
      404,
      "not_found",
    );
    const { id } = await beckon.createAgent();
    await beckon.call(`/agents/${id}`, { method: "DELETE" });
    expectError(await beckon.call(`/agents/${id}/export`), 404, "not_found");
  });
});

describe("an import", () => {
  test("fills in the preset that a trigger names, with its verification", async () => {
    const credential = await elsewhere();
    const triggers = [{ name: "Push", receiving: { preset: "github", event_id_days: 3 } }];
    const document = { beckon: 1, agents: [{ name: "Ada", model: "demo/echo", triggers }] };
    const { body } = await importing(document, { credential });
    expect(body.data.agents[0].secrets_needed).toEqual(["triggers.0.secret"]);
    const [agent] = (await exported("/agents/export", credential)).agents;
    expect(agent.triggers[0].receiving).toMatchObject({
      preset: "github",
      event_id_days: 3,
      verification: { kind: "hmac", header: "x-hub-signature-256" },
    });
  });

  test.each(["json", "yaml"])(
    "of an export as %s adds an equal agent with working tokens",
    async (format) => {
      const credential = await elsewhere();
      const path = `/agents/${source.id}/export?format=${format}`;
      const headers = { "content-type": `application/${format}` };
      const document = await exported(path);
      const {
        status,
        body,
        headers: answered,
      } = await importing(document, { credential, headers });
      expect([status, answered.get("cache-control")]).toEqual([200, "no-store"]);
      const [made] = body.data.agents;
      expect(made).toEqual({
        id: expect.stringMatching(/^agt_/),
        name: full.name,
        token: expect.stringMatching(/^bka_/),
        triggers: ["Payments", "Mail"].map((name) => ({
          id: expect.stringMatching(/^trg_/),
          name,
          token: expect.stringMatching(/^bkt_/),
          url: expect.stringMatching(/^http.*\/api\/public\/triggers\/bkt_/),
        })),
        secrets_needed: ["tools.0.headers.Authorization", "tools.0.operations.0.query.key"],
      });
      expect(made.id).not.toBe(source.id);
      expect(await exported(path.replace(source.id, made.id), credential)).toEqual(document);
      await beckon.call(`/agents/${made.id}/resume`, { method: "POST", credential });
      expect((await beckon.invoke(made, "Hello")).body.output).toBe("Hello");
      expect(
        (await beckon.call(made.triggers[1].url, { credential: null, body: "Hello" })).status,
      ).toBe(200);
    },
  );

  test("uses the same defaults as creating an agent", async () => {
    const [made] = (
      await importing("beckon: 1\nagents:\n- {name: Short, model: demo/echo}\n", { headers: yaml })
    ).body.data.agents;
    const created = await beckon.createAgent({ name: "Short" });
    expect(await exported(`/agents/${made.id}/export`)).toEqual(
      await exported(`/agents/${created.id}/export`),
    );
  });

  test("resolves providers by name, and the error names the unknown provider and the agent", async () => {
    const credential = await elsewhere();
    const agents = [
      { name: "Here", model: "demo/echo" },
      { name: "There", model: "shopai/big" },
    ];
    expectError(
      await importing({ beckon: 1, agents }, { credential }),
      400,
      "bad_request",
      /^agents\.1 \(There\): model: there is no provider shopai\b/,
    );
    expect((await beckon.call("/agents", { credential })).body.data).toEqual([]);
    const provider = {
      name: "shopai",
      kind: "openai-compatible",
      base_url: "http://127.0.0.1:9/v1",
    };
    const { id } = (await beckon.call("/providers", { body: provider, credential })).body.data;
    expect((await importing({ beckon: 1, agents }, { credential })).status).toBe(200);
    expectError(
      await beckon.call(`/providers/${id}`, { method: "DELETE", credential }),
      409,
      "conflict",
      /There/,
    );
  });

  test("is in the audit log with an entry per agent and trigger, without secrets", async () => {
    const credential = await elsewhere();
    const agents = [
      { name: "One", model: "demo/echo", tools: [tool({ secret })], triggers: [{ name: "T" }] },
      { name: "Two", model: "demo/echo" },
    ];
    await importing({ beckon: 1, agents }, { credential });
    const { body } = await beckon.call("/audit", { credential });
    const entries = body.data.map(
      ({ action, data }: { action: string; data: { name: string } }) => `${action} ${data.name}`,
    );
    expect(entries.sort()).toEqual(["agent.import One", "agent.import Two", "trigger.create T"]);
    expect(JSON.stringify(body)).not.toMatch(/sk-|bk[at]_/);
  });

  test("with an Idempotency-Key is done once, and a repeat returns the same tokens", async () => {
    const credential = await elsewhere();
    const document =
      "beckon: 1\nagents:\n- name: Once\n  model: demo/echo\n  triggers: [{name: T}]\n";
    const send = (text: string) =>
      importing(text, { credential, headers: { ...yaml, "idempotency-key": "import" } });
    const [first, again] = [await send(document), await send(document)];
    expect([again.body, again.headers.get("idempotency-replayed")]).toEqual([first.body, "true"]);
    expect((await beckon.call("/agents", { credential })).body.data).toHaveLength(1);
    expectError(await send(`${document} `), 422, "idempotency_mismatch");
  });

  test("by a key limited to agents is rejected", async () => {
    const credential = await insertKey(beckon, { agentIds: [source.id] });
    expectError(
      await importing({ beckon: 1, agents: [] }, { credential }),
      403,
      "forbidden",
      /limited to some agents/,
    );
  });

  test("of triggers needs triggers:write and adds nothing without it", async () => {
    const credential = await insertKey(beckon, { scopes: ["agents:write"] });
    const agents = [
      { name: "Without triggers:write", model: "demo/echo", triggers: [{ name: "T" }] },
    ];
    expectError(
      await importing({ beckon: 1, agents }, { credential }),
      403,
      "forbidden",
      /triggers:write/,
    );
    expect((await beckon.call("/agents?search=Without triggers")).body.data).toEqual([]);
    expect(
      (await importing({ beckon: 1, agents: [{ ...agents[0], triggers: [] }] }, { credential }))
        .status,
    ).toBe(200);
  });
});

test("exporting any agents, importing and exporting again gives equal documents in JSON and YAML", async () => {
  const unit = fc.constantFrom(
    ..."ab \n\r\t#:-'\"\\|>!&*%@`{}[]?,~01.eEyn\u0001\u007f\u0085\u2028\ufeff",
    "👋",
    "é",
    "---",
  );
  const text = fc.string({ unit, maxLength: 30 });
  const label = text
    .filter((value) => value.trim() !== "" && value.length > 0)
    .map((value) => value.slice(0, 200));
  const value = fc.oneof(
    fc.string({ unit: fc.constantFrom(..."ab :#-'\""), maxLength: 10 }),
    fc.constant({ secret: null }),
    fc.constant({ secret: null, prefix: "Bearer: " }),
  );
  const operation = (name: string) =>
    fc.record({
      name: fc.constant(name),
      description: text.map((given) => `d${given}`),
      method: fc.constantFrom("GET", "POST"),
      url: fc.constant("https://api.example.com/orders/{id}?a={id}"),
      query: fc.dictionary(fc.constantFrom("q", "a b", "é"), value),
      headers: fc.dictionary(fc.constantFrom("x-a", "x-b"), value),
      parameters: fc.constant({
        type: "object",
        properties: { id: { type: "string", enum: ["a", "1"] } },
        required: ["id"],
      }),
    });
  const httpTool = fc.record({
    type: fc.constant("http"),
    name: fc.constant("shop"),
    description: text,
    allowed_hosts: fc.constant(["api.example.com"]),
    headers: fc.dictionary(fc.constantFrom("Authorization", "x-key"), value),
    operations: fc.tuple(operation("one"), operation("two")),
  });
  const agent = fc.record(
    {
      name: label,
      model: fc.constant("demo/echo"),
      description: text,
      instructions: text,
      model_settings: fc.record(
        {
          temperature: fc.constantFrom(0, 0.1, 2),
          max_output_tokens: fc.integer({ min: 1, max: 1_000_000 }),
        },
        { requiredKeys: [] },
      ),
      tools: fc.oneof(fc.constant([]), fc.tuple(httpTool, fc.constant({ type: "clock" }))),
      limits: fc.record({
        max_steps: fc.integer({ min: 1, max: 1_000 }),
        max_concurrent_runs: fc.option(fc.integer({ min: 1, max: 9 })),
      }),
      metadata: fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
      triggers: fc.array(fc.record({ name: label, prompt_prefix: text, enabled: fc.boolean() }), {
        maxLength: 2,
      }),
      paused: fc.boolean(),
    },
    { requiredKeys: ["name", "model"], noNullPrototype: true },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(agent, { maxLength: 4 }), async (agents) => {
      // NUL, lone surrogates, fields named __proto__ and integers beyond ±2^53 are replaced or
      // removed, because an import rejects them. Other tests check these rejections.
      const body = JSON.stringify({ beckon: 1, agents }, (_key, value: unknown) =>
        Number.isInteger(value) && !Number.isSafeInteger(value) ? String(value) : value,
      )
        .replaceAll("__proto__", "proto")
        .replaceAll(/\\u(0000|d[89a-f]..)/g, "");
      const [first, second, third] = [await elsewhere(), await elsewhere(), await elsewhere()];
      const response = await importing(body, {
        credential: first,
        headers: { "content-type": "application/json" },
      });
      expect(response.body).toMatchObject({ ok: true });
      const document = await exported("/agents/export", first);
      expect(document.agents).toHaveLength(agents.length);
      expect(document).toMatchObject(JSON.parse(body));
      const text = await exported("/agents/export?format=yaml", first);
      expect((await importing(document, { credential: second })).status).toBe(200);
      expect((await importing(text, { credential: third, headers: yaml })).status).toBe(200);
      for (const credential of [second, third]) {
        expect(await exported("/agents/export", credential)).toEqual(document);
        expect(await exported("/agents/export?format=yaml", credential)).toBe(text);
      }
    }),
    { numRuns: 12 },
  );
});
