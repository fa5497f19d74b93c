import { type Run, retryRunBody } from "@beckon/contract";
import { elapsed, sleep } from "../base/clock.ts";
import { agentLimit, type Context, permit, principalOf } from "../base/context.ts";
import { databaseAway, failureKind, inWorkspace } from "../base/database/index.ts";
import { messageOf, Refusal } from "../base/errors.ts";
import { mismatch, type Once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parse } from "../base/parse.ts";
import { deletedRun, noRun } from "./access.ts";
import { cancelStored } from "./cancel-statement.ts";
import { queueFull } from "./queue-full.ts";
import { type RetryAnswer, type RetryRow, retryStored } from "./retry-statement.ts";
import type { Runtime } from "./runtime.ts";
import { announceQueued } from "./start.ts";
import { findRun } from "./store.ts";
import { unbindKey } from "./unbind-key-statement.ts";

/**
 * Starts a new run with the payload of one that has ended, on the agent as it is now or on the version of then. It passes what every start
 * passes: pause, queue limit, key. A disabled or deleted trigger does not matter: nobody fires it.
 * @returns the new run, or with a key that was used before the run that it has started.
 */
export async function retryRun({
  ctx,
  input,
}: {
  ctx: Context & { runtime: Runtime };
  input: { runId: string; body: unknown };
}): Promise<Once<Run>> {
  permit(ctx, "runs:write");
  const body = settled(() => parse(retryRunBody, input.body ?? {}));
  const row: RetryRow = {
    runId: newId("run"),
    eventId: newId("evt"),
    auditId: newId("aud"),
    workspaceId: ctx.workspaceId,
    original: input.runId,
    agentIds: agentLimit(ctx) ?? null,
    principal: principalOf(ctx.actor),
    address: ctx.address ?? null,
    version: body instanceof Refusal ? undefined : body.version,
    once: await bindingOf(ctx, input.runId),
  };
  const answer = await submit(ctx.runtime, row);
  switch (answer.verdict) {
    case "started":
      announceQueued(ctx.runtime);
      return { data: await read(ctx, row.runId), replayed: false };
    case "replay":
      return { data: await read(ctx, answer.runId), replayed: true };
    case "body":
      throw body;
    case "not_found":
      throw noRun();
    case "idempotency_mismatch":
      throw mismatch();
    case "agent_paused":
      throw new Refusal("agent_paused", "This agent is paused and starts no runs. Resume it, or try again later.");
    case "agent_deleted":
      throw new Refusal("conflict", "The agent of this run was deleted and starts no runs. Restore it first.");
    case "unfinished":
      throw new Refusal("conflict", "This run has not ended. Retry it when its finished_at is set; cancel it if it shall not go on.");
    case "agent_busy":
      throw queueFull(answer.maxQueuedRuns);
  }
}

function settled<T>(work: () => T): T | Refusal {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown;
    throw thrown;
  }
}

/** @throws Refusal of a key, or of a body that cannot be hashed, once the run is known to be there. */
async function bindingOf(ctx: Context, runId: string): Promise<RetryRow["once"]> {
  const { idempotency: request } = ctx;
  if (request === undefined) return undefined;
  const { bodyHash } = request;
  if (!(bodyHash instanceof Refusal)) return { scope: `${principalOf(ctx.actor)} ${request.route}`, key: request.key, bodyHash };
  const find = inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) => findRun(tx, ctx.workspaceId, runId, agentLimit(ctx)));
  throw (await find) === undefined ? noRun() : bodyHash;
}

async function submit(runtime: Runtime, row: RetryRow): Promise<Exclude<RetryAnswer, { verdict: "contended" }>> {
  try {
    for (;;) {
      const answer = await retryStored(runtime.database, row);
      runtime.tail.grew();
      if (answer.verdict !== "contended") return answer;
    }
  } catch (thrown) {
    if (failureKind(thrown) !== "lost") throw thrown;
    void withdraw(runtime, row).catch((again) => {
      runtime.log.error({ run_id: row.runId, reason: messageOf(again) }, "a retry that was answered with 503 could not be cancelled");
    });
    throw databaseAway(thrown);
  }
}

/** Milliseconds between looks for a retry whose answer was lost. */
const interval = 500;
/** Milliseconds in which a statement whose connection broke may still take effect: its own limit, and some more. */
const unsureMs = 30_000;

/** The caller was told that nothing goes on: what was written after all is ended, and its key is free again. */
async function withdraw(runtime: Runtime, row: RetryRow): Promise<void> {
  const run = { runId: row.runId, workspaceId: row.workspaceId };
  const message = "The database answered too late; the caller was told that nothing was started.";
  const until = elapsed() + unsureMs;
  runtime.unanswered.set(row.runId, { refused: true, claimed: undefined, settled: Promise.resolve() });
  try {
    for (;;) {
      const answer = await cancelStored(runtime.database, run, { eventId: newId("evt"), message }).catch(lost);
      if (answer === "asked") runtime.wakeUps.tell({ kind: "cancel", runId: row.runId });
      const found = answer !== undefined && answer !== "not_found";
      if (found && (row.once === undefined || (await unbindKey(runtime.database, run, row.once).then(() => true, lost)))) return;
      if (answer === "not_found" && elapsed() > until) return;
      await sleep(interval);
    }
  } finally {
    runtime.unanswered.delete(row.runId);
  }
}

/** The database is still away: look again. */
function lost(thrown: unknown): undefined {
  if (failureKind(thrown) !== "lost") throw thrown;
}

/** The run that a retry has started. @throws Refusal `conflict` when it has been deleted since. */
async function read(ctx: Context, runId: string): Promise<Run> {
  const run = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) => findRun(tx, ctx.workspaceId, runId, undefined));
  if (run === undefined) throw deletedRun();
  return run;
}
