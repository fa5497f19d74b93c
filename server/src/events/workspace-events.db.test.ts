import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { eventually } from "../../test/eventually.ts";
import { seedAgent, seedProcess, startOne } from "../../test/tenant.ts";
import { beginning, type Position } from "./position.ts";
import { type EventBatch, readEventBatch, type StoredEvent } from "./store.ts";

const { database } = await testDatabase();
const owner = await seedProcess(database);

const ofRun = `insert into events (run_id, seq, workspace_id, id, type, version, data)
  select id, $2, workspace_id, $3, 'run.step', 1, '{}' from runs where id = $1`;
const ofWorkspace = `insert into workspace_events (id, workspace_id, agent_id, type, version, data)
  values ($1, $2, $3, 'agent.paused', 1, '{}')`;

/** Executes all statements in one transaction. */
async function commit(
  ...statements: readonly [text: string, values: readonly unknown[]][]
): Promise<void> {
  const client = await database.engine.connect();
  await client.query("begin");
  for (const [text, values] of statements) await client.query(text, [...values]);
  await client.query("commit");
  client.release();
}

/** Reads `count` events, `limit` at a time. Waits for events that open transactions still hide. */
async function readAll(workspaceId: string, count: number, limit: number): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  let after: Position = beginning;
  return eventually(`${count} events`, async () => {
    const batch = await readEventBatch(database.engine, [workspaceId], { after, limit });
    events.push(...batch.events);
    after = batch.end;
    return events.length >= count ? events : undefined;
  });
}

test("a batch ends once its data has a million characters, and the next one has the rest", async () => {
  const { agentId, workspaceId } = await seedAgent(database);
  const large = (id: string) =>
    [
      `insert into workspace_events (id, workspace_id, agent_id, type, version, data)
        values ($1, $2, $3, 'agent.paused', 1, jsonb_build_object('reason', repeat('x', 600000)))`,
      [id, workspaceId, agentId],
    ] as const;
  await commit([...large("one")], [...large("two")], [...large("three")]);
  const idsOf = (batch: EventBatch) => batch.events.map(({ id }) => id);
  const read = (after: Position) =>
    readEventBatch(database.engine, [workspaceId], { after, limit: 10 });
  const first = await eventually("the events", async () => {
    const batch = await read(beginning);
    return batch.events.length > 0 ? batch : undefined;
  });
  expect([idsOf(first), first.hasMore]).toEqual([["one", "two"], true]);
  const second = await read(first.end);
  expect([idsOf(second), second.hasMore]).toEqual([["three"], false]);
});

test("batches that are cut by their size have the end of every run if events are merged", async () => {
  const { agentId, workspaceId, hash } = await seedAgent(database);
  const eventOf = (runId: string, seq: number, type: string) =>
    [
      `insert into events (run_id, seq, workspace_id, id, type, version, data)
        select id, $2, workspace_id, $4, $3, 1, jsonb_build_object('text', repeat('x', 1000))
        from runs where id = $1`,
      [runId, seq, type, `${runId}-${seq}`],
    ] as const;
  const runIds: string[] = [];
  for (let count = 0; count < 6; count++) {
    const { runId } = await startOne(database, { agentId, workspaceId, hash }, { owner });
    runIds.push(runId);
    await commit([...eventOf(runId, 2, "run.step")], [...eventOf(runId, 3, "run.step")]);
    await commit([...eventOf(runId, 4, "run.failed")]);
  }
  await commit([ofWorkspace, ["pause", workspaceId, agentId]]);
  await readAll(workspaceId, 25, 100);
  for (const maxCharacters of [1, 1_500, 2_500, 5_500, 1_000_000]) {
    const events: StoredEvent[] = [];
    for (let [after, hasMore] = [beginning, true]; hasMore; ) {
      const options = { after, limit: 7, maxCharacters, merge: true };
      const batch = await readEventBatch(database.engine, [workspaceId], options);
      events.push(...batch.events);
      after = batch.end;
      hasMore = batch.hasMore;
    }
    expect(events.at(-1)?.id).toBe("pause");
    expect(events.flatMap(({ type, runId }) => (type === "run.failed" ? [runId] : []))).toEqual(
      runIds,
    );
    // Each event is there once, or the end of its run says from which event on they were replaced.
    for (const runId of runIds) {
      const ofRun = events.filter((event) => event.runId === runId);
      const first = ofRun.at(-1)?.merged?.seq ?? 4;
      const seqs = [...Array.from({ length: first - 1 }, (_, index) => index + 1), 4];
      expect(ofRun.map(({ seq }) => seq)).toEqual(seqs);
    }
  }
});

test("workspace events sort before the run events of their transaction", async () => {
  const { agentId, workspaceId, hash } = await seedAgent(database);
  const { runId } = await startOne(database, { agentId, workspaceId, hash }, { owner });
  const none = (id: string, about: string | null = agentId) =>
    [ofWorkspace, [id, workspaceId, about]] as const;
  await commit(
    [ofRun, [runId, 2, "run-2"]],
    [...none("none-1")],
    [ofRun, [runId, 3, "run-3"]],
    [...none("none-2", null)],
  );
  await commit([...none("none-3")]);
  await commit([ofRun, [runId, 4, "run-4"]]);
  const expected = ["none-1", "none-2", "run-2", "run-3", "none-3", "run-4"];
  for (const limit of [1, 2, 3, 100]) {
    const [first, ...rest] = await readAll(workspaceId, 7, limit);
    expect(first?.runId).toBe(runId);
    expect(rest.map(({ id }) => id)).toEqual(expected);
  }
  const [, one, two] = await readAll(workspaceId, 7, 100);
  expect(one).toMatchObject({ runId: "", agentId, type: "agent.paused" });
  expect(two).toMatchObject({ runId: "", agentId: null, seq: (one?.seq ?? 0) + 1 });
});

test("a batch can end in the middle of a transaction, and the next one has the rest", async () => {
  const { agentId, workspaceId, hash } = await seedAgent(database);
  const { runId } = await startOne(database, { agentId, workspaceId, hash }, { owner });
  await commit(
    [ofRun, [runId, 2, "run"]],
    [ofWorkspace, ["one", workspaceId, agentId]],
    [ofWorkspace, ["two", workspaceId, agentId]],
  );
  const all = await readAll(workspaceId, 4, 100);
  for (const [index, upTo] of all.entries()) {
    const before = await readEventBatch(database.engine, [workspaceId], {
      after: beginning,
      upTo,
      limit: 10,
    });
    const after = await readEventBatch(database.engine, [workspaceId], { after: upTo, limit: 10 });
    expect([before.events, after.events]).toEqual([all.slice(0, index + 1), all.slice(index + 1)]);
  }
});

test("a batch of one workspace has no event of another", async () => {
  const [ours, theirs] = [await seedAgent(database), await seedAgent(database)];
  await commit(
    [ofWorkspace, ["ours", ours.workspaceId, ours.agentId]],
    [ofWorkspace, ["theirs", theirs.workspaceId, null]],
  );
  expect((await readAll(ours.workspaceId, 1, 10)).map(({ id }) => id)).toEqual(["ours"]);
});
