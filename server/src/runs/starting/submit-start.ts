import { retryWhileLost, SubmitTimeoutError } from "../../base/database/index.ts";
import { messageOf } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { RequestTrace } from "../../base/tracing/index.ts";
import { announceQueued } from "../announce-queued.ts";
import type { FirstCall, OwnedRun } from "../executing/index.ts";
import { cancelStored, finalEvent, nothingUsed, toEnd, toEntry } from "../journal/index.ts";
import type { RunRef } from "../run.ts";
import type { OutputBuffer } from "../subscribing/index.ts";
import { cancelledIfPossible, nothingStarted, repeatToGetRun } from "./start-errors.ts";
import type { StartPorts } from "./start-ports.ts";
import {
  type CreatedRun,
  callerId,
  contentBytes,
  type StartResult,
  type StartRow,
} from "./start-row.ts";
import type { UnconfirmedStart } from "./unconfirmed-starts.ts";

/** How long a caller waits for the database before it gets a `503` response. */
const startWaitMs = 5_000;

/**
 * Maximum bytes of a request whose start also reserves the run's first model call. The reservation
 * keeps budgets locked until the batch is written, which takes longer for large requests. The runs
 * of larger requests reserve before they call the model.
 */
const maxReservingBytes = 65_536;

/** The fields of a row that come from the request. */
export type RequestFields = Omit<
  StartRow,
  "runId" | "eventId" | "hasCapacity" | "owner" | "checksLimits" | "firstCallAmounts"
>;

/**
 * Result of a start to which the database did not reply in time. The run was written all the same:
 * this process has already claimed it from the queue.
 */
interface Claimed {
  readonly kind: "claimed";
  readonly run: RunRef & { readonly agentId: string };
}

/** The result of `submitStart`. */
type SubmittedStart =
  | Exclude<StartResult, { readonly kind: "started" }>
  | (Extract<StartResult, { readonly kind: "started" }> & {
      /** The process that owns the run if it was created running. */
      readonly owner: string;
      readonly firstCall: FirstCall | undefined;
    })
  | Claimed;

/**
 * Sends a request to the start statement and returns the result.
 *
 * A run that was not returned within `startWaitMs` is cancelled if the request has no
 * Idempotency-Key and no event id. With one of them, the run is executed, because the caller
 * repeats the request and then gets the run. The caller may already have got the run from another
 * process, so cancelling it could lose an acknowledged request.
 * @param trace used only for a run that is executed although it was not returned in time.
 * @throws ApiError `unavailable` if the database does not reply in time; without `Retry-After` if a
 *   repeat of the request could start a second run.
 */
export async function submitStart(
  ports: StartPorts,
  request: RequestFields,
  { trace }: Pick<Beginning, "trace"> = {},
): Promise<SubmittedStart> {
  const { row, firstCall, workspaceId } = toRow(ports, request);
  const start: UnconfirmedStart = { isRejected: false, claimed: undefined };
  ports.unconfirmedStarts.set(row.runId, start);
  let result: StartResult;
  try {
    result = await ports.starts.submit(row, {
      waitMs: startWaitMs,
      onLateResult: (late) => void acceptLate(ports, { row, workspaceId, start, trace }, late),
    });
  } catch (thrown) {
    const isTimeout = thrown instanceof SubmitTimeoutError;
    // The result of a row that was sent is passed to `acceptLate`, which then confirms it.
    if (isTimeout && thrown.sent) return withoutReply(row, start, thrown);
    confirm(ports, { row, workspaceId }, undefined);
    throw isTimeout ? nothingStarted(thrown) : thrown;
  }
  const run = result.kind === "started" ? result.run : undefined;
  confirm(ports, { row, workspaceId }, run);
  if (result.kind !== "started") return result;
  noteCreated(ports, row, result.run);
  const { owner } = row;
  return { ...result, owner, firstCall: firstCall && toFirstCall(firstCall, result.run) };
}

/** A row to send. */
interface SentRow {
  readonly row: StartRow;
  /** The caller's workspace; undefined if it was not known when the capacity was reserved. */
  readonly workspaceId: string | undefined;
}

