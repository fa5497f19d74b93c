import { randomBytes } from "node:crypto";
import { expect, test, vi } from "vitest";
import { addRun } from "../../../test/add-run.ts";
import { testDatabase } from "../../../test/database.ts";
import { growJournal } from "../../../test/grow-journal.ts";
import { seedAgent } from "../../../test/tenant.ts";
import { ByteBudget } from "../../base/byte-budget.ts";
import { createSecretCipher } from "../../base/secrets/index.ts";
import { listRunEvents } from "../managing/index.ts";
import { createLiveRuns, createSubscribers } from "./subscribers.ts";
import { waitForRun } from "./wait.ts";

const { database } = await testDatabase();
const owner = await seedAgent(database);
const { workspaceId } = owner;

/** Returns the result of `act`, and the number of characters of the rows that it reads. */
async function measured<T>(act: () => Promise<T>): Promise<{ result: T; characters: number }> {
  const queries = vi.spyOn(database.engine, "query");
  const result = await act();
  const reads = await Promise.all(queries.mock.results.map(({ value }) => value));
  queries.mockRestore();
  expect(reads).not.toEqual([]);
  return { result, characters: JSON.stringify(reads.map(({ rows }) => rows)).length };
}

const runs = {
  database,
  live: createLiveRuns(),
  subscribers: createSubscribers(database, {
    onFirstSubscriber: () => {},
    outputs: new ByteBudget({ maxBytes: 1_000_000 }),
  }),
  capacity: { isDraining: false },
};

const runId = await addRun(database, owner, { output: "done" });
await database.engine.query(
  `insert into events (run_id, seq, workspace_id, id, type, version, data)
    select $1, seq, $2, 'evt_' || seq, type, 1, '{}'
    from unnest(array['run.started', 'run.finished']) with ordinality as e (type, seq)`,
  [runId, workspaceId],
);
await database.engine.query("update runs set last_seq = 2 where id = $1", [runId]);
await growJournal(database.engine, runId, 500, 60_000);

const list = (query: Record<string, string>) =>
  measured(() => {
    const cipher = createSecretCipher(randomBytes(32));
    const ctx = { database, cipher, actor: { kind: "system" }, workspaceId, runs } as const;
    return listRunEvents({ ctx, input: { runId, query } });
  });

test("a page of one event reads no other event", async () => {
  const { result, characters } = await list({ limit: "1", after: "1" });
  expect(result).toMatchObject({ data: [{ seq: 2 }], next: "2" });
  expect(characters).toBeLessThan(70_000);
});

test("a page of large events ends early, and its cursor continues with the next event", async () => {
  const seqs: number[] = [];
  for (let after: string | null = "400"; after !== null; ) {
    const { result, characters } = await list({ limit: "200", after });
    expect(characters).toBeLessThan(1_200_000);
    seqs.push(...result.data.map(({ seq }) => seq));
    after = result.next;
  }
  expect(seqs).toEqual(Array.from({ length: 102 }, (_, index) => index + 401));
});

test("waiting for a run that has ended reads none of its events", async () => {
  const { result, characters } = await measured(() =>
    waitForRun(runs, { runId, workspaceId }, new AbortController().signal),
  );
  expect(result).toMatchObject({ status: "succeeded", output: "done" });
  expect(characters).toBeLessThan(2_000);
});
