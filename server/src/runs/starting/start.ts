import { sleep } from "../../base/clock.ts";
import type { IdempotencyBinding } from "../../base/context.ts";
import {
  type Database,
  databaseUnavailable,
  failureKind,
  type ProcessMessages,
  retryWhileLost,
  SubmitTimeoutError,
} from "../../base/database/index.ts";
import { messageOf, orThrow, type Result } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { OwnProcess } from "../../processes/index.ts";
import { limitError, type Reservations } from "../../reservations/index.ts";
import { deletedRun } from "../access.ts";
import type { Capacity, Memory, OwnedRun, WorkerCalls } from "../executing/index.ts";
import {
  type Appends,
  cancelStored,
  nothingUsed,
  readStoredStatus,
  terminalEvent,
  toEnd,
  toEntry,
} from "../journal/index.ts";
import type { RunReports } from "../reports.ts";
import type { RunRef } from "../run.ts";
import type { LiveRuns, OutputBuffer } from "../subscribing/index.ts";
import type { LimitedCallers } from "./limited-callers.ts";
import { queueFull } from "./queue-full.ts";
import type { QueueLimits } from "./queue-limits.ts";
import { createdFailed, outOfMemory, pausedByLimit, rejection, stopping } from "./start-errors.ts";
import {
  initialError,
  type RunDetails,
  type StartedRun,
  type StartResult,
  type StartRow,
} from "./start-row.ts";
import type { Starts } from "./starts.ts";
import { unbindKey } from "./unbind-key-statement.ts";
import type { UnconfirmedStart, UnconfirmedStarts } from "./unconfirmed-starts.ts";

/** The services that starting runs needs. */
export interface StartPorts {
  readonly database: Database;
  readonly log: Log;
  readonly reports: Pick<RunReports, "ended">;
  readonly process: Pick<OwnProcess, "id">;
  readonly starts: Starts;
  readonly appends: Appends;
  readonly unconfirmedStarts: UnconfirmedStarts;
  readonly live: LiveRuns;
  readonly queueLimits: QueueLimits;
  readonly capacity: Capacity;
  readonly memory: Pick<Memory, "heap">;
  readonly processMessages: Pick<ProcessMessages, "send">;
  readonly reservations: Pick<Reservations, "noteLimited">;
  readonly limitedCallers: LimitedCallers;
  readonly worker: Pick<WorkerCalls, "claim">;
  /** Executes a run that this process owns. */
  readonly execute: (run: OwnedRun) => Promise<void>;
}

/** A request to start a run, independent of the protocol. */
export interface StartRequest
  extends Pick<
    StartRow,
    "source" | "caller" | "agentId" | "contentType" | "details" | "labels" | "callback"
  > {
  /**
   * The Idempotency-Key and the hash of the body, or the error in them; undefined if the request
   * has no Idempotency-Key.
   */
  readonly idempotency?: Result<IdempotencyBinding> | undefined;
  /**
   * The payload, or the error in the body. The error is thrown only if no earlier check rejects the
   * request.
   */
  readonly payload: Result<string>;
  /**
   * Buffer that receives the model's output; undefined unless the caller reads the run's stream.
   */
  readonly output?: OutputBuffer | undefined;
}

/** The run that a request started, or the one that an earlier request with the same key started. */
export interface Started extends RunRef {
  readonly agentId: string;
  /** Whether an earlier request with the same Idempotency-Key started the run. */
  readonly replayed: boolean;
}

/** How long a caller waits for the database before it gets a `503` response. */
const startWaitMs = 5_000;

/**
 * How long the entry of a rejected start stays in `unconfirmedStarts` after the outcome of its
 * statement is known. Longer than a concurrent statement with the same Idempotency-Key takes, whose
 * reply can name the rejected run.
 */
const keepRejectedMs = 30_000;

/**
 * Starts a run. One statement checks credential, pause, Idempotency-Key, body and queue limit, and
 * writes the run: see `start-statement.ts`. Resolves once the run is committed. Then the run either
 * executes in this process, or is queued for any process with capacity.
 * @throws ApiError the error of the first check that fails (see `StartRejection`); `unavailable` if
 *   the database does not reply in time. After `unavailable` no model is called for the run: if the
 *   run was written nevertheless, it is cancelled before it executes.
 */
