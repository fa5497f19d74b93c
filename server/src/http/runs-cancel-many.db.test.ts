import { afterAll, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { eventTypesOf, statesOf } from "../../test/runs-of.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";

/** One process serves requests and another executes runs, so that cancellations cross processes. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });
const worker = await beckon.another({ settings: { BECKON_ROLE: "worker" } });
afterAll(() => worker.stop());

const async = { prefer: "respond-async" };
const cancel = (body: unknown, credential = beckon.key) =>
  beckon.call("/runs/cancel", { body, credential });
const cancelled = (count: number) => ({ ok: true, data: { cancelled: count, next: null } });
type Agent = Awaited<ReturnType<typeof beckon.createAgent>>;

/** Creates an agent with a run that waits for its model, and `queued` runs in its queue. */
async function busy(queued: number) {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model, limits: { max_concurrent_runs: 1 } });
  const start = async (): Promise<string> =>
    (await beckon.invoke(agent, "Hello", async)).body.run_id;
  const running = await start();
  await held.reached(1);
  const waiting: string[] = [];
  for (let index = 0; index < queued; index++) waiting.push(await start());
  return { held, agent, running, waiting, start };
}

const states = (agent: Agent, expected: Record<string, number>) =>
  eventually(`runs that are ${JSON.stringify(expected)}`, async () =>
    JSON.stringify(Object.entries(await statesOf(beckon, agent.id)).sort()) ===
    JSON.stringify(Object.entries(expected).sort())
      ? true
      : undefined,
  );

test("all runs of an agent are cancelled, queued ones and one that another process executes", async () => {
  const { agent, running, waiting, held } = await busy(3);
  const { status, body } = await cancel({ filter: { agent_id: agent.id } });
  expect([status, body]).toEqual([200, cancelled(4)]);
  await states(agent, { cancelled: 4 });
  expect(held.requests).toHaveLength(1);
  expect((await eventTypesOf(beckon, running)).at(-1)).toBe("run.cancelled");
  for (const runId of waiting)
    expect(await eventTypesOf(beckon, runId)).toEqual(["run.queued", "run.cancelled"]);
});

test("each ends like a run that is cancelled alone", async () => {
  const { agent, waiting } = await busy(2);
  const [one, other] = waiting;
  await cancel({ filter: { agent_id: agent.id } });
  const { body: alone } = await (async () => {
    const another = await busy(1);
    return beckon.call(`/runs/${another.waiting[0]}/cancel`, { method: "POST" });
  })();
  const same = ({ status, error, usage, cost_micros, output }: Record<string, unknown>) => ({
    status,
    error,
    usage,
    cost_micros,
    output,
  });
  for (const runId of [one, other])
    expect(same((await beckon.call(`/runs/${runId}`)).body.data)).toEqual(same(alone.data));
});

test("a caller that waits for one of them gets the cancellation", async () => {
  const { agent } = await busy(0);
  const waiting = beckon.invoke(agent, "Hello");
  await states(agent, { running: 1, queued: 1 });
  await cancel({ filter: { agent_id: agent.id, status: ["queued"] } });
  const { status, body } = await waiting;
  expect([status, body.code]).toEqual([500, "cancelled"]);
  await states(agent, { running: 1, cancelled: 1 });
});

test("runs of other agents continue", async () => {
  const [one, other] = [await busy(1), await busy(1)];
  await cancel({ filter: { agent_id: one.agent.id } });
  await states(one.agent, { cancelled: 2 });
  expect(await statesOf(beckon, other.agent.id)).toEqual({ running: 1, queued: 1 });
});

test("a run that is started after the call continues", async () => {
  const { agent, start } = await busy(2);
  await cancel({ filter: { agent_id: agent.id } });
  await start();
  await states(agent, { cancelled: 3, running: 1 });
});

test("a repeat with the same Idempotency-Key cancels no run that was started meanwhile", async () => {
  const { agent, start } = await busy(1);
  const send = () =>
    beckon.call("/runs/cancel", {
      body: { filter: { agent_id: agent.id } },
      headers: { "idempotency-key": "cancel once" },
    });
  expect((await send()).body).toEqual(cancelled(2));
  await start();
  const repeated = await send();
  expect([repeated.status, repeated.body]).toEqual([200, cancelled(2)]);
  expect(repeated.headers.get("idempotency-replayed")).toBe("true");
  await states(agent, { cancelled: 2, running: 1 });
});

test("a queued run whose cancellation was requested while a process executed it is cancelled", async () => {
  const { agent, waiting } = await busy(1);
  const [released = ""] = waiting;
  await beckon.db.database.engine.query(
    "update runs set cancel_requested_at = now() where id = $1",
    [released],
  );
  const { body } = await cancel({ filter: { agent_id: agent.id, status: ["queued", "running"] } });
  expect(body).toEqual(cancelled(2));
  expect((await beckon.call(`/runs/${released}`)).body.data.status).toBe("cancelled");
});

test("ended runs do not change", async () => {
  const agent = await beckon.createAgent();
  const { body } = await beckon.invoke(agent, "Hello");
  const before = (await beckon.call(`/runs/${body.run_id}`)).body.data;
  expect((await cancel({ filter: { agent_id: agent.id } })).body).toEqual(cancelled(0));
  expect((await beckon.call(`/runs/${body.run_id}`)).body.data).toEqual(before);
});

