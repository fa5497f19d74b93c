import { expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { executedStatements } from "../../../test/executed-statements.ts";
import { expectError } from "../../../test/expect-error.ts";
import { createReceiving } from "../../../test/receiving-trigger.ts";
import { zoneAtNoon } from "../../../test/zone-at-noon.ts";
import { newId } from "../../base/ids.ts";
import { expireQueued, releaseHeld } from "../../runs/index.ts";
import { defaultWorkspaceId } from "../../workspaces/index.ts";

const beckon = await startTestBeckon();
const { engine } = beckon.db.database;
// So that no daily limit resets during a test.
await engine.query("update workspaces set time_zone = $2 where id = $1", [
  defaultWorkspaceId,
  zoneAtNoon(),
]);

const runOf = async (runId: string) => (await beckon.call(`/runs/${runId}`)).body.data;
const ended = (runId: string) =>
  eventually(`the end of run ${runId}`, async () => {
    const run = await runOf(runId);
    return run.finished_at === null ? undefined : run;
  });
const eventTypes = async (runId: string) => {
  const { rows } = await engine.query<{ type: string }>(
    "select type from events where run_id = $1 order by seq",
    [runId],
  );
  return rows.map(({ type }) => type);
};

async function holding() {
  const { id: agentId } = await beckon.createAgent();
  const trigger = await createReceiving(beckon, agentId, { when_paused: "hold" });
  const pause = () => beckon.call(`/agents/${agentId}/pause`, { method: "POST" });
  const resume = () => beckon.call(`/agents/${agentId}/resume`, { method: "POST" });
  return { agentId, trigger, pause, resume };
}

test("while no run is held, an idle process does not poll for held runs", async () => {
  const isPoll = (text: string) => text.includes("and owner = $1 and cancel_requested_at");
  const findsHeld = (text: string) => text.includes("where status = 'waiting') as held");
  await executedStatements((soFar) =>
    eventually(
      "three polls without one for held runs",
      () => {
        const last = soFar()
          .filter((text) => isPoll(text) || findsHeld(text))
          .slice(-3);
        return (last.length === 3 && last.every(isPoll)) || undefined;
      },
      60_000,
    ),
  );
});

test("a paused agent's events are held, and their runs are executed in order after the resume", async () => {
  const { trigger, pause, resume } = await holding();
  await pause();
  const runIds: string[] = [];
  for (const number of [1, 2, 3]) {
    const { status, body } = await trigger.send({ number }, { "x-github-delivery": `${number}` });
    expect(status).toBe(200);
    runIds.push(body.run_id);
  }
  for (const runId of runIds) expect(await runOf(runId)).toMatchObject({ status: "waiting" });
  expect((await trigger.requests()).map(({ outcome }) => outcome)).toEqual([
    "held",
    "held",
    "held",
  ]);
  await resume();
  const runs = await Promise.all(runIds.map(ended));
  expect(runs.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
  const types = await eventTypes(runIds[0] ?? "");
  expect(types.slice(0, 3)).toEqual(["run.waiting", "run.queued", "run.started"]);
});

test("a repeated event gets the held run, also after the resume", async () => {
  const { trigger, pause, resume } = await holding();
  await pause();
  const id = { "x-github-delivery": "same" };
  const first = await trigger.send({ try: 1 }, id);
  const second = await trigger.send({ try: 2 }, id);
  await resume();
  const third = await trigger.send({ try: 3 }, id);
  expect([second.body, third.body]).toEqual([first.body, first.body]);
  expect(second.headers.get("idempotency-replayed")).toBe("true");
  await eventually("the record of both repeats", async () => {
    const outcomes = (await trigger.requests()).map(({ outcome }) => outcome);
    return outcomes.join() === "held,repeated,repeated" || undefined;
  });
});

test("a paused agent rejects events unless its trigger holds them, and the request can be replayed", async () => {
  const { agentId, pause } = await holding();
  const trigger = await createReceiving(beckon, agentId);
  await pause();
  const { status, body } = await trigger.send({ a: 1 }, { "x-github-delivery": "one" });
  expect({ status, code: body.code }).toEqual({ status: 409, code: "agent_paused" });
  expect(await trigger.requests()).toMatchObject([
    { outcome: "rejected", run_id: null, event_id: "one", body: Buffer.from('{"a":1}') },
  ]);
});

test("a disabled trigger holds nothing", async () => {
  const { agentId, trigger, pause } = await holding();
  await pause();
  await beckon.call(`/agents/${agentId}/triggers/${trigger.id}`, {
    method: "PATCH",
    body: { enabled: false },
  });
  expect(await trigger.send({})).toMatchObject({ status: 409, body: { code: "trigger_disabled" } });
  await trigger.set({ when_disabled: "swallow" });
  expect(await trigger.send({})).toMatchObject({ status: 202, body: { ok: true, skipped: true } });
});

test("a trigger holds 1,000 runs; one more is rejected with 429 and can be sent again later", async () => {
  const { agentId, trigger, pause } = await holding();
  await pause();
  const { body } = await trigger.send({});
  await copyRun(body.run_id, 999);
  const full = await trigger.send({}, { "x-github-delivery": "one more" });
  expect({ status: full.status, code: full.body.code }).toEqual({
    status: 429,
    code: "too_many_requests",
  });
  expect(full.headers.get("retry-after")).toBe("60");
  // The limit is per trigger, so another trigger of the same agent can hold runs.
  const other = await createReceiving(beckon, agentId, { when_paused: "hold" });
  expect((await other.send({})).status).toBe(200);
  await beckon.call(`/runs/${body.run_id}/cancel`, { method: "POST" });
  const again = await trigger.send({}, { "x-github-delivery": "one more" });
  expect(again.status).toBe(200);
  expect(await runOf(again.body.run_id)).toMatchObject({ status: "waiting" });
});

test("a person drops held runs by cancelling them", async () => {
  const { agentId, trigger, pause, resume } = await holding();
  await pause();
  const one = (await trigger.send({})).body.run_id;
  const two = (await trigger.send({})).body.run_id;
  expect((await beckon.call(`/runs/${one}/cancel`, { method: "POST" })).body.data).toMatchObject({
    status: "cancelled",
  });
  const listed = await beckon.call(`/agents/${agentId}/runs?status=waiting`);
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([two]);
  const dropped = await beckon.call("/runs/cancel", {
    body: { filter: { agent_id: agentId, status: ["waiting"] } },
  });
  expect(dropped.body.data).toMatchObject({ cancelled: 1 });
  await resume();
  expect(await runOf(two)).toMatchObject({ status: "cancelled", started_at: null });
});

test("an event that failed at a limit gets one run, if its run is retried and its sender sends it again", async () => {
  const { agentId, trigger } = await holding();
  await trigger.set({ when_paused: "refuse" });
  const path = `/limits/agent/${agentId}`;
  await beckon.call(path, { method: "PUT", body: { limit_micros: 10 } });
  await engine.query("update budgets set spent = 10 where scope_id = $1", [agentId]);
  const retry = (runId: string) => beckon.call(`/runs/${runId}/retry`, { method: "POST" });
  const send = () => trigger.send({}, { "x-github-delivery": "retried" });
  const again = await retry((await send()).body.run_id);
  expect(again).toMatchObject({ status: 500, body: { code: "ceiling_reached" } });
  await beckon.call(path, { method: "PUT", body: { limit_micros: 1_000_000 } });
  const [retried, sent] = await Promise.all([retry(again.body.run_id), send()]);
  expect([retried.status, sent.status]).toEqual([201, 200]);
  expect(sent.body.run_id).toBe(retried.body.data.id);
  expect((await retry(again.body.run_id)).body.data.id).toBe(sent.body.run_id);
  // A person can run the event again on purpose.
  expect((await retry((await ended(sent.body.run_id)).id)).status).toBe(201);
});

test("the retry of a run that a limit failed says so if its event's run was deleted, and works with an input", async () => {
  const { agentId, trigger } = await holding();
  await trigger.set({ when_paused: "refuse" });
  const path = `/limits/agent/${agentId}`;
  await beckon.call(path, { method: "PUT", body: { limit_micros: 10 } });
  await engine.query("update budgets set spent = 10 where scope_id = $1", [agentId]);
  const send = () => trigger.send({}, { "x-github-delivery": "deleted" });
  const failed = (await send()).body.run_id;
  await beckon.call(path, { method: "PUT", body: { limit_micros: 1_000_000 } });
  const { id } = await ended((await send()).body.run_id);
  await beckon.call(`/runs/${id}`, { method: "DELETE" });
  const retry = (body: object) => beckon.call(`/runs/${failed}/retry`, { body });
  expectError(
    await retry({}),
    409,
    "conflict",
    /event .* was deleted.*requests\/:request_id\/replay/,
  );
  const { status, body } = await retry({ input: "Again" });
  expect(status).toBe(201);
  expect(body.data).toMatchObject({ retry_of: failed, input: "Again" });
});

test("at a spent limit a trigger rejects with the run error, or holds the run until the limit is raised", async () => {
  const { agentId, trigger } = await holding();
  const path = `/limits/agent/${agentId}`;
  await beckon.call(path, { method: "PUT", body: { limit_micros: 10 } });
  await engine.query("update budgets set spent = 10 where scope_id = $1", [agentId]);
  const held = await trigger.send({}, { "x-github-delivery": "held" });
  expect(held.status).toBe(200);
  expect(await runOf(held.body.run_id)).toMatchObject({ status: "waiting" });
  await trigger.set({ when_paused: "refuse" });
  const rejected = await trigger.send({}, { "x-github-delivery": "rejected" });
  expect(rejected).toMatchObject({ status: 500, body: { code: "ceiling_reached" } });
  expect(await trigger.requests()).toMatchObject([
    { outcome: "held", run_id: held.body.run_id },
    { outcome: "limit_reached", run_id: rejected.body.run_id, error: expect.any(String) },
  ]);
  await beckon.call(path, { method: "PUT", body: { limit_micros: 1_000_000 } });
  expect((await ended(held.body.run_id)).started_at).not.toBeNull();
  // An event that failed at a limit does not count as received, so it is no repeat when its sender
  // sends it again.
  const again = await trigger.send({}, { "x-github-delivery": "rejected" });
  expect(again.status).toBe(200);
  expect(again.body.run_id).not.toBe(rejected.body.run_id);
});

test("a run that a limit holds is executed when the limit resets, even if its agent was deleted", async () => {
  const { agentId, trigger } = await holding();
  await beckon.call(`/limits/agent/${agentId}`, { method: "PUT", body: { limit_micros: 10 } });
  await engine.query("update budgets set spent = 10 where scope_id = $1", [agentId]);
  const { body } = await trigger.send({});
  expect(await runOf(body.run_id)).toMatchObject({ status: "waiting" });
  await beckon.call(`/agents/${agentId}`, { method: "DELETE" });
  await engine.query("update budgets set spent = 0 where scope_id = $1", [agentId]);
  expect(await ended(body.run_id)).toMatchObject({ status: "succeeded" });
});

test("a ceiling that pauses the agent holds no runs once its period has ended", async () => {
  const { agentId, trigger, pause, resume } = await holding();
  await pause();
  const { body } = await trigger.send({});
  await beckon.call(`/limits/agent/${agentId}`, {
    method: "PUT",
    body: { limit_micros: 10, pauses_agent: true },
  });
  await engine.query(
    `update budgets set spent = 10, starts = now() - interval '1 day', ends = now()
      where scope_id = $1`,
    [agentId],
  );
  await resume();
  expect(await ended(body.run_id)).toMatchObject({ status: "succeeded" });
});

test("a run that a pause holds stays held if its agent is deleted, until that is restored and resumed", async () => {
  const { agentId, trigger, pause, resume } = await holding();
  await pause();
  const { body } = await trigger.send({});
  await beckon.call(`/agents/${agentId}`, { method: "DELETE" });
  await releaseHeld(beckon.db.database);
  expect(await runOf(body.run_id)).toMatchObject({ status: "waiting" });
  await beckon.call(`/agents/${agentId}/restore`, { method: "POST" });
  await resume();
  expect(await ended(body.run_id)).toMatchObject({ status: "succeeded" });
});

test("a run that was written as held after the resume is queued by the next poll", async () => {
  const { agentId, trigger, pause } = await holding();
  await pause();
  const { body } = await trigger.send({});
  // Simulates that the agent was resumed during the SQL statement that starts the run: the
  // statement still saw the agent as paused and held the run, and no later resume wakes the worker.
  await engine.query("update agents set paused_at = null, pause_reason = null where id = $1", [
    agentId,
  ]);
  expect(await ended(body.run_id)).toMatchObject({ status: "succeeded" });
});

test("no held run starts while its agent is paused, however often it is paused and resumed", async () => {
  const { trigger, pause, resume } = await holding();
  for (let round = 0; round < 5; round++) {
    await pause();
    const sent = await Promise.all([1, 2, 3].map(() => trigger.send({ round })));
    // The resume wakes the worker, which releases runs while the pause arrives.
    await resume();
    await pause();
    const { rows: before } = await engine.query(statusesOf, [trigger.id]);
    const other = await trigger.send({ round });
    const { rows: after } = await engine.query(statusesOf, [trigger.id]);
    // After the response to the pause, no more runs are released.
    expect(after[0].waiting).toBe(before[0].waiting + 1);
    await resume();
    for (const { body } of [...sent, other]) await ended(body.run_id);
  }
});

test("a run that was held for days has 24 hours in the queue, and it is held for 7 days", async () => {
  const { agentId, trigger, pause } = await holding();
  await pause();
  const [young, old, queued] = await Promise.all(
    [1, 2, 3].map(async () => (await trigger.send({})).body.run_id as string),
  );
  const age = (runId: string | undefined, days: number) =>
    engine.query("update runs set created_at = now() - make_interval(days => $2) where id = $1", [
      runId,
      days,
    ]);
  await age(young, 6);
  await age(old, 8);
  await age(queued, 6);
  await engine.query(
    "update runs set status = 'queued', released_at = now() where id = $1 and status = 'waiting'",
    [queued],
  );
  await expireQueued(beckon.db.database);
  expect(await runOf(young ?? "")).toMatchObject({ status: "waiting" });
  expect(await runOf(old ?? "")).toMatchObject({
    status: "cancelled",
    error: { code: "cancelled", message: expect.stringMatching(/held for 7 days.*restore it/) },
  });
  expect(await ended(queued ?? "")).toMatchObject({ status: "succeeded" });
  expect((await beckon.call(`/agents/${agentId}/runs?status=waiting`)).body.data).toHaveLength(1);
});

const statusesOf = `select count(*) filter (where r.status = 'waiting')::int as waiting
  from runs r join run_inputs i on i.run_id = r.id where i.trigger_id = $1`;

/** Writes copies of a held run. */
async function copyRun(runId: string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => newId("run"));
  for (const table of ["runs", "run_inputs"]) {
    const id = table === "runs" ? "id" : "run_id";
    const { rows } = await engine.query<{ names: string }>(
      `select string_agg(column_name, ', ') as names from information_schema.columns
        where table_name = $1 and column_name <> $2`,
      [table, id],
    );
    const names = rows[0]?.names;
    await engine.query(
      `insert into ${table} (${id}, ${names})
        select copy, ${names} from ${table}, unnest($2::text[]) as copy where ${id} = $1`,
      [runId, ids],
    );
  }
}