export async function startRun(ports: StartPorts, request: StartRequest): Promise<Started> {
  if (ports.capacity.isDraining) throw stopping();
  if (ports.memory.heap.isFull) throw outOfMemory();
  let row = toRequestFields(request);
  for (;;) {
    const result = await submit(ports, row);
    switch (result.kind) {
      case "started":
        if (result.run.status === "failed") {
          const error = row.details && initialError(row.details);
          ports.reports.ended(result.run, { status: "failed", error });
          throw createdFailed(result.run, row.details);
        }
        if (result.run.status === "running")
          void ports.execute(toOwnedRun(result.run, result.owner, row.payload, request.output));
        if (result.run.status === "queued") announceQueued(ports);
        return {
          runId: result.run.runId,
          workspaceId: result.run.workspaceId,
          agentId: result.run.agentId,
          replayed: false,
        };
      case "claimed":
        return { ...result.run, replayed: false };
      case "replay": {
        const earlier = ports.unconfirmedStarts.get(result.runId);
        if (earlier?.rejected === undefined) {
          if (await isDeleted(ports, result)) throw deletedRun();
          return { ...result, replayed: true };
        }
        // The caller of the earlier request got a `503` response, so its run is being cancelled.
        // After that the Idempotency-Key is free, and this request can start a run.
        await Promise.race([earlier.rejected.promise, sleep(startWaitMs)]);
        continue;
      }
      case "contended":
        continue;
      case "limited":
        ports.limitedCallers.note(request.caller, true);
        continue;
      case "limit_reached":
        row = { ...row, details: failedBy(result, row.details) };
        continue;
      case "limit_paused":
        throw pausedByLimit(result.limit);
      case "agent_busy":
        throw queueFull(await ports.queueLimits.of(request));
      case "body":
        if (request.idempotency !== undefined) orThrow(request.idempotency);
        orThrow(request.payload);
        throw new Error("a body without an error was rejected");
      default:
        throw rejection(result.kind);
    }
  }
}

/**
 * Returns whether the run to which the Idempotency-Key is bound was deleted. Returns false if the
 * database is unreachable.
 */
async function isDeleted({ live, database }: StartPorts, run: RunRef): Promise<boolean> {
  if (live.has(run.runId)) return false;
  try {
    return (await readStoredStatus(database, run)) === undefined;
  } catch (thrown) {
    if (failureKind(thrown) !== "lost") throw thrown;
    return false;
  }
}

/**
 * Returns the details with which the request creates a run that has failed, because a limit is
 * reached. If the request has no details, the run keeps the settings of its trigger.
 */
function failedBy(
  { limit, triggerId, promptPrefix }: Extract<StartResult, { kind: "limit_reached" }>,
  details: RunDetails | undefined,
): RunDetails {
  const own = {
    version: null,
    triggerId,
    promptPrefix,
    retryOf: null,
    keyScope: null,
    audit: null,
  };
  return { ...own, ...details, initial: { ...limitError(limit), limit } };
}

type RequestFields = Omit<StartRow, "runId" | "eventId" | "hasCapacity" | "owner" | "checksLimits">;

/**
 * Returns the fields of the row that come from the request. If the Idempotency-Key is invalid,
 * `key` is the empty string.
 */
function toRequestFields({
  source,
  caller,
  agentId,
  contentType,
  details,
  labels,
  callback,
  idempotency,
  payload,
}: StartRequest): RequestFields {
  const request = { source, caller, agentId, contentType, details, labels, callback };
  if (idempotency?.ok === false)
    return { ...request, key: "", bodyHash: null, payload: "", body: "unhashable" };
  const { key, bodyHash } = idempotency?.value ?? { key: null, bodyHash: null };
  return payload.ok
    ? { ...request, key, bodyHash, payload: payload.value, body: "good" }
    : { ...request, key, bodyHash, payload: "", body: "bad" };
}

/**
 * Checks, before the body is read, only the credential and that the agent exists.
 * @throws ApiError `unauthorized`, `forbidden`, `not_found`; `unavailable` if the database does not
 *   reply in time.
 */
export async function mayStart(
  ports: StartPorts,
  request: Pick<StartRow, "source" | "caller" | "agentId">,
): Promise<void> {
  const result = await submit(ports, {
    ...request,
    key: null,
    bodyHash: null,
    payload: "",
    contentType: null,
    body: "unread",
  });
  if (result.kind === "body") return;
  if (
    result.kind === "started" ||
    result.kind === "replay" ||
    result.kind === "contended" ||
    result.kind === "claimed" ||
    result.kind === "limited" ||
    result.kind === "limit_reached" ||
    result.kind === "limit_paused" ||
    result.kind === "agent_busy"
  )
    throw new Error("a start without a body was not rejected");
  throw rejection(result.kind);
}

/**
 * Result of a start to which the database did not reply in time. The run was written nevertheless:
 * this process has already claimed it from the queue.
 */
interface Claimed {
  readonly kind: "claimed";
  readonly run: RunRef & { readonly agentId: string };
}

