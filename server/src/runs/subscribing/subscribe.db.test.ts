import { randomBytes } from "node:crypto";
import type { OutputEvent } from "@beckon/contract";
import { expect, test } from "vitest";
import { addRun } from "../../../test/add-run.ts";
import { testDatabase } from "../../../test/database.ts";
import { seedAgent } from "../../../test/tenant.ts";
import { ByteBudget } from "../../base/byte-budget.ts";
import { createSecretCipher } from "../../base/secrets/index.ts";
import { listRunEvents } from "../managing/index.ts";
import { LiveRun } from "./live-run.ts";
import { createOutputBuffer } from "./output-buffer.ts";
import { publishOutput } from "./publish-output.ts";
import { subscribeToRun } from "./subscribe.ts";
import { createLiveRuns, createSubscribers } from "./subscribers.ts";

const { database } = await testDatabase();
const owner = await seedAgent(database);

const journal = ["run.started", "run.step", "run.finished"];

/** Adds a run that has ended, with the events `journal`. Returns its id. */
async function addEndedRun(): Promise<string> {
  const runId = await addRun(database, owner);
  await database.engine.query(
    `insert into events (run_id, seq, workspace_id, id, type, version, data)
      select $1, seq, $2, 'evt_' || $1 || seq, type, 1, '{}'
      from unnest($3::text[]) with ordinality as e (type, seq)`,
    [runId, owner.workspaceId, journal],
  );
  await database.engine.query("update runs set last_seq = $2 where id = $1", [
    runId,
    journal.length,
  ]);
  return runId;
}

const createPorts = () => ({
  database,
  live: createLiveRuns(),
  subscribers: createSubscribers(database, {
    onFirstSubscriber: () => {},
    outputs: new ByteBudget({ maxBytes: 1_000_000 }),
  }),
  capacity: { isDraining: false },
});

test("the list of a run's events is complete while the process stops", async () => {
  const runId = await addEndedRun();
  const runs = createPorts();
  runs.subscribers.poller.close();
  const cipher = createSecretCipher(randomBytes(32));
  const { workspaceId } = owner;
  const ctx = { database, cipher, actor: { kind: "system" }, workspaceId, runs } as const;
  const { data, next } = await listRunEvents({ ctx, input: { runId, query: {} } });
  expect([data.map(({ type }) => type), next]).toEqual([journal, null]);
});

test("the output of a run that ended before its stream began is between the events", async () => {
  const runId = await addEndedRun();
  const output = createOutputBuffer();
  const pushed: OutputEvent[] = [
    { type: "run.output.start", run_id: runId, data: { step: 1, attempt: 1 } },
    { type: "run.output.delta", run_id: runId, data: { step: 1, kind: "text", text: "Hello" } },
    { type: "run.output.end", run_id: runId, data: { step: 1, complete: true } },
  ];
  for (const event of pushed) output.push(event, 1);

  const types: string[] = [];
  const ports = createPorts();
  const run = { runId, workspaceId: owner.workspaceId };
  const { signal } = new AbortController();
  for await (const { type } of subscribeToRun(ports, run, { after: 0, signal, output }))
    types.push(type);
  expect(types).toEqual([
    "run.started",
    "run.output.start",
    "run.output.delta",
    "run.output.end",
    "run.step",
    "run.finished",
  ]);
});

test("a stream that begins while a run waits after a failed attempt gets the provider's error", async () => {
  const ports = createPorts();
  const run = { runId: "run_1", workspaceId: owner.workspaceId };
  const live = new LiveRun(run, 0, { hasRemoteSubscribers: false });
  ports.live.set(run.runId, live);
  const publish = publishOutput(ports.subscribers.outputBuffers, live);
  publish({ type: "step_start", step: 1, attempt: 2 });
  publish({ type: "step_end", step: 1, complete: false, error: "It answered 429." });

  const read = async (count: number) => {
    const { signal } = new AbortController();
    const stream = subscribeToRun(ports, run, { after: 0, signal, output: createOutputBuffer() });
    const events: unknown[] = [];
    for await (const event of stream) {
      if (events.push(event) === count) break;
    }
    return events;
  };
  const failed = [
    { type: "run.output.start", run_id: "run_1", data: { step: 1, attempt: 2 } },
    {
      type: "run.output.end",
      run_id: "run_1",
      data: { step: 1, complete: false, error: "It answered 429." },
    },
  ];
  expect(await read(2)).toEqual(failed);
  // A stream that begins during the next attempt gets nothing of it, and not the old error.
  publish({ type: "step_start", step: 1, attempt: 3 });
  const next = read(1);
  publish({ type: "text_delta", step: 1, text: "Hel" });
  publish({ type: "step_start", step: 2, attempt: 1 });
  expect(await next).toMatchObject([{ data: { step: 2, attempt: 1 } }]);
});
