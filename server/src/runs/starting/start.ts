import type { IdempotencyBinding } from "../../base/context.ts";
import { failureKind } from "../../base/database/index.ts";
import { type ApiError, orThrow, type Result } from "../../base/errors.ts";
import type { RequestTrace } from "../../base/tracing/index.ts";
import { limitError } from "../../reservations/index.ts";
import { deletedRun } from "../access.ts";
import { type InitialStatus, readStoredStatus } from "../journal/index.ts";
import type { RunRef } from "../run.ts";
import type { OutputBuffer } from "../subscribing/index.ts";
import {
  createdFailed,
  isRejection,
  limitReached,
  outOfMemory,
  pausedByLimit,
  queueFull,
  rejection,
  stopping,
} from "./start-errors.ts";
import type { StartPorts } from "./start-ports.ts";
import {
  initialError,
  type RunDetails,
  runDetails,
  type StartResult,
  type StartRow,
} from "./start-row.ts";
import { beginRun, type RequestFields, submitStart } from "./submit-start.ts";

/** A request to start a run, independent of the protocol. */
export interface StartRequest extends Omit<RequestFields, "key" | "bodyHash" | "payload" | "body"> {
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
  /**
   * Trace of the request. It gets the id of the started run, which connects it with the trace of
   * the run. Undefined if traces are off.
   */
  readonly trace?: RequestTrace | undefined;
}

/**
 * The run that a request started, or that an earlier request with the same Idempotency-Key or event
 * id started.
 */
export interface Started extends RunRef {
  readonly agentId: string;
  /** Whether an earlier request with the same Idempotency-Key or event id started the run. */
  readonly replayed: boolean;
  /** Whether `replayed` is due to the event id. The run may then no longer exist. */
  readonly repeatsEvent: boolean;
  /** Status in which this request created the run; undefined if an earlier request created it. */
  readonly initialStatus: InitialStatus | undefined;
}

/**
 * Starts a run. One statement checks the request and writes the run: see `start-statement.ts`.
 * Resolves once the run is committed. Then the run either executes in this process, or is queued
 * for any process with capacity.
 * @throws ApiError `unavailable` if this process is stopping or its heap is full; else the error of
 *   the first check that fails, in the order of `admissionChecks`; `unavailable` if the database
 *   does not reply in time. After the latter, a request with an Idempotency-Key may have started
 *   its run; if it is repeated, it gets that run. If a request without an Idempotency-Key started a
 *   run all the same, the run is cancelled: this process calls no model for it, but another process
 *   may have begun to execute it before the cancellation.
 */
export async function startRun(ports: StartPorts, request: StartRequest): Promise<Started> {
  const outcome = await tryStart(ports, request);
  switch (outcome.kind) {
    case "started":
      if (outcome.failure !== undefined) throw outcome.failure;
      return outcome.run;
    case "repeated":
      return outcome.run;
    case "empty":
      throw outcome.error;
    case "reconfigured":
      throw new TriggerReconfigured();
    default:
      throw new Error(`a run was not started: ${outcome.kind}`);
  }
}

/**
 * Thrown if the trigger has other settings than those with which the request was checked. The
 * request must be checked again.
 */
export class TriggerReconfigured extends Error {
  override readonly name = "TriggerReconfigured";
}

/**
 * What became of a request to start a run.
 * - `started`: the request created a run, possibly waiting, or an earlier request with the same
 *   Idempotency-Key created it (`run.replayed`). `failure` is set if this request created the run
 *   and it has already failed.
 * - `repeated`: an earlier request with the same event id created the run. The run may no longer
 *   exist.
 * - `filtered`, `listening`, `swallowed`, `reconfigured`: see `StartResult`.
 */
export type StartOutcome =
  | { readonly kind: "started"; readonly run: Started; readonly failure?: ApiError | undefined }
  | { readonly kind: "repeated"; readonly run: Started }
  /** The message and the prompt prefix are empty. */
  | { readonly kind: "empty"; readonly error: ApiError }
  | { readonly kind: "filtered" | "listening" | "swallowed" | "reconfigured" };

/**
 * Starts a run, or returns a result that is neither a run nor an error, for example `filtered`.
 * Requests to triggers that have the settings `receiving` can have such results.
 * @throws ApiError the errors of `startRun`. After `unavailable`, a request with an event id or an
 *   Idempotency-Key may have started its run; if it is repeated, it gets that run.
 */
export async function tryStart(ports: StartPorts, request: StartRequest): Promise<StartOutcome> {
  if (ports.capacity.isDraining) throw stopping();
  if (ports.memory.heap.isFull) throw outOfMemory();
  ports.startsInProgress.count++;
  try {
    return await startUntilDecided(ports, request);
  } finally {
    ports.startsInProgress.count--;
  }
}