async function submit(
  ports: StartPorts,
  request: RequestFields,
): Promise<(StartResult | Claimed) & { owner: string }> {
  const { capacity } = ports;
  const hasCapacity =
    request.body === "good" && request.details === undefined && capacity.tryReserve();
  const owner = ports.process.id;
  const row: StartRow = {
    ...request,
    runId: newId("run"),
    eventId: newId("evt"),
    hasCapacity,
    owner,
    checksLimits: ports.limitedCallers.has(request.caller),
  };
  const start: UnconfirmedStart = { rejected: undefined, claimed: undefined };
  ports.unconfirmedStarts.set(row.runId, start);
  const finish = (executes: boolean) => {
    // The entry of a rejected start is kept for a while. A concurrent start with the same
    // Idempotency-Key may have been sent before the key was unbound. Its reply can still name the
    // rejected run, and `startRun` must then find this entry, so that it does not return that run.
    if (start.rejected !== undefined)
      setTimeout(() => ports.unconfirmedStarts.delete(row.runId), keepRejectedMs).unref();
    else ports.unconfirmedStarts.delete(row.runId);
    start.rejected?.resolve();
    if (hasCapacity && !executes) capacity.release(1);
  };
  try {
    const result = await ports.starts.submit(row, {
      waitMs: startWaitMs,
      onLateResult: (result) => {
        if (result?.kind !== "started" || start.rejected === undefined) finish(false);
        else void cancelRejected(ports, result.run, row).finally(() => finish(false));
      },
    });
    finish(result.kind === "started" && result.run.status === "running");
    if (result.kind === "started") {
      ports.limitedCallers.note(request.caller, result.run.limited);
      if (result.run.limited) ports.reservations.noteLimited(result.run.workspaceId, true);
    }
    return { ...result, owner };
  } catch (thrown) {
    if (!(thrown instanceof SubmitTimeoutError)) {
      finish(false);
      throw thrown;
    }
    if (thrown.sent && start.claimed !== undefined)
      return { kind: "claimed", run: start.claimed, owner };
    if (thrown.sent) start.rejected = Promise.withResolvers();
    else finish(false);
    throw databaseUnavailable(thrown);
  }
}

/**
 * Makes this process and the others claim queued runs, since any process with capacity can execute
 * the new run.
 */
function announceQueued(ports: StartPorts): void {
  ports.capacity.foundQueue({ empty: false });
  ports.worker.claim();
  ports.processMessages.send({ kind: "queued" });
}

function toOwnedRun(
  run: StartedRun,
  owner: string,
  payload: string,
  output: OutputBuffer | undefined,
): OwnedRun {
  const { promptPrefix } = run;
  const input =
    promptPrefix === "" ? payload : payload === "" ? promptPrefix : `${promptPrefix}\n\n${payload}`;
  return {
    ...run,
    owner,
    fence: 1,
    lastSeq: 1,
    input,
    inputBytes: Buffer.byteLength(input),
    resumed: false,
    elapsedMs: 0,
    output,
  };
}

/**
 * Cancels a run that was written although its caller got a `503` response, and unbinds its
 * Idempotency-Key. No model was called for the run.
 */
async function cancelRejected(
  ports: StartPorts,
  run: StartedRun,
  { owner, key, details }: StartRow,
): Promise<void> {
  const message =
    "The database replied too late, and the caller got an error. Send the request again.";
  const outcome = {
    status: "cancelled",
    error: { code: "cancelled", message },
    ...nothingUsed,
  } as const;
  try {
    if (run.status === "running") {
      await ports.appends.submit({
        runId: run.runId,
        workspaceId: run.workspaceId,
        owner,
        fence: 1,
        lastSeq: 1,
        intent: false,
        entries: [toEntry(terminalEvent(outcome))],
        end: toEnd(outcome),
      });
      ports.reports.ended(run, outcome);
    } else {
      const cancel = () => cancelStored(ports.database, run, { eventId: newId("evt"), message });
      // Another process may have claimed the run while this one had no reply from the database. The
      // other process must then stop the run.
      const answer = await retryWhileLost(cancel);
      if (answer === "asked") ports.processMessages.send({ kind: "cancel", runId: run.runId });
      if (answer === "cancelled") ports.reports.ended(run, outcome);
    }
    if (key === null) return;
    const scope = details?.keyScope ?? run.triggerId ?? run.agentId;
    await retryWhileLost(() => unbindKey(ports.database, run, { scope, key }));
  } catch (thrown) {
    ports.log.write("a run whose caller got 503 could not be cancelled", {
      run_id: run.runId,
      reason: messageOf(thrown),
    });
  }
}
