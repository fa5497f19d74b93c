import { expect, test } from "vitest";
import { addRun } from "../../test/add-run.ts";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson } from "../../test/people.ts";
import { seedAgent, seedTrigger } from "../../test/tenant.ts";
import { lowestIdAt, newId } from "../base/ids.ts";
import { defaultWorkspaceId } from "../workspaces/index.ts";

const newIds: string[] = [];
const beckon = await startTestBeckon(
  { BECKON_METRICS_PORT: "0" },
  {
    pruning: { firstMs: 0, everyMs: 20, intervalSeconds: 0 },
    onNewProcessId: (id) => newIds.push(id),
  },
);
const { database } = beckon.db;
const agent = await beckon.createAgent();
const owner = { workspaceId: defaultWorkspaceId, agentId: agent.id };
const path = `/workspaces/${defaultWorkspaceId}`;
const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3_600_000);
const patch = (run_retention_days: unknown) =>
  beckon.call(path, { method: "PATCH", body: { run_retention_days } });
const untilGone = (runId: string) =>
  eventually(`${runId} is deleted`, async () => {
    const answer = await beckon.call(`/runs/${runId}`);
    return answer.status === 404 ? answer : undefined;
  });

test("a running server deletes old runs, and the error of each route says that it may have", async () => {
  const deleted = await beckon.metric("beckon_retention_rows_deleted_total", { kind: "runs" });
  const old = await addRun(database, owner, { createdAt: daysAgo(31) });
  const said = `There is no run with this id that this credential can see. Run ${old} is older than the retention of 30 days, so it may have been deleted.`;
  const missing = await untilGone(old);
  expectError(missing, 404, "not_found");
  expect(missing.body.error).toBe(said);
  for (const each of ["/events", "/events/1", "/deliveries"]) {
    const { body } = await beckon.call(`/runs/${old}${each}`);
    expect(body.error, each).toBe(said);
  }
  for (const each of ["/cancel", "/retry"]) {
    const { body } = await beckon.call(`/runs/${old}${each}`, { body: {} });
    expect(body.error, each).toBe(said);
  }
  const stream = { headers: { accept: "text/event-stream" } };
  expect((await beckon.call(`/runs/${old}/events`, stream)).body.error).toBe(said);
  const removed = await beckon.call(`/runs/${old}`, { method: "DELETE" });
  expect(removed.body.error).toBe(said);
  const artifact = await beckon.call(`/runs/${old}/artifacts/${newId("art")}`);
  expect(artifact.body.error).toMatch(/retention of 30 days, so it may have been deleted\.$/);
  expect(await beckon.metric("beckon_retention_rows_deleted_total", { kind: "runs" })).toBe(
    deleted + 1,
  );

  // For a recent id, and for text that is not an id, the response does not mention deletion.
  for (const id of [newId("run"), `run_${"u".repeat(26)}`, "run_0"])
    expect((await beckon.call(`/runs/${id}`)).body.error).toBe(
      "There is no run with this id that this credential can see.",
    );
});

test("a process that was declared dead deletes old runs again, under its new id", async () => {
  await database.engine.query("update processes set died_at = now() where died_at is null");
  await untilGone(await addRun(database, owner, { createdAt: daysAgo(31) }));
  // The supervisor gets this id, so that it can report the exit of the process.
  const { rows } = await database.engine.query("select id from processes where died_at is null");
  expect(rows.map(({ id }) => id)).toEqual(newIds);
});

test("a repeated event gets the id of its deleted run, and starts none", async () => {
  const receiving = {
    verification: { kind: "none" },
    event_id: { header: "x-event-id" },
  };
  const trigger = await beckon.createTrigger(agent.id, { receiving });
  const fire = () =>
    fetch(trigger.url, { method: "POST", headers: { "x-event-id": "evt-1" }, body: "Hi" });
  const { run_id: runId } = (await (await fire()).json()) as { run_id: string };
  await eventually("the run has ended", async () => {
    const { body } = await beckon.call(`/runs/${runId}`);
    return body.data.finished_at === null ? undefined : true;
  });
  const old = await makeOld(runId);
  await untilGone(old);
  const again = await fire();
  expect([again.status, await again.json()]).toEqual([200, { ok: true, run_id: old }]);
  const { body } = await beckon.call(`/agents/${agent.id}/triggers/${trigger.id}/requests`);
  expect(body.data.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
    "repeated",
    "started",
  ]);
});

/**
 * Moves a run 31 days into the past: changes its times and its id, which contains the time of its
 * creation. Returns the new id.
 */
async function makeOld(runId: string): Promise<string> {
  const id = lowestIdAt("run", daysAgo(31)).slice(0, 14) + runId.slice(14);
  await database.engine.query(
    `with i as (update run_inputs set run_id = $2 where run_id = $1),
      r as (update run_results set run_id = $2 where run_id = $1),
      e as (update events set run_id = $2 where run_id = $1),
      q as (update received_requests set run_id = $2 where run_id = $1),
      t as (update trigger_event_ids set run_id = $2 where run_id = $1)
      update runs set id = $2, created_at = $3, started_at = $3, finished_at = $3 where id = $1`,
    [runId, id, daysAgo(31)],
  );
  return id;
}

