import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { seedAgent, seedProcess, seedTrigger, startedOf, startOne, startRow } from "../../test/tenant.ts";
import { recordDeaths } from "./process-store.ts";
import { type StartRow, startRuns } from "./start-statement.ts";

const { database } = await testDatabase();
const hash = Buffer.alloc(32, 1);
const otherHash = Buffer.alloc(32, 2);

async function rowsOf(runId: string) {
  const { rows } = await database.engine.query(
    `select r.status, r.owner, r.fence, r.attempt, r.last_seq, r.started_at is not null as began, i.agent_version, i.source, i.payload,
        (select array_agg(e.type order by e.seq) from events e where e.run_id = r.id) as events
      from runs r join run_inputs i on i.run_id = r.id where r.id = $1`,
    [runId],
  );
  return rows;
}

test("a run is born running where there is room for it, owned by the process that asked", async () => {
  const agent = await seedAgent(database);
  const owner = await seedProcess(database);
  const row = startRow(agent, { owner });
  const run = startedOf((await startRuns(database, [row]))[0]);
  expect(run).toMatchObject({ runId: row.runId, workspaceId: agent.workspaceId, agentId: agent.agentId, agentVersion: 1, running: true });
  expect(await rowsOf(run.runId)).toEqual([
    {
      status: "running",
      owner,
      fence: 1,
      attempt: 1,
      last_seq: 1,
      began: true,
      agent_version: 1,
      source: "invoke",
      payload: "hello",
      events: ["run.started"],
    },
  ]);
});

test("a run is queued where there is no room, or the agent limits how many execute, or the asking process was declared dead", async () => {
  const owner = await seedProcess(database);
  const dead = await seedProcess(database);
  await recordDeaths(database.engine, [dead], owner);
  const free = await seedAgent(database);
  const limited = await seedAgent(database, { limits: { max_concurrent_runs: 5 } });
  const rows = [startRow(free), startRow(limited, { owner }), startRow(free, { owner: dead }), startRow(free, { owner: "prc_unknown" })];
  for (const answer of await startRuns(database, rows)) {
    const run = startedOf(answer);
    expect(run.running).toBe(false);
    expect(await rowsOf(run.runId)).toMatchObject([
      { status: "queued", owner: null, fence: 0, last_seq: 1, began: false, events: ["run.queued"] },
    ]);
  }
});

test("every row of a batch is judged by itself and answered in order, as it would be alone", async () => {
  const owner = await seedProcess(database);
  const agent = await seedAgent(database);
  const stranger = await seedAgent(database);
  const trigger = await seedTrigger(database, agent, { prompt_prefix: "Look:" });
  const bare = await seedTrigger(database, agent);
  const paused = await seedAgent(database);
  const disabled = await seedTrigger(database, agent, { enabled: false });
  await database.engine.query("update agents set paused_at = now() where id = $1", [paused.agentId]);
  const earlier = await startOne(database, agent, { key: "k", bodyHash: hash });
  const fire = (of: { hash: Buffer }) => ({ door: "fire" as const, agentId: null, credentialHash: of.hash });
  const judged = (): [StartRow, string][] => [
    [startRow(agent, { owner }), "started"],
    [startRow(agent, { credentialHash: stranger.hash }), "unauthorized"],
    [startRow(agent, { credentialHash: Buffer.alloc(32) }), "unauthorized"],
    [startRow(agent, { key: "k", bodyHash: hash }), "replay"],
    [startRow(agent, { key: "k", bodyHash: otherHash }), "idempotency_mismatch"],
    [startRow(agent, { key: randomUUID(), bodyHash: hash }), "started"],
    [startRow(paused), "agent_paused"],
    [startRow(agent, { body: "bad" }), "body"],
    [startRow(agent, { body: "unread" }), "body"],
    [startRow(agent, { ...fire(trigger), payload: "" }), "started"],
    [startRow(agent, { ...fire(bare), payload: "" }), "empty"],
    [startRow(agent, { ...fire(bare), key: randomUUID(), bodyHash: hash }), "started"],
    [startRow(agent, fire(disabled)), "trigger_disabled"],
    [startRow(agent, { credentialHash: trigger.hash }), "unauthorized"],
    [startRow(agent, fire(agent)), "unauthorized"],
  ];

  const batch = judged();
  const answers = await startRuns(
    database,
    batch.map(([row]) => row),
  );
  expect(answers.map(({ verdict }) => verdict)).toEqual(batch.map(([, verdict]) => verdict));
  expect(answers[3]).toMatchObject({ runId: earlier.runId });

  for (const repeated of [false, true]) {
    for (const [row, verdict] of judged()) {
      expect(await startRuns(database, [row], { repeated }), `${row.door}, ${row.key}, ${repeated}`).toMatchObject([{ verdict }]);
    }
  }
});