/**
 * Returns the row to send. Reserves capacity to execute the run, and predicts the run's first model
 * call if the statement can reserve it.
 */
function toRow(
  ports: StartPorts,
  request: RequestFields,
): SentRow & { readonly firstCall: PredictedFirstCall | undefined } {
  const workspaceId = ports.knownCallers.workspaceOf(request.caller);
  const hasCapacity =
    request.body === "good" &&
    request.details === undefined &&
    ports.capacity.tryReserve(workspaceId);
  const checksLimits = ports.knownCallers.isLimited(request.caller);
  const isSmall = request.payload.length + contentBytes(request) <= maxReservingBytes;
  const firstCall =
    hasCapacity && checksLimits && isSmall ? predictFirstCall(ports, request) : undefined;
  const row: StartRow = {
    ...request,
    runId: newId("run"),
    eventId: newId("evt"),
    hasCapacity,
    owner: ports.process.id,
    checksLimits,
    firstCallAmounts: firstCall?.predicted?.amounts,
  };
  return { row, firstCall, workspaceId };
}

/**
 * Ends what precedes the result of a start: it is no longer unconfirmed, and its capacity is
 * released unless this process executes the run. Called exactly once for each start.
 * @param run the run that was written, if this process begins it
 */
function confirm(
  { unconfirmedStarts, capacity, knownCallers }: StartPorts,
  { row: { runId, hasCapacity, caller }, workspaceId }: SentRow,
  run: CreatedRun | undefined,
): void {
  unconfirmedStarts.delete(runId);
  if (hasCapacity)
    capacity.endStart(workspaceId, run?.status === "running" ? run.workspaceId : undefined);
  if (workspaceId === undefined && run !== undefined)
    knownCallers.noteWorkspace(caller, run.workspaceId);
}

/**
 * Accepts the result of a start to which the database did not reply in time. Begins a run whose
 * caller can repeat the request, and cancels a run whose caller cannot.
 * @param result undefined if the statement failed
 */
async function acceptLate(
  ports: StartPorts,
  {
    row,
    workspaceId,
    start,
    trace,
  }: SentRow & Pick<Beginning, "trace"> & { readonly start: UnconfirmedStart },
  result: StartResult | undefined,
): Promise<void> {
  const run = result?.kind === "started" ? result.run : undefined;
  if (run !== undefined && isRepeatable(row)) {
    confirm(ports, { row, workspaceId }, run);
    noteCreated(ports, row, run);
    beginRun(ports, run, { owner: row.owner, payload: row.payload, trace });
    return;
  }
  if (run !== undefined && start.isRejected) {
    await cancelRejected(ports, run, row);
    ports.reservations.forget(row.runId);
  }
  confirm(ports, { row, workspaceId }, undefined);
}

/**
 * Returns the run of a start to which the database did not reply in time, if this process has
 * claimed it.
 * @throws ApiError `unavailable` if it has not
 */
function withoutReply(
  row: StartRow,
  start: UnconfirmedStart,
  timeout: SubmitTimeoutError,
): Claimed {
  // The statement starts a run only if the body is `good`.
  if (row.body !== "good") throw nothingStarted(timeout);
  if (start.claimed !== undefined) return { kind: "claimed", run: start.claimed };
  if (isRepeatable(row)) throw repeatToGetRun(timeout, row.key === null ? "event id" : "key");
  start.isRejected = true;
  throw cancelledIfPossible(timeout);
}

/** Returns whether a repeat of the request gets the run that the request starts. */
function isRepeatable({ key, received, senderEvent }: StartRow): boolean {
  return key !== null || ((received ?? senderEvent)?.eventId ?? null) !== null;
}

type PredictedFirstCall = Omit<FirstCall, "reserved"> & {
  readonly predicted: ReturnType<StartPorts["firstCalls"]["predict"]>;
};

