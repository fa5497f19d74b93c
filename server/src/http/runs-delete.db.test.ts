import { afterAll, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const another = await beckon.another();
afterAll(() => another.stop());

const remove = (runId: string, credential = beckon.key, url = "") =>
  beckon.call(`${url && `${url}/api/public`}/runs/${runId}`, { method: "DELETE", credential });
const removeMany = (body: unknown, credential = beckon.key, headers = {}) =>
  beckon.call("/runs/delete", { body, credential, headers });
const count = async (agentId: string): Promise<number> =>
  (await beckon.call(`/agents/${agentId}/runs?limit=200`)).body.data.length;

async function ended(headers: Record<string, string> = {}) {
  const agent = await beckon.createAgent();
  const { body } = await beckon.invoke(agent, "Hello", headers);
  return { agent, runId: body.run_id as string };
}

/** Returns the number of rows of a run in each table that stores its content. */
async function rowsOf(runId: string): Promise<Record<string, number>> {
  const { rows } = await beckon.db.database.engine.query<{ name: string; rows: number }>(
    `select 'runs' as name, count(*)::int as rows from runs where id = $1
      union all select 'run_inputs', count(*)::int from run_inputs where run_id = $1
      union all select 'run_results', count(*)::int from run_results where run_id = $1
      union all select 'events', count(*)::int from events where run_id = $1
      union all select 'artifacts', count(*)::int from artifacts where run_id = $1`,
    [runId],
  );
  return Object.fromEntries(rows.map(({ name, rows }) => [name, rows]));
}

const nothing = { runs: 0, run_inputs: 0, run_results: 0, events: 0, artifacts: 0 };

describe("a run that is deleted", () => {
  test("is removed, with its journal and its artifacts", async () => {
    const { agent, runId } = await ended();
    await beckon.db.database.engine.query(
      "insert into artifacts (id, workspace_id, run_id, media_type, content) select 'art_' || id, workspace_id, id, 'text/plain', 'x' from runs where id = $1",
      [runId],
    );
    // Whether the run was queued first, which is one more event, depends on the load.
    const events = (await beckon.call(`/runs/${runId}/events`)).body.data.length;
    expect(events).toBeGreaterThanOrEqual(3);
    expect(await rowsOf(runId)).toEqual({
      runs: 1,
      run_inputs: 1,
      run_results: 1,
      events,
      artifacts: 1,
    });
    const { status, body } = await remove(runId);
    expect([status, body]).toEqual([204, undefined]);
    expect(await rowsOf(runId)).toEqual(nothing);
    for (const path of [`/runs/${runId}`, `/runs/${runId}/events`])
      expectError(await beckon.call(path), 404, "not_found");
    expectError(await beckon.call(`/runs/${runId}/retry`, { method: "POST" }), 404, "not_found");
    expect(await count(agent.id)).toBe(0);
  });

  test("does not affect others of its agent", async () => {
    const { agent, runId } = await ended();
    const { body } = await beckon.invoke(agent, "stays");
    const path = `/runs/${body.run_id}/events`;
    const before = (await beckon.call(path)).body.data;
    expect(before.at(-1).type).toBe("run.finished");
    await remove(runId);
    expect((await beckon.call(path)).body.data).toEqual(before);
  });

  test("does not affect its retries, which still refer to it", async () => {
    const { runId } = await ended();
    const { body } = await beckon.call(`/runs/${runId}/retry`, { method: "POST" });
    await remove(runId);
    expect((await beckon.call(`/runs/${body.data.id}`)).body.data.retry_of).toBe(runId);
  });

  test("is recorded in the audit", async () => {
    const { agent, runId } = await ended();
    await remove(runId);
    const { data } = (await beckon.call(`/audit?target=${runId}`)).body;
    expect(data).toMatchObject([
      { action: "run.delete", data: { agent_id: agent.id, status: "succeeded" } },
    ]);
  });

  test("twice at the same time, through two processes, is deleted once", async () => {
    for (let round = 0; round < 5; round++) {
      const { runId } = await ended();
      const answers = await Promise.all([remove(runId), remove(runId, beckon.key, another.url)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
      expect((await beckon.call(`/audit?target=${runId}`)).body.data).toHaveLength(1);
    }
  });
});

test("a run that has not ended is not deleted, and continues", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model, limits: { max_concurrent_runs: 1 } });
  const invoked = beckon.invoke(agent, "executing");
  await held.reached(1);
  const { body } = await beckon.invoke(agent, "waiting", { prefer: "respond-async" });
  const [queued, running] = (await beckon.call(`/agents/${agent.id}/runs`)).body.data;
  expect(queued.id).toBe(body.run_id);
  for (const { id } of [queued, running])
    expectError(await remove(id), 409, "conflict", /has not ended/);
  held.release();
  expect((await invoked).status).toBe(200);
});

