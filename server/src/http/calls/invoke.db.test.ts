import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import {
  type Behaviour,
  blackHole,
  status as says,
  startModelServer,
} from "../../../test/model-server.ts";
import { insertKey } from "../../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const models = await startModelServer();
afterAll(() => models.close());
const { name: provider } = await beckon.createProvider(models.url);
// The model server selects its behaviour by the name of the requested model. For names that are not
// listed here it never responds.
const behaviours: Record<string, Behaviour> = { refuses: says(400), silent: blackHole };
models.script((request, index) => (behaviours[request.body.model] ?? blackHole)(request, index));

test("invoke waits for the run and answers with its id and output, and nothing else", async () => {
  const agent = await beckon.createAgent();
  const { status, body } = await beckon.invoke(agent, "Hello");
  expect(status).toBe(200);
  expect(body).toEqual({
    ok: true,
    run_id: expect.stringMatching(/^run_[0-9a-z]{26}$/),
    output: "Hello",
  });
});

test("an answer of invoke is JSON without headers of a replay or a preference", async () => {
  const { headers } = await beckon.invoke(await beckon.createAgent(), "Hello");
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.has("idempotency-replayed")).toBe(false);
  expect(headers.has("preference-applied")).toBe(false);
  expect(headers.has("location")).toBe(false);
});

test("the output is the plain text that the model said, unchanged", async () => {
  const text = 'Zeile 1\r\n\t"Zeile 2" \\ — 日本語 👋🏽 \u0001\u2028';
  const { body } = await beckon.invoke(await beckon.createAgent(), text);
  expect(body.output).toBe(text);
});

test("a run that invoke started is on record with source, input, output and times", async () => {
  const agent = await beckon.createAgent();
  const { body } = await beckon.invoke(agent, "Hello");
  const run = await beckon.call(`/runs/${body.run_id}`);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(run.body).toEqual({
    ok: true,
    data: {
      id: body.run_id,
      agent_id: agent.id,
      agent_version: 1,
      status: "succeeded",
      source: "invoke",
      trigger_id: null,
      retry_of: null,
      external_id: null,
      tags: [],
      input: "Hello",
      output: "Hello",
      error: null,
      limit: null,
      usage: {
        input_tokens: expect.any(Number),
        output_tokens: expect.any(Number),
        cached_input_tokens: 0,
      },
      cost_micros: 0,
      attempt: 1,
      created_at: time,
      started_at: time,
      finished_at: time,
    },
  });
});

test("a workspace key with agents:invoke invokes too", async () => {
  const agent = await beckon.createAgent();
  const { status, body } = await beckon.invoke(
    { id: agent.id, token: await insertKey(beckon, { scopes: ["agents:invoke"] }) },
    "Hello",
  );
  expect([status, body.output]).toEqual([200, "Hello"]);
});

test.each([
  ["model_error", "Hello", { model: `${provider}/refuses` }],
  ["deadline_exceeded", "Hello", { model: `${provider}/silent`, limits: { timeout_seconds: 1 } }],
  ["step_limit", "/call clock {}", { limits: { max_steps: 1 }, tools: [{ type: "clock" }] }],
])(
  "a run that failed with %s is answered with 500, its code, its message and its id",
  async (code, input, config) => {
    const { status, body } = await beckon.invoke(await beckon.createAgent(config), input);
    expect(status).toBe(500);
    expect(body).toEqual({
      ok: false,
      error: expect.stringMatching(/\w/),
      code,
      run_id: expect.stringMatching(/^run_/),
    });
    const run = await beckon.call(`/runs/${body.run_id}`);
    expect(run.body.data).toMatchObject({
      status: "failed",
      output: null,
      error: { code, message: body.error },
    });
  },
);
