import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { insertKey } from "../../test/workspace-key.ts";

/** Tests that subscriptions give nobody the outputs of runs without the scope `runs:read`. */

const beckon = await startTestBeckon({ BECKON_EGRESS_ALLOW: "localhost:9" });
const agent = await beckon.createAgent();
const weak = await insertKey(beckon, { scopes: ["subscriptions:read", "subscriptions:write"] });
const reader = await insertKey(beckon, { scopes: ["subscriptions:write", "runs:read"] });
const url = "http://127.0.0.1:9/events";
const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const create = (body: object = {}, credential = beckon.key) =>
  beckon.call("/subscriptions", {
    body: { url, event_types: ["run.finished"], ...body },
    credential,
  });
const created = async (body: object = {}): Promise<string> => (await create(body)).body.data.id;
const change = (id: string, body: object, credential: string) =>
  beckon.call(`/subscriptions/${id}`, { method: "PATCH", body, credential });
const needed = /runs:read.*"payload": "thin"/;

test("a key without runs:read creates only subscriptions with thin payloads", async () => {
  for (const body of [{}, { payload: "full" }])
    expectError(await create(body, weak), 403, "forbidden", needed);
  expect((await create({ payload: "thin" }, weak)).status).toBe(201);
  expect((await create({}, reader)).status).toBe(201);
});

const changes = [
  { url: "http://127.0.0.1:9/other" },
  { url: "http://localhost:9/events", secret },
  { event_types: ["run.finished", "run.failed"] },
  { agent_ids: null },
  { trigger_ids: null },
  { tags: ["other"] },
];

test.each(changes)(
  "a key without runs:read cannot change a full subscription: %j",
  async (body) => {
    const trigger = await beckon.createTrigger(agent.id);
    const id = await created({ agent_ids: [agent.id], trigger_ids: [trigger.id], tags: ["one"] });
    expectError(await change(id, body, weak), 403, "forbidden", needed);
    expect((await beckon.call(`/subscriptions/${id}`)).body.data.version).toBe(1);
    expect((await change(id, body, reader)).status).toBe(200);
  },
);

test("a key without runs:read cannot change a thin subscription to full", async () => {
  const id = await created({ payload: "thin" });
  expectError(await change(id, { payload: "full" }, weak), 403, "forbidden", needed);
  expect((await change(id, { payload: "full" }, reader)).status).toBe(200);
});

test("a key without runs:read changes all else, and all of a thin subscription", async () => {
  const thin = await created({ payload: "thin" });
  for (const body of changes) expect((await change(thin, body, weak)).status).toBe(200);
  const full = await created();
  const repeated = { url, event_types: ["run.finished"], agent_ids: null, payload: "full" };
  for (const body of [{ description: "Mine", ...repeated }, { payload: "thin" }])
    expect((await change(full, body, weak)).status).toBe(200);
});