test("a second call finds nothing to cancel, and two simultaneous ones count each run once", async () => {
  const { agent } = await busy(4);
  const answers = await Promise.all([
    cancel({ filter: { agent_id: agent.id } }),
    cancel({ filter: { agent_id: agent.id } }),
  ]);
  expect(answers.reduce((sum, { body }) => sum + body.data.cancelled, 0)).toBe(5);
  expect((await cancel({ filter: { agent_id: agent.id } })).body).toEqual(cancelled(0));
  await states(agent, { cancelled: 5 });
});

test("every filter of the search is supported", async () => {
  const { agent, waiting } = await busy(1);
  const trigger = await beckon.createTrigger(agent.id);
  const { body: fired } = await beckon.call(trigger.url, { credential: null, body: "Hello" });
  const agent_id = agent.id;
  const cancelledBy = async (filter: Record<string, unknown>) =>
    (await cancel({ filter: { agent_id, ...filter } })).body.data.cancelled;
  expect(await cancelledBy({ created_before: "2020-01-01T00:00:00Z" })).toBe(0);
  expect(await cancelledBy({ created_after: "2100-01-01T00:00:00Z" })).toBe(0);
  expect(await cancelledBy({ error: "model" })).toBe(0);
  expect(await cancelledBy({ trigger_id: trigger.id })).toBe(1);
  expect((await beckon.call(`/runs/${fired.run_id}`)).body.data.status).toBe("cancelled");
  expect(await cancelledBy({ source: ["trigger"] })).toBe(0);
  expect(await cancelledBy({ status: ["queued"], source: ["invoke"] })).toBe(1);
  expect((await beckon.call(`/runs/${waiting[0]}`)).body.data.status).toBe("cancelled");
  expect(await cancelledBy({ status: ["running"] })).toBe(1);
});

test("more runs than one call can change are cancelled in several calls", async () => {
  const { agent } = await busy(0);
  await beckon.db.database.engine.query(
    `with grown as (
      insert into runs (id, workspace_id, agent_id, status, fence, last_seq)
      select 'run_0' || lpad(n::text, 25, '0'), workspace_id, id, 'queued', 0, 1 from agents, generate_series(1, 1200) n where id = $1 returning id, workspace_id
    ), inputs as (
      insert into run_inputs (run_id, workspace_id, agent_version, source, payload, principal, engine_version)
      select id, workspace_id, 1, 'invoke', 'hello', 'token:x', 1 from grown
    ) insert into events (run_id, seq, workspace_id, id, type, version, data) select id, 1, workspace_id, 'evt_' || id, 'run.queued', 1, '{}' from grown`,
    [agent.id],
  );
  const body = { filter: { agent_id: agent.id, status: ["queued"] } };
  const first = await cancel(body);
  expect(first.body.data).toEqual({ cancelled: 1_000, next: expect.any(String) });
  expect((await cancel({ ...body, after: first.body.data.next })).body).toEqual(cancelled(200));
  expectError(
    await cancel({ filter: { agent_id: agent.id }, after: first.body.data.next }),
    400,
    "bad_request",
    /cursor/,
  );
  await states(agent, { running: 1, cancelled: 1_200 });
});

test("a call is recorded once, with its filter and count; one that changed nothing is not", async () => {
  const { agent } = await busy(2);
  const filter = { agent_id: agent.id };
  await cancel({ filter });
  await cancel({ filter });
  const { data } = (await beckon.call("/audit?action=runs.cancel&limit=200")).body;
  const ours = data.filter(
    (entry: { data: { filter: { agent_id?: string } } }) => entry.data.filter.agent_id === agent.id,
  );
  expect(ours.map((entry: { data: unknown }) => entry.data)).toEqual([{ filter, cancelled: 3 }]);
});

describe("credentials that are limited to agents cancel only their runs", () => {
  test("an agent's token", async () => {
    const [one, other] = [await busy(1), await busy(1)];
    expect((await cancel({ all: true }, one.agent.token)).body).toEqual(cancelled(2));
    expect((await cancel({ filter: { agent_id: other.agent.id } }, one.agent.token)).body).toEqual(
      cancelled(0),
    );
    await states(one.agent, { cancelled: 2 });
    expect(await statesOf(beckon, other.agent.id)).toEqual({ running: 1, queued: 1 });
  });

  test("a key that is limited to some", async () => {
    const [one, two, other] = [await busy(1), await busy(1), await busy(1)];
    const credential = await insertKey(beckon, {
      agentIds: [one.agent.id, two.agent.id],
      scopes: ["runs:write"],
    });
    expect((await cancel({ all: true }, credential)).body).toEqual(cancelled(4));
    expect(await statesOf(beckon, other.agent.id)).toEqual({ running: 1, queued: 1 });
  });

  test("another workspace", async () => {
    const { agent } = await busy(1);
    const stranger = await insertStranger(beckon);
    expect((await cancel({ all: true }, stranger)).body).toEqual(cancelled(0));
    expect((await cancel({ filter: { agent_id: agent.id } }, stranger)).body).toEqual(cancelled(0));
    expect(await statesOf(beckon, agent.id)).toEqual({ running: 1, queued: 1 });
  });
});

test.each([
  [{}, /filter/],
  [{ filter: {} }, /all: true/],
  [{ all: false }, /all/],
  [{ all: true, filter: { source: ["invoke"] } }, /filter/],
  [{ filter: { status: ["succeeded"] } }, /status/],
  [{ filter: { status: "queued" } }, /status/],
  [{ filter: { state: ["queued"] } }, /filter\.state/],
  [{ filter: { created_after: "yesterday" } }, /created_after/],
  [{ all: true, after: "nonsense" }, /after/],
])("the body %j is rejected, and nothing is cancelled", async (body, text) => {
  expectError(await cancel(body), 400, "bad_request", text);
});