describe("a repeat of the request that started a deleted run", () => {
  const key = { "idempotency-key": "once" };

  test("gets an error that says so and starts nothing, at invoke", async () => {
    const { agent, runId } = await ended(key);
    await remove(runId);
    for (const headers of [key, { ...key, prefer: "respond-async" }]) {
      expectError(await beckon.invoke(agent, "Hello", headers), 409, "conflict", /was deleted/);
    }
    expect(await count(agent.id)).toBe(0);
    expect((await beckon.invoke(agent, "Hello", { "idempotency-key": "new" })).status).toBe(200);
  });

  test.each([
    ["an Idempotency-Key", key, null],
    ["a webhook-id, with settings that locate no event id", { "webhook-id": "once" }, {}],
  ])("gets the same at fire with %s", async (_, headers, receiving) => {
    const agent = await beckon.createAgent();
    const trigger = await beckon.createTrigger(agent.id, { receiving });
    const fire = () => beckon.call(trigger.url, { credential: null, body: "Hello", headers });
    const { body } = await fire();
    await eventually("a run that can be deleted", async () =>
      (await remove(body.run_id)).status === 204 ? true : undefined,
    );
    expectError(await fire(), 409, "conflict", /was deleted/);
    expect(await count(agent.id)).toBe(0);
  });
});

test("a caller that waits for a run that is deleted gets an error, and its stream ends", async () => {
  const idle = await startTestBeckon({ BECKON_ROLE: "api" });
  const agent = await idle.createAgent();
  const waiting = idle.invoke(agent, "Hello");
  const [run] = await eventually("a queued run", async () => {
    const { data } = (await idle.call(`/agents/${agent.id}/runs`)).body;
    return data.length === 1 ? data : undefined;
  });
  const headers = { "x-api-key": idle.key, accept: "text/event-stream" };
  const { body: stream } = await fetch(`${idle.url}/api/public/runs/${run.id}/events`, { headers });
  const reader = stream?.pipeThrough(new TextDecoderStream()).getReader();
  const read = async (until: string) => {
    let text = "";
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { done: true, value: undefined };
      text += value ?? "";
      if (done || text.includes(until)) return { text, done };
    }
  };
  expect((await read("run.queued")).done).toBe(false);
  // Simulates that another process executes the run and a client deletes it, both between two polls
  // of this process.
  await idle.db.database.engine.query(
    "update runs set status = 'succeeded', finished_at = now() where id = $1",
    [run.id],
  );
  await idle.call(`/runs/${run.id}`, { method: "DELETE" });
  expectError(await waiting, 409, "conflict", /was deleted/);
  expect(await read("run.finished")).toEqual({
    text: expect.not.stringContaining("run.finished"),
    done: true,
  });
});

