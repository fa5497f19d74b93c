import { setImmediate } from "node:timers/promises";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { eventually } from "../../test/eventually.ts";
import { type SeededAgent, seedAgent, seedProcess, startRow } from "../../test/tenant.ts";
import { startRuns } from "../../test/write-runs.ts";
import { openProcessMessages, type ProcessMessages } from "../base/database/index.ts";
import { createLog } from "../base/log.ts";
import { createEventPoller, type EventPoller, type EventSubscription } from "./event-poller.ts";
import { beginning } from "./position.ts";
import { readEnd, readEventBatch, type StoredEvent } from "./store.ts";
import { subscribeToWorkspace } from "./subscribe.ts";

const { database } = await testDatabase();
const log = createLog("silent");
const owner = await seedProcess(database);
const processMessages = openProcessMessages(database, log);
afterAll(() => processMessages.close());

function createPoller(messages: ProcessMessages = processMessages) {
  const poller = createEventPoller({ database, processMessages: messages, log });
  onTestFinished(() => poller.close());
  return poller;
}

const start = async (agent: SeededAgent, count: number): Promise<string[]> => {
  const rows = Array.from({ length: count }, () => startRow(agent, { owner }));
  await startRuns(database, rows);
  return rows.map((row) => row.runId).sort();
};

function subscribe(poller: ReturnType<typeof createPoller>, agent: SeededAgent, after = beginning) {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  return subscribeToWorkspace({ eventPoller: poller }, agent.workspaceId, {
    after,
    signal: ending.signal,
  });
}

/** For each subscriber, the events of its last batch that `take` has not returned yet. */
const untaken = new WeakMap<object, readonly StoredEvent[]>();

async function take(
  events: AsyncGenerator<readonly StoredEvent[]>,
  count: number,
): Promise<string[]> {
  const taken = [...(untaken.get(events) ?? [])];
  while (taken.length < count) taken.push(...((await events.next()).value ?? []));
  untaken.set(events, taken.slice(count));
  return taken.slice(0, count).map(({ runId }) => runId);
}

/**
 * Wakes the poller until the subscription has events. Needs no timer, which a poll that has found
 * an open transaction of another test would wait for.
 */
async function takeNext(poller: EventPoller, subscription: EventSubscription) {
  for (;;) {
    poller.noteWritten();
    await setImmediate();
    const taken = subscription.take() ?? [];
    if (taken.length > 0) return taken.map(({ runId }) => runId);
  }
}

test("a subscriber far behind gets all old events and those written meanwhile", async () => {
  const agent = await seedAgent(database);
  const early = await start(agent, 250);
  const poller = createPoller();
  const events = subscribe(poller, agent);
  const first = await take(events, 1);
  const late = await start(agent, 250);
  poller.noteWritten();
  const rest = await take(events, 499);
  expect([...first, ...rest]).toEqual([...early, ...late]);
});

test("a new subscriber does not wait for the pause after a batch", async () => {
  const agent = await seedAgent(database);
  const poller = createPoller();
  const first = poller.subscribe(agent.workspaceId, { merge: true });
  await first.start;
  // Without timers, a pause ends only if something ends it.
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  await start(agent, 1);
  await takeNext(poller, first);
  expect(await poller.subscribe(agent.workspaceId).start).toBeDefined();
});

test.each([
  [1, 500],
  [100, 1_000],
])("merged events after a batch of %d come within %d ms", async (count, ms) => {
  const agent = await seedAgent(database);
  const poller = createPoller();
  const subscription = poller.subscribe(agent.workspaceId, { merge: true });
  await subscription.start;
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const first = await start(agent, count);
  expect(await takeNext(poller, subscription)).toEqual(first);
  const second = await start(agent, 1);
  vi.advanceTimersByTime(ms);
  expect(await takeNext(poller, subscription)).toEqual(second);
});