test("a workspace chooses how long it keeps runs, within the operator's bound", async () => {
  const run = await addRun(database, owner, { createdAt: daysAgo(10) });
  expect((await beckon.call(path)).body.data).toMatchObject({
    run_retention_days: null,
    max_run_retention_days: 30,
  });
  for (const days of [6, 0, 31, 7.5, "7"]) expectError(await patch(days), 400, "bad_request");
  expect((await patch(31)).body.error).toBe(
    "run_retention_days: was 31; the operator keeps runs for 30 days. Send 7 to 30, or null for 30.",
  );
  expect((await beckon.call(`/runs/${run}`)).status).toBe(200);
  expect((await patch(9)).body.data).toMatchObject({ run_retention_days: 9 });
  expect((await untilGone(run)).body.error).toContain("the retention of 9 days");
  const { body } = await beckon.call("/audit?action=workspace.update&limit=1");
  expect(body.data[0].data).toEqual({
    before: { run_retention_days: null },
    after: { run_retention_days: 9 },
  });
  expect((await patch(null)).body.data.run_retention_days).toBeNull();
});

test("only owners and admins choose it", async () => {
  for (const [role, status] of [
    ["owner", 200],
    ["admin", 200],
    ["editor", 403],
    ["viewer", 403],
  ] as const) {
    const person = await addPerson(beckon, { role });
    const answer = await person.call(path, { method: "PATCH", body: { run_retention_days: 30 } });
    expect(answer.status, role).toBe(status);
  }
  await patch(null);
});

test("an operator who keeps runs for ever, or for less than a workspace can choose, says so", async () => {
  const forever = await beckon.another({ settings: { BECKON_RETENTION_RUNS_DAYS: "0" } });
  const short = await beckon.another({ settings: { BECKON_RETENTION_RUNS_DAYS: "3" } });
  const at = (url: string, run_retention_days: unknown) =>
    beckon.call(`${url}/api/public${path}`, { method: "PATCH", body: { run_retention_days } });
  try {
    expect((await at(forever.url, 3_650)).body.data).toMatchObject({
      run_retention_days: 3_650,
      max_run_retention_days: null,
    });
    expect((await at(short.url, 7)).body.error).toBe(
      "run_retention_days: the operator keeps runs for 3 days, and a workspace can choose no fewer than 7. Send null.",
    );
    expect((await at(short.url, null)).body.data.max_run_retention_days).toBe(3);
  } finally {
    await Promise.all([forever.stop(), short.stop()]);
  }
});

test("replaced secrets are deleted after their grace period, and not before", async () => {
  const { engine } = database;
  /** Creates a workspace whose secrets were replaced, and returns how many of these are stored. */
  async function replaced(end: string): Promise<() => Promise<number>> {
    const seeded = await seedAgent(database);
    await seedTrigger(database, seeded);
    const { workspaceId } = seeded;
    await engine.query(
      `insert into subscriptions (id, workspace_id, url, description, event_types, payload, format,
        secret, previous_secret, created_by)
        values ('sub_' || $1, $1, '', '', '{}', 'full', 'standard', 'x', 'x', '')`,
      [workspaceId],
    );
    await engine.query(
      `with added as (insert into keys (id, workspace_id, name, scopes, created_by)
          values ('key_' || $1, $1, '', '{}', ''))
        insert into key_secrets (hash, workspace_id, key_id)
          values (convert_to($1, 'UTF8'), $1, 'key_' || $1)`,
      [workspaceId],
    );
    for (const change of [
      "tokens set expires_at",
      "key_secrets set expires_at",
      "triggers set previous_sender_secret = 'x', previous_sender_secret_until",
      "subscriptions set previous_secret_until",
    ])
      await engine.query(`update ${change} = now() + $2::interval where workspace_id = $1`, [
        workspaceId,
        end,
      ]);
    return async () => {
      const { rows } = await engine.query<{ stored: number }>(
        `select (select count(*) from tokens where workspace_id = $1)::int
          + (select count(*) from key_secrets where workspace_id = $1)::int
          + (select count(previous_sender_secret) from triggers where workspace_id = $1)::int
          + (select count(previous_secret) from subscriptions where workspace_id = $1)::int
          as stored`,
        [workspaceId],
      );
      return rows[0]?.stored ?? 0;
    };
  }
  // Tokens of an agent and of a trigger, and secrets of a key, a trigger and a subscription.
  const recent = await replaced("1 hour");
  const old = await replaced("-25 hours");
  await eventually("the secrets are deleted", async () => ((await old()) === 0 ? true : undefined));
  expect(await recent()).toBe(5);
});
