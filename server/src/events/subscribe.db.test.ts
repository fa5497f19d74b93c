import { afterAll, expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { eventually } from "../../test/eventually.ts";
import { type SeededAgent, seedAgent, seedProcess, startRow } from "../../test/tenant.ts";
import { openProcessMessages, type ProcessMessages } from "../base/database/index.ts";
import { createLog } from "../base/log.ts";
import { startRuns } from "../runs/starting/start-runs.ts";
import { createEventPoller } from "./event-poller.ts";
import { beginning } from "./position.ts";
import { type PlacedEvent, readEnd } from "./store.ts";
import { subscribeToWorkspace } from "./subscribe.ts";

const { database } = await testDatabase();
const log = createLog("silent");
const owner = await seedProcess(database);
const processMessages = openProcessMessages(database, log);
afterAll(() => processMessages.close());

function openTail(told: ProcessMessages = processMessages) {
  const tail = createEventPoller({ database, processMessages: told, log });
  onTestFinished(() => tail.close());
  return tail;
}

const start = async (agent: SeededAgent, count: number): Promise<string[]> => {
  const rows = Array.from({ length: count }, () => startRow(agent, { owner }));
  await startRuns(database, rows);
  return rows.map((row) => row.runId).sort();
};

function watch(tail: ReturnType<typeof openTail>, agent: SeededAgent, after = beginning) {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  return subscribeToWorkspace({ database, tail }, agent.workspaceId, {
    after,
    signal: leaving.signal,
  });
}

async function take(events: AsyncGenerator<PlacedEvent>, count: number): Promise<string[]> {
  const taken: string[] = [];
  while (taken.length < count) taken.push((await events.next()).value?.runId ?? "");
  return taken;
}

test("a reader who is far behind gets everything, and what is written meanwhile", async () => {
  const agent = await seedAgent(database);
  const early = await start(agent, 250);
  const tail = openTail();
  const events = watch(tail, agent);
  const first = await take(events, 1);
  const late = await start(agent, 250);
  tail.noteWritten();
  const rest = await take(events, 499);
  expect([...first, ...rest]).toEqual([...early, ...late]);
});

test("a reader who takes nothing while more comes than is kept misses nothing, and holds up no other", async () => {
  const agent = await seedAgent(database);
  const tail = openTail();
  const after = await readEnd(database.engine);
  const [slow, quick] = [watch(tail, agent, after), watch(tail, agent, after)];
  const all: string[] = [];
  const seen: string[] = [];
  for (let batch = 0; batch < 10; batch++) {
    all.push(...(await start(agent, 100)));
    tail.noteWritten();
    seen.push(...(await take(quick, 100)));
    // It has begun, and then stands still.
    if (batch === 0) await take(slow, 1);
  }
  expect(seen).toEqual(all);
  expect(await take(slow, 999)).toEqual(all.slice(1));
});

test("readers of one workspace are not shown another's events, and share one look at the database", async () => {
  const [one, other] = [await seedAgent(database), await seedAgent(database)];
  const tail = openTail();
  const after = await readEnd(database.engine);
  const readers = Array.from({ length: 20 }, () => watch(tail, one, after));
  const foreign = watch(tail, other, after);
  const theirs = await start(other, 3);
  const ours = await start(one, 3);
  tail.noteWritten();
  expect(await Promise.all(readers.map((reader) => take(reader, 3)))).toEqual(
    readers.map(() => ours),
  );
  expect(await take(foreign, 3)).toEqual(theirs);
});

test("without any message, events are found by looking", async () => {
  const agent = await seedAgent(database);
  const deaf: ProcessMessages = {
    send: () => {},
    onMessage: () => {},
    alone: false,
    close: async () => {},
  };
  const events = watch(openTail(deaf), agent, await readEnd(database.engine));
  const next = take(events, 5);
  expect(await start(agent, 5)).toEqual(await next);
});

test("a process that follows is told by the others, and tells when asked itself", async () => {
  const agent = await seedAgent(database);
  const elsewhere = openProcessMessages(database, log);
  onTestFinished(() => elsewhere.close());
  elsewhere.alone = false;
  processMessages.alone = false;
  const [here, there] = [openTail(processMessages), openTail(elsewhere)];
  const heard: string[] = [];
  processMessages.onMessage = (message) => {
    heard.push(message?.kind ?? "lost");
    if (message?.kind === "events") here.wake();
  };
  const listening = Promise.withResolvers<void>();
  elsewhere.onMessage = (message) => {
    if (message?.kind === "follow") there.noteRemoteSubscriber();
    if (message === undefined) listening.resolve();
  };
  await listening.promise;
  const events = watch(here, agent, await readEnd(database.engine));
  const next = take(events, 1);
  await eventually("the others to tell", async () => {
    there.noteWritten();
    return heard.includes("events") || undefined;
  });
  expect(await start(agent, 1)).toEqual(await next);
});

test("whoever follows a closed tail ends", async () => {
  const agent = await seedAgent(database);
  const tail = openTail();
  const events = watch(tail, agent, await readEnd(database.engine));
  const next = events.next();
  tail.close();
  expect(await next).toEqual({ done: true, value: undefined });
  expect(await watch(tail, agent).next()).toEqual({ done: true, value: undefined });
});