test("a subscriber whose backlog overflows misses no event and delays no other", async () => {
  const agent = await seedAgent(database);
  const poller = createPoller();
  const after = await readEnd(database.engine);
  const [slow, quick] = [subscribe(poller, agent, after), subscribe(poller, agent, after)];
  const all: string[] = [];
  const seen: string[] = [];
  for (let batch = 0; batch < 10; batch++) {
    all.push(...(await start(agent, 200)));
    poller.noteWritten();
    seen.push(...(await take(quick, 200)));
    // The slow subscriber takes one event now and the others only at the end.
    if (batch === 0) await take(slow, 1);
  }
  expect(seen).toEqual(all);
  expect(await take(slow, 1_999)).toEqual(all.slice(1));
});

test("a subscriber gets no event before its position from a poller that is behind", async () => {
  const agent = await seedAgent(database);
  const poller = createPoller();
  const early = subscribe(poller, agent, await readEnd(database.engine));
  const next = take(early, 1);
  const first = await start(agent, 1);
  poller.noteWritten();
  expect(await next).toEqual(first);
  // The poll that has found the events of the first run is followed by a pause. So the poller has
  // not read the events of the second run yet.
  const second = await start(agent, 1);
  const after = await eventually("a position after the second run", async () => {
    const { events } = await readEventBatch(database.engine, [agent.workspaceId], {
      after: beginning,
      limit: 10,
    });
    const last = events.at(-1);
    return last?.runId === second[0] ? last : undefined;
  });
  const late = subscribe(poller, agent, after);
  const nextOfLate = take(late, 1);
  const third = await start(agent, 1);
  poller.noteWritten();
  expect(await nextOfLate).toEqual(third);
  expect(await take(early, 2)).toEqual([...second, ...third]);
});

test("many subscribers of one poller get the events of their own workspace only", async () => {
  const [one, other] = [await seedAgent(database), await seedAgent(database)];
  const poller = createPoller();
  const after = await readEnd(database.engine);
  const subscribers = Array.from({ length: 20 }, () => subscribe(poller, one, after));
  const foreign = subscribe(poller, other, after);
  const theirs = await start(other, 3);
  const ours = await start(one, 3);
  poller.noteWritten();
  expect(await Promise.all(subscribers.map((subscriber) => take(subscriber, 3)))).toEqual(
    subscribers.map(() => ours),
  );
  expect(await take(foreign, 3)).toEqual(theirs);
});

test("without any message, events are found by polling", async () => {
  const agent = await seedAgent(database);
  const disconnected: ProcessMessages = {
    send: () => {},
    onMessage: () => {},
    onOtherCluster: () => {},
    alone: false,
    setAlone: () => {},
    close: async () => {},
  };
  const events = subscribe(createPoller(disconnected), agent, await readEnd(database.engine));
  const next = take(events, 5);
  expect(await start(agent, 5)).toEqual(await next);
});

test("a process with subscribers is notified by the others of what they write", async () => {
  const agent = await seedAgent(database);
  const elsewhere = openProcessMessages(database, log);
  onTestFinished(() => elsewhere.close());
  elsewhere.setAlone(false);
  processMessages.setAlone(false);
  const [here, there] = [createPoller(processMessages), createPoller(elsewhere)];
  const received: string[] = [];
  processMessages.onMessage((message) => {
    received.push(message?.kind ?? "lost");
    if (message?.kind === "events") here.wake();
  });
  const listening = Promise.withResolvers<void>();
  elsewhere.onMessage((message) => {
    if (message?.kind === "eventSubscribers") there.noteRemoteSubscriber();
    if (message === undefined) listening.resolve();
  });
  await listening.promise;
  const events = subscribe(here, agent, await readEnd(database.engine));
  const next = take(events, 1);
  await eventually("a notification of the other process", async () => {
    there.noteWritten();
    return received.includes("events") || undefined;
  });
  expect(await start(agent, 1)).toEqual(await next);
});

test("subscriptions end when their poller is closed", async () => {
  const agent = await seedAgent(database);
  const poller = createPoller();
  const events = subscribe(poller, agent, await readEnd(database.engine));
  const next = events.next();
  poller.close();
  expect(await next).toEqual({ done: true, value: undefined });
  expect(await subscribe(poller, agent).next()).toEqual({ done: true, value: undefined });
});