test("a row that was written before is started before any other verdict, whatever has changed since", async () => {
  const owner = await seedProcess(database);
  const agent = await seedAgent(database);
  const row = startRow(agent, { owner, key: "k", bodyHash: hash });
  const first = startedOf((await startRuns(database, [row]))[0]);
  await database.engine.query("update agents set paused_at = now(), deleted_at = now() where id = $1", [agent.agentId]);
  await database.engine.query("delete from tokens where agent_id = $1", [agent.agentId]);
  expect(startedOf((await startRuns(database, [row]))[0])).toEqual(first);
  expect(await rowsOf(row.runId)).toHaveLength(1);
});

test("a repeat of a start that others have gone on with since does not begin it anew", async () => {
  const owner = await seedProcess(database);
  const agent = await seedAgent(database);
  const row = startRow(agent, { owner });
  await startRuns(database, [row]);
  await database.engine.query("update runs set fence = 2 where id = $1", [row.runId]);
  expect(startedOf((await startRuns(database, [row]))[0]).running).toBe(false);
});

test("of two rows with one key in a batch one starts, and the other is told to ask again, which gives it the same run", async () => {
  const agent = await seedAgent(database);
  const rows = [0, 1].map(() => startRow(agent, { key: "k", bodyHash: hash }));
  const answers = await startRuns(database, rows);
  expect(answers.map(({ verdict }) => verdict)).toEqual(["started", "contended"]);
  const [again] = await startRuns(database, [startRow(agent, { key: "k", bodyHash: hash })]);
  expect(again).toMatchObject({ verdict: "replay", runId: rows[0]?.runId });
});

test("the same key is another one for another agent, and for a trigger", async () => {
  const agent = await seedAgent(database);
  const other = await seedAgent(database, { workspaceId: agent.workspaceId });
  const trigger = await seedTrigger(database, agent);
  const key = { key: "k", bodyHash: hash };
  const answers = await startRuns(database, [
    startRow(agent, key),
    startRow(other, key),
    startRow(agent, { ...key, door: "fire", agentId: null, credentialHash: trigger.hash }),
  ]);
  expect(answers.map(({ verdict }) => verdict)).toEqual(["started", "started", "started"]);
});

test("the queue limit counts the rows that would be queued, and them alone", async () => {
  const owner = await seedProcess(database);
  const agent = await seedAgent(database, { limits: { max_queued_runs: 3 } });
  const earlier = await startOne(database, agent, { key: "k", bodyHash: hash });
  const verdicts = async (rows: ReturnType<typeof startRow>[]) => (await startRuns(database, rows)).map(({ verdict }) => verdict);

  // One is queued: two more fit, what runs at once or is refused or repeated takes no place.
  expect(
    await verdicts([
      startRow(agent, { owner }),
      startRow(agent),
      startRow(agent, { body: "bad" }),
      startRow(agent, { key: "k", bodyHash: hash }),
      startRow(agent, { owner }),
      startRow(agent),
      startRow(agent),
      startRow(agent, { owner }),
      startRow(agent),
    ]),
  ).toEqual(["started", "started", "body", "replay", "started", "started", "agent_busy", "started", "agent_busy"]);
  expect(await verdicts([startRow(agent), startRow(agent, { owner })])).toEqual(["agent_busy", "started"]);

  await database.engine.query("update runs set status = 'cancelled', finished_at = now() where id = $1", [earlier.runId]);
  expect(await verdicts([startRow(agent), startRow(agent)])).toEqual(["started", "agent_busy"]);
});

test("one agent's full queue does not refuse another's runs in the same batch", async () => {
  const full = await seedAgent(database, { limits: { max_queued_runs: 1 } });
  await startOne(database, full);
  const other = await seedAgent(database, { workspaceId: full.workspaceId, limits: { max_queued_runs: 2 } });
  const answers = await startRuns(database, [startRow(full), startRow(other), startRow(full), startRow(other)]);
  expect(answers.map(({ verdict }) => verdict)).toEqual(["agent_busy", "started", "agent_busy", "started"]);
});