describe("many runs", () => {
  test("are deleted by filter, and no others", async () => {
    const agent = await beckon.createAgent();
    const runs: string[] = [];
    for (let index = 0; index < 3; index++)
      runs.push((await beckon.invoke(agent, "Hello")).body.run_id);
    const { runId } = await ended();
    const filter = { agent_id: agent.id, status: ["succeeded"] };
    const { status, body } = await removeMany({ filter });
    expect([status, body]).toEqual([200, { ok: true, data: { deleted: 3, next: null } }]);
    for (const id of runs) expect(await rowsOf(id)).toEqual(nothing);
    expect((await beckon.call(`/runs/${runId}`)).status).toBe(200);
    expect((await removeMany({ filter })).body.data).toEqual({ deleted: 0, next: null });
    const { data } = (await beckon.call("/audit?action=runs.delete&limit=200")).body;
    const ours = data.filter(
      (entry: { data: { filter: { agent_id?: string } } }) =>
        entry.data.filter.agent_id === agent.id,
    );
    expect(ours.map((entry: { data: unknown }) => entry.data)).toEqual([{ filter, deleted: 3 }]);
  });

  test("that have not ended are kept", async () => {
    const held = await startHeldModel(beckon);
    const agent = await beckon.createAgent({ model: held.model });
    await beckon.invoke(agent, "executing", { prefer: "respond-async" });
    await held.reached(1);
    expect((await removeMany({ filter: { agent_id: agent.id } })).body.data).toEqual({
      deleted: 0,
      next: null,
    });
    expectError(
      await removeMany({ filter: { status: ["running"] } }),
      400,
      "bad_request",
      /status/,
    );
    expect(await count(agent.id)).toBe(1);
  });

  test("are deleted in several calls", async () => {
    const agent = await beckon.createAgent();
    await beckon.db.database.engine.query(
      `with grown as (
        insert into runs (id, workspace_id, agent_id, status, fence, last_seq, finished_at)
        select 'run_0' || lpad(n::text, 25, '0'), workspace_id, id, 'failed', 1, 1, now() from agents, generate_series(1, 250) n where id = $1 returning id, workspace_id
      ) insert into run_inputs (run_id, workspace_id, agent_version, source, payload, principal, engine_version)
      select id, workspace_id, 1, 'invoke', 'hello', 'token:x', 1 from grown`,
      [agent.id],
    );
    const filter = { agent_id: agent.id };
    const first = await removeMany({ filter });
    expect(first.body.data).toEqual({ deleted: 200, next: expect.any(String) });
    expect((await removeMany({ filter, after: first.body.data.next })).body.data).toEqual({
      deleted: 50,
      next: null,
    });
  });

  test("that end later are kept if the request is repeated with the same Idempotency-Key", async () => {
    const { agent } = await ended();
    const send = () =>
      removeMany({ filter: { agent_id: agent.id } }, beckon.key, { "idempotency-key": "filter" });
    const first = await send();
    expect(first.body.data).toEqual({ deleted: 1, next: null });
    const { body: later } = await beckon.invoke(agent, "later");
    const second = await send();
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect((await beckon.call(`/runs/${later.run_id}`)).status).toBe(200);
  });

  test("are deleted in smaller groups if PostgreSQL cancels the deletion of a large one", async () => {
    const { agent } = await ended();
    for (let count = 0; count < 3; count++) await beckon.invoke(agent, "Hello");
    const { engine } = beckon.db.database;
    const filter = { agent_id: agent.id };
    const deleteWithAtMost = async (rows: number) => {
      await engine.query(`create or replace function cancel_many() returns trigger
        language plpgsql as $$ begin
          if (select count(*) from gone) > ${rows} then raise query_canceled; end if;
          return null; end $$;
        create or replace trigger cancel_many after delete on runs
          referencing old table as gone for each statement execute function cancel_many()`);
      return removeMany({ filter }, beckon.key, { "idempotency-key": "in groups" });
    };
    try {
      const failed = await deleteWithAtMost(0);
      expectError(failed, 503, "unavailable", /took too long to delete one run/);
      expect(failed.headers.get("retry-after")).toBeNull();
      const data = { deleted: 3, next: expect.any(String) };
      const deleted = await deleteWithAtMost(3);
      expect(deleted.body.data).toEqual(data);
      // The key is stored in the transaction that deletes, not in those that were cancelled.
      const repeated = await deleteWithAtMost(3);
      expect(repeated.body).toEqual(deleted.body);
      expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    } finally {
      await engine.query("drop function cancel_many cascade");
    }
    expect(await count(agent.id)).toBe(1);
  });

  test("are not deleted without a filter, unless all are requested", async () => {
    for (const body of [{}, { filter: {} }, { all: false }])
      expectError(await removeMany(body), 400, "bad_request", /filter|all/);
    const stranger = await insertStranger(beckon);
    const { runId } = await ended();
    expect((await removeMany({ all: true }, stranger)).body.data).toEqual({
      deleted: 0,
      next: null,
    });
    expect((await beckon.call(`/runs/${runId}`)).status).toBe(200);
  });
});

describe("credentials without permission", () => {
  test("an agent's token cannot delete runs", async () => {
    const { agent, runId } = await ended();
    expectError(await remove(runId, agent.token), 403, "forbidden", /agent token/);
    expectError(await removeMany({ all: true }, agent.token), 403, "forbidden", /agent token/);
    expect(await count(agent.id)).toBe(1);
  });

  test("a key that is limited to agents deletes only their runs", async () => {
    const [own, other] = [await ended(), await ended()];
    const credential = await insertKey(beckon, {
      agentIds: [own.agent.id],
      scopes: ["runs:write"],
    });
    expectError(await remove(other.runId, credential), 404, "not_found");
    expect((await removeMany({ all: true }, credential)).body.data).toEqual({
      deleted: 1,
      next: null,
    });
    expect(await count(other.agent.id)).toBe(1);
  });
});
