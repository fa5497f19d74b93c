import { expect, test } from "vitest";
import { addRun } from "../../test/add-run.ts";
import { testDatabase } from "../../test/database.ts";
import { seedAgent, seedProcess, seedTrigger } from "../../test/tenant.ts";
import { createLog } from "../base/log.ts";
import { readConfig } from "../config.ts";
import { prune } from "./prune.ts";

const { database } = await testDatabase();
const processId = await seedProcess(database);
const query = (text: string, values: unknown[]) => database.engine.query(text, values);

/** A workspace with an agent, a trigger and a key. Each has a ceiling, as the workspace has. */
async function limited() {
  const agent = await seedAgent(database);
  const { workspaceId, agentId } = agent;
  const { triggerId } = await seedTrigger(database, agent);
  const keyId = `key_of_${agentId}`;
  await query(
    `insert into keys (id, workspace_id, name, scopes, created_by)
      values ($1, $2, 'Test', '{}', 'system')`,
    [keyId, workspaceId],
  );
  const ids = { workspace: workspaceId, agent: agentId, trigger: triggerId, key: keyId };
  await query(
    `with put as (
        insert into ceilings (workspace_id, scope_kind, scope_id, limit_micros)
        select $1, kind, id, 1000 from unnest($2::text[], $3::text[]) as s (kind, id)
        returning *
      )
      insert into budgets (workspace_id, scope_kind, scope_id, metric, allowed, starts, ends)
      select workspace_id, scope_kind, scope_id, 'cost', 1000, now(), now() + interval '1 day'
      from put`,
    [workspaceId, Object.keys(ids), Object.values(ids)],
  );
  return { ...ids, agentId, workspaceId };
}

/** Deletes old rows, and returns the scopes that still have a ceiling and a budget. */
async function pass({ workspaceId }: { workspaceId: string }): Promise<string[]> {
  const { signal } = new AbortController();
  await prune(
    {
      database,
      retention: readConfig({}).retention,
      process: { id: processId },
      metrics: { count() {} },
      log: createLog("silent"),
    },
    { signal, pace: () => 0, intervalSeconds: 0 },
  );
  const kindsIn = async (table: string): Promise<string[]> => {
    const { rows } = await query(
      `select scope_kind from ${table} where workspace_id = $1 order by scope_kind`,
      [workspaceId],
    );
    return rows.map(({ scope_kind }) => scope_kind);
  };
  const ceilings = await kindsIn("ceilings");
  expect(await kindsIn("budgets")).toEqual(ceilings);
  return ceilings;
}

const deleteAgent = ({ agent }: { agent: string }, days: number) =>
  query("update agents set deleted_at = now() - $2 * interval '1 day' where id = $1", [
    agent,
    days,
  ]);
const deleteOthers = async ({ key, trigger }: { key: string; trigger: string }) => {
  await query("delete from keys where id = $1", [key]);
  await query("update triggers set deleted_at = now() where id = $1", [trigger]);
};

test("ceilings of deleted keys and triggers are deleted, and no others", async () => {
  const owner = await limited();
  expect(await pass(owner)).toEqual(["agent", "key", "trigger", "workspace"]);
  await deleteOthers(owner);
  expect(await pass(owner)).toEqual(["agent", "workspace"]);
});

test("a deleted agent and its triggers keep their ceilings while the agent can be restored", async () => {
  const owner = await limited();
  await deleteAgent(owner, 29);
  expect(await pass(owner)).toEqual(["agent", "key", "trigger", "workspace"]);
  await deleteAgent(owner, 31);
  expect(await pass(owner)).toEqual(["key", "workspace"]);
});

test.each(["queued", "waiting", "running"] as const)(
  "ceilings still limit a run that is %s",
  async (status) => {
    const owner = await limited();
    const runs = {
      key: await addRun(database, owner, { status: "queued" }),
      trigger: await addRun(database, owner, { status: "queued" }),
    };
    const setStatus = (to: string, finishedAt: Date | null) =>
      query("update runs set status = $2, finished_at = $3 where id = any ($1)", [
        Object.values(runs),
        to,
        finishedAt,
      ]);
    await setStatus(status, null);
    await query("update run_inputs set principal = 'key:' || $2::text where run_id = $1", [
      runs.key,
      owner.key,
    ]);
    await query("update run_inputs set trigger_id = $2 where run_id = $1", [
      runs.trigger,
      owner.trigger,
    ]);
    await deleteOthers(owner);
    await deleteAgent(owner, 31);
    expect(await pass(owner)).toEqual(["agent", "key", "trigger", "workspace"]);
    await setStatus("cancelled", new Date());
    expect(await pass(owner)).toEqual(["workspace"]);
  },
);
