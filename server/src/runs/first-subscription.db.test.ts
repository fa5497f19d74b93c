import { afterAll, beforeEach, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { startReceiver } from "../../test/receiver.ts";
import { subscribe } from "../../test/subscribe.ts";
import {
  appendRow,
  seedAgent,
  seedProcess,
  startOne,
  startRow,
  succeeded,
} from "../../test/tenant.ts";
import { appendToRuns, startRuns } from "../../test/write-runs.ts";
import { newId } from "../base/ids.ts";
import { KnownSubscriptions } from "../events/index.ts";

/**
 * While a process knows no subscription, it sends statements that cannot write deliveries. These
 * tests create the first subscription at that time.
 */

const beckon = await startTestBeckon();
const { database } = beckon.db;
const other = await beckon.another();
const receiver = await startReceiver();
afterAll(() => Promise.all([other.stop(), receiver.close()]));
const owner = await seedProcess(database);
const agent = await seedAgent(database);
beforeEach(() => database.engine.query("update subscriptions set deleted_at = now()"));

const createSubscription = (eventTypes = ["run.started", "run.finished"]) =>
  subscribe(database.engine, beckon.config.masterKey, {
    url: receiver.url,
    workspaceId: agent.workspaceId,
    eventTypes,
  });
const entriesAtEnd = () => [
  { id: newId("evt"), type: "run.finished", data: "{}", artifact: undefined },
];

/** Reads the types of a run's events, and of its deliveries, in the order of the events. */
async function writtenOf(runId: string): Promise<{ events: string[]; deliveries: string[] }> {
  const { rows } = await database.engine.query(
    `select (select coalesce(array_agg(type order by seq), '{}') from events where run_id = $1) as events,
       (select coalesce(array_agg(type order by seq), '{}') from deliveries where run_id = $1) as deliveries`,
    [runId],
  );
  return rows[0];
}

test("runs of two processes that are in flight when the first subscription is created are delivered from then on", async () => {
  const model = await startHeldModel(beckon);
  const held = await beckon.createAgent({ model: model.model });
  const servers = [beckon.url, other.url];
  const invoke = (url: string, prefer: Record<string, string> = { prefer: "respond-async" }) =>
    beckon.call(`${url}/api/public/agents/${held.id}/invoke`, {
      credential: held.token,
      body: { input: "Hello" },
      headers: prefer,
    });
  const runsOf = async (count: number) =>
    Promise.all(
      servers.flatMap((url) =>
        Array.from({ length: count }, async () => (await invoke(url)).body.run_id as string),
      ),
    );
  const early = await runsOf(10);
  await model.reached(early.length);
  // Starts are being written while the subscription is created.
  const during = runsOf(25);
  const { body } = await beckon.call("/subscriptions", {
    body: {
      url: receiver.url,
      event_types: ["run.started", "run.finished"],
      agent_ids: [held.id],
    },
  });
  const late = await runsOf(10);
  const all = [...early, ...(await during), ...late];
  model.release();
  await eventually("the end of all runs", async () => {
    const { rows } = await database.engine.query(
      "select count(*)::int as ended from runs where id = any ($1) and status = 'succeeded'",
      [all],
    );
    return rows[0].ended === all.length || undefined;
  });
  for (const runId of early) expect((await writtenOf(runId)).deliveries).toEqual(["run.finished"]);
  for (const runId of late)
    expect((await writtenOf(runId)).deliveries).toEqual(["run.started", "run.finished"]);
  for (const runId of await during)
    expect((await writtenOf(runId)).deliveries.at(-1)).toBe("run.finished");
  const finished = await receiver.awaitCount(
    all.length,
    ({ body: { type } }) => type === "run.finished",
  );
  expect(new Set(finished.map(({ body: { data } }) => data.run_id))).toEqual(new Set(all));
  expect(finished.every(({ body: { data } }) => data.subscription_id === body.data.id)).toBe(true);
});

test("a start that sees the first subscription writes its delivery and binds its key once", async () => {
  await createSubscription();
  const subscriptions = new KnownSubscriptions();
  const keyed = startRow(agent, { owner, key: newId("key"), bodyHash: Buffer.from("body") });
  const rejected = startRow(agent, {
    owner,
    caller: { kind: "credential", hash: Buffer.from("") },
  });
  const results = await startRuns(database, [keyed, rejected], { subscriptions });
  expect(results.map(({ kind }) => kind)).toEqual(["started", "unauthorized"]);
  expect(subscriptions.some).toBe(true);
  expect(await writtenOf(keyed.runId)).toEqual({
    events: ["run.started"],
    deliveries: ["run.started"],
  });
  const again = startRow(agent, { ...keyed, runId: newId("run"), eventId: newId("evt") });
  expect(await startRuns(database, [again], { subscriptions })).toMatchObject([
    { kind: "replay", runId: keyed.runId },
  ]);
});

test("a start whose reply was lost before the first subscription is not written again", async () => {
  const row = startRow(agent, { owner, key: newId("key"), bodyHash: Buffer.from("body") });
  await startRuns(database, [row], { resent: false });
  await createSubscription();
  const subscriptions = new KnownSubscriptions();
  expect(await startRuns(database, [row], { subscriptions })).toMatchObject([{ kind: "started" }]);
  expect(await writtenOf(row.runId)).toEqual({ events: ["run.started"], deliveries: [] });
});

test.each([false, true])(
  "an append that sees the first subscription writes its delivery (with limits: %s)",
  async (charged) => {
    const run = await startOne(database, agent, { owner });
    await createSubscription();
    const subscriptions = new KnownSubscriptions();
    const end = appendRow(run, owner, { entries: entriesAtEnd(), transition: succeeded });
    const options = { charged, subscriptions };
    const [written] = await appendToRuns(database, [end], options);
    expect([written?.kind, subscriptions.some]).toEqual(["written", true]);
    const expected = { events: ["run.started", "run.finished"], deliveries: ["run.finished"] };
    expect(await writtenOf(run.runId)).toEqual(expected);
    // Sends the same append again, as after a lost reply. The new `KnownSubscriptions` knows no
    // subscription, so the statement is first sent without SQL for deliveries.
    const repeated = { charged, subscriptions: new KnownSubscriptions() };
    expect(await appendToRuns(database, [end], repeated)).toEqual([written]);
    expect(await writtenOf(run.runId)).toEqual(expected);
  },
);

test("an append whose reply was lost before the first subscription is not written again", async () => {
  const run = await startOne(database, agent, { owner });
  const end = appendRow(run, owner, { entries: entriesAtEnd(), transition: succeeded });
  const [written] = await appendToRuns(database, [end]);
  await createSubscription();
  expect(await appendToRuns(database, [end])).toEqual([written]);
  expect((await writtenOf(run.runId)).deliveries).toEqual([]);
});

test("rows that lost their fence, or that are cancelled, have the same result with a subscription", async () => {
  const [fenced, cancelled, written] = [
    await startOne(database, agent, { owner }),
    await startOne(database, agent, { owner }),
    await startOne(database, agent, { owner }),
  ];
  await database.engine.query("update runs set cancel_requested_at = now() where id = $1", [
    cancelled.runId,
  ]);
  const rows = [
    appendRow(fenced, owner, { fence: 2 }),
    appendRow(cancelled, owner, { unlessCancelled: true }),
    appendRow(written, owner, { entries: entriesAtEnd(), transition: succeeded }),
  ];
  await createSubscription();
  const results = await appendToRuns(database, rows);
  expect(results.map(({ kind }) => kind)).toEqual(["fenced", "cancelled", "written"]);
  expect((await writtenOf(written.runId)).deliveries).toEqual(["run.finished"]);
});

test("a process forgets subscriptions when the last one was deleted", async () => {
  const subscriptions = new KnownSubscriptions();
  await createSubscription();
  await subscriptions.refresh(database);
  expect(subscriptions.some).toBe(true);
  await database.engine.query("update subscriptions set deleted_at = now()");
  await subscriptions.refresh(database);
  expect(subscriptions.some).toBe(false);
});