function predictFirstCall(
  { firstCalls }: StartPorts,
  { caller, agentId, payload }: RequestFields,
): PredictedFirstCall {
  const call = {
    kind: `${callerId(caller)} ${agentId ?? ""}`,
    messageBytes: Buffer.byteLength(JSON.stringify(payload)),
  };
  return { ...call, predicted: firstCalls.predict(call) };
}

function toFirstCall(
  { predicted, ...call }: PredictedFirstCall,
  { firstCallReserved, firstCallRestricted: isRestricted }: CreatedRun,
): FirstCall {
  const isReserved = firstCallReserved && predicted !== undefined;
  return { ...call, reserved: isReserved ? { ...predicted, isRestricted } : undefined };
}

/**
 * Notes what a new run shows: whether its workspace has limits, cached for the caller and for the
 * workspace, and whether its first model call is reserved.
 */
function noteCreated(ports: StartPorts, { caller }: RequestFields, run: CreatedRun): void {
  ports.knownCallers.noteLimited(caller, run.limited);
  if (run.limited) ports.reservations.noteLimited(run.workspaceId, true);
  noteReservation(ports, run);
}

function noteReservation({ reservations }: StartPorts, run: CreatedRun): void {
  if (run.firstCallReserved) reservations.noteReserved(run.runId);
}

/** What `beginRun` needs to begin a run, besides the result of the start statement. */
interface Beginning {
  readonly owner: string;
  readonly payload: string;
  readonly output?: OutputBuffer | undefined;
  readonly trace?: RequestTrace | undefined;
  /** Default: nothing is known about the run's first model call. */
  readonly firstCall?: FirstCall | undefined;
}

/**
 * Begins a new run according to its status: executes it in this process if it was created running,
 * lets any process claim it if it was created queued, and makes the worker poll for it if it was
 * created waiting.
 */
export function beginRun(ports: StartPorts, run: CreatedRun, started: Beginning): void {
  started.trace?.startRun(run.runId);
  if (run.status === "running") void ports.execute(toOwnedRun(run, started));
  if (run.status === "queued") announceQueued(ports, run.workspaceId);
  if (run.status === "waiting") ports.worker.noteHeld();
}

function toOwnedRun(
  run: CreatedRun,
  { owner, payload, output, trace, firstCall }: Beginning,
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
    trace,
    firstCall,
  };
}

/**
 * Cancels a run without an Idempotency-Key that was written although its caller got a `503`
 * response. This process has called no model for the run. Never rejects: if the run cannot be
 * cancelled, this is logged.
 */
async function cancelRejected(
  ports: StartPorts,
  run: CreatedRun,
  { owner }: StartRow,
): Promise<void> {
  const message =
    "The database replied too late, and the caller got an error. Send the request again.";
  const outcome = {
    status: "cancelled",
    error: { code: "cancelled", message },
    ...nothingUsed,
  } as const;
  noteReservation(ports, run);
  try {
    const end = () =>
      ports.appends.submit({
        runId: run.runId,
        workspaceId: run.workspaceId,
        owner,
        fence: 1,
        lastSeq: 1,
        entries: [toEntry(finalEvent(outcome))],
        transition: toEnd(outcome),
      });
    if (run.status === "running" && (await end()).kind === "written")
      ports.reports.ended(run, outcome);
    else {
      const cancel = () => cancelStored(ports.database, run, { eventId: newId("evt"), message });
      // Another process may have claimed the run while this one had no reply from the database, or
      // may take it over because this one was declared dead. The other process must then stop it.
      const result = await retryWhileLost(cancel);
      if (result === "cancelled") ports.reports.ended(run, outcome);
      if (result !== "requested") return;
      ports.processMessages.send({ kind: "cancel", runId: run.runId });
      // If this process has claimed the run, the reply may still be on its way. The start must stay
      // unconfirmed until then: `claimRuns` only ends a run whose start is rejected.
      await ports.worker.nextClaim();
    }
  } catch (thrown) {
    ports.log.write("a run whose caller got 503 could not be cancelled", {
      run_id: run.runId,
      reason: messageOf(thrown),
    });
  }
}