/**
 * Submits the request until a result decides it. It is submitted again unchanged if it is
 * `contended`, with the check of limits if it is `limited`, and as a run that is created failed if
 * its `limit_reached` is stored.
 */
async function startUntilDecided(ports: StartPorts, request: StartRequest): Promise<StartOutcome> {
  let row = toRequestFields(request);
  for (;;) {
    const result = await submitStart(ports, row, request);
    switch (result.kind) {
      case "started": {
        const { runId, workspaceId, agentId, status } = result.run;
        const created = { replayed: false, repeatsEvent: false, initialStatus: status };
        const run = { runId, workspaceId, agentId, ...created };
        if (status === "failed") {
          const error = row.details && initialError(row.details);
          request.trace?.startRun(runId);
          ports.reports.ended(result.run, { status: "failed", error });
          return { kind: "started", run, failure: createdFailed(result.run, row.details) };
        }
        const { output, trace } = request;
        beginRun(ports, result.run, { ...result, payload: row.payload, output, trace });
        return { kind: "started", run };
      }
      case "claimed":
        return {
          kind: "started",
          run: { ...result.run, replayed: false, repeatsEvent: false, initialStatus: "queued" },
        };
      case "repeated":
        return {
          kind: "repeated",
          run: { ...result, replayed: true, repeatsEvent: true, initialStatus: undefined },
        };
      case "replay":
        if (await isDeleted(ports, result)) throw deletedRun();
        return {
          kind: "started",
          run: { ...result, replayed: true, repeatsEvent: false, initialStatus: undefined },
        };
      case "contended":
        continue;
      case "limited":
        ports.knownCallers.noteLimited(request.caller, true);
        continue;
      case "limit_reached":
        if (!storesRejection(ports, request.agentId ?? result.triggerId)) {
          const error = limitReached(result.limit);
          ports.reports.rejected(error.code);
          throw error;
        }
        row = { ...row, details: failedByLimit(result, row.details) };
        continue;
      case "limit_paused":
        throw pausedByLimit(result.limit);
      case "agent_busy":
        throw queueFull(await ports.queueLimits.of(request));
      case "body":
        if (request.idempotency !== undefined) orThrow(request.idempotency);
        orThrow(request.payload);
        throw new Error("a body without an error was rejected");
      case "empty":
        if (row.received === undefined) throw rejection(result.kind);
        return { kind: result.kind, error: rejection(result.kind) };
      case "filtered":
      case "listening":
      case "swallowed":
      case "reconfigured":
        return { kind: result.kind };
      default:
        throw rejection(result.kind);
    }
  }
}

/**
 * Maximum number of starts per agent or trigger and minute that are stored although a limit rejects
 * them. Without it, a spent limit would not limit what the caller makes Beckon store.
 */
export const maxStoredRejections = 60;

/** Returns whether a start that a limit rejects is stored as a run that has already failed. */
function storesRejection({ limitRejections }: StartPorts, id: string | null): boolean {
  return limitRejections.add(id ?? "").count <= maxStoredRejections;
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
 * Returns the details with which to send the request again, now that a limit is reached: they make
 * the start statement create a run that has already failed. If the request has no details of its
 * own, the run gets the trigger and the prompt prefix that the first attempt found.
 */
function failedByLimit(
  { limit, triggerId, promptPrefix }: Extract<StartResult, { kind: "limit_reached" }>,
  details: RunDetails | undefined,
): RunDetails {
  const initial = { ...limitError(limit), limit };
  return runDetails({ triggerId, promptPrefix, ...details, initial });
}

/**
 * Returns the fields of the row that come from the request. `key` is the empty string if the
 * Idempotency-Key is invalid, or if the body, labels or callback could not be hashed.
 */
function toRequestFields({
  idempotency,
  payload,
  output: _output,
  trace: _trace,
  ...request
}: StartRequest): RequestFields {
  if (idempotency?.ok === false)
    return { ...request, key: "", bodyHash: null, payload: "", body: "unhashable" };
  const { key, bodyHash } = idempotency?.value ?? { key: null, bodyHash: null };
  return payload.ok
    ? { ...request, key, bodyHash, payload: payload.value, body: "good" }
    : { ...request, key, bodyHash, payload: "", body: "bad" };
}

/**
 * Checks, before the body is read, only the credential and that the agent exists. Returns the id of
 * the caller's workspace.
 * @throws ApiError `unauthorized`, `forbidden`, `not_found`; `unavailable` if the database does not
 *   reply in time.
 */
export async function workspaceOfCaller(
  ports: StartPorts,
  request: Pick<StartRow, "source" | "caller" | "agentId">,
): Promise<string> {
  const result = await submitStart(ports, {
    ...request,
    key: null,
    bodyHash: null,
    payload: "",
    contentType: null,
    body: "unread",
  });
  if (result.kind === "body") return result.workspaceId;
  if (isRejection(result.kind)) throw rejection(result.kind);
  throw new Error("a start without a body was not rejected");
}
