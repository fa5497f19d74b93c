import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { eventually } from "../../../test/eventually.ts";
import { appendRow, seedAgent, seedProcess, startOne } from "../../../test/tenant.ts";
import { appendToRuns } from "../../../test/write-runs.ts";
import { ByteBudget } from "../../base/byte-budget.ts";
import { createMutex } from "../../base/database/index.ts";
import { newId } from "../../base/ids.ts";
import { createLog } from "../../base/log.ts";
import { Reservations } from "../../reservations/index.ts";
import { claimAbandoned } from "../claiming/abandoned-statement.ts";
import { type ClaimedRun, claimQueued } from "../claiming/claim-statement.ts";
import { readWasWaiting, toEntry } from "../journal/index.ts";
import { reachedStatement } from "../reached-statement.ts";
import type { RunRef } from "../run.ts";
import { LiveRun } from "../subscribing/index.ts";
import { loadRun } from "./load-run.ts";

const { database } = await testDatabase();
const reservations = new Reservations(database, createMutex(), reachedStatement);
const ports = { database, reservations, onReturned() {}, log: createLog("silent") };

/** Starts a run that a new process executes. */
async function startRun() {
  const owner = await seedProcess(database);
  const agent = await seedAgent(database);
  return { ...(await startOne(database, agent, { owner })), owner, fence: 1 };
}

const request = async () => ({ owner: await seedProcess(database), eventIds: [newId("evt")] });

function only(runs: readonly ClaimedRun[], { runId }: RunRef, owner: string) {
  expect(runs.map((run) => run.runId)).toEqual([runId]);
  const [run] = runs;
  if (run === undefined) throw new Error("no run was claimed");
  return { ...run, owner };
}

/** Declares the owner of the run dead, and lets another process take the run over. */
async function takeOver(run: RunRef & { readonly owner: string }) {
  await database.engine.query("update processes set died_at = now() where id = $1", [run.owner]);
  const next = await request();
  return only((await claimAbandoned(database, next)).runs, run, next.owner);
}

test("a wait for memory is recorded while it lasts, unless it would hide a call or a record of an earlier process", async () => {
  const budget = new ByteBudget({ maxBytes: 8_388_608, shareMax: 1 });
  const filler = budget.hold("filler");
  await filler.enter(budget.maxBytes, new AbortController().signal);
  const load = (run: Parameters<typeof loadRun>[1]["run"]) => {
    const live = new LiveRun(run, 0, { hasRemoteSubscribers: false });
    return loadRun(ports, { run, live, memory: budget.hold(run.workspaceId), configBytes: 0 });
  };
  const isRecorded = (run: RunRef) => readWasWaiting(database, run);

  // The process of this run may have been lost during a model call.
  const lost = await takeOver(await startRun());
  const waited = await startRun();
  await reservations.recordWait(waited, true, new AbortController().signal);
  const inherited = await takeOver(waited);
  const started = await startRun();
  const released = toEntry({ type: "run.queued", data: { calls_reported: true } });
  await appendToRuns(database, [
    appendRow(started, started.owner, { entries: [released], transition: "queued" }),
  ]);
  const next = await request();
  const reclaimed = only((await claimQueued(database, next)).runs, started, next.owner);
  const fresh = { ...(await startRun()), input: "hello", inputBytes: 5, resumed: false };

  const loading = [];
  for (const run of [lost, inherited, reclaimed, fresh]) {
    loading.push(load(run));
    await eventually("the wait", () => budget.waitingHolds === loading.length || undefined);
  }
  // These two waits began last, so the others would have been recorded too.
  for (const run of [reclaimed, fresh])
    await eventually("the record", async () => (await isRecorded(run)) || undefined);
  expect(await isRecorded(lost)).toBe(false);

  filler.release();
  const loaded = await Promise.all(loading);
  expect(loaded.map(({ wasWaiting }) => wasWaiting)).toEqual([false, true, false, false]);
  // The engine removes the record of the earlier process.
  expect(await Promise.all([lost, inherited, reclaimed, fresh].map(isRecorded))).toEqual([
    ...[false, true, false, false],
  ]);
});
