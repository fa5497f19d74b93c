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
import { ApiError, messageOf, orThrow, type Result } from "../../base/errors.ts";
import { mismatch } from "../../base/idempotency/index.ts";
import { newId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { unauthorizedMessage } from "../../credentials/index.ts";
import type { OwnProcess } from "../../processes/index.ts";
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
import type { RunRef } from "../run.ts";
import type { LiveRuns, OutputBuffer } from "../subscribing/index.ts";
import { queueFull } from "./queue-full.ts";
import type { QueueLimits } from "./queue-limits.ts";
import type { Refused, StartAnswer, StartedRun, StartRow } from "./start-row.ts";
import type { Starts } from "./starts.ts";
import type { UnansweredStart, UnansweredStarts } from "./unanswered-starts.ts";
import { unbindKey } from "./unbind-key-statement.ts";

/** What starting runs needs of this process. */
export interface StartPorts {
  readonly database: Database;
  readonly log: Log;
  readonly process: Pick<OwnProcess, "id">;
  readonly starts: Starts;
  readonly appends: Appends;
  readonly unanswered: UnansweredStarts;
  readonly live: LiveRuns;
  readonly queueLimits: QueueLimits;
  readonly capacity: Capacity;
  readonly memory: Pick<Memory, "heap">;
  readonly processMessages: Pick<ProcessMessages, "send">;
  readonly worker: Pick<WorkerCalls, "claim">;
  /** Executes a run that this process owns. */
  readonly execute: (run: OwnedRun) => Promise<void>;
}

/** A request to start a run, whatever protocol it came by. */
export interface StartRequest
  extends Pick<StartRow, "source" | "caller" | "agentId" | "contentType" | "details"> {
  /** Undefined: the request has no Idempotency-Key. */
  readonly idempotency?: Result<IdempotencyBinding> | undefined;
  /** The payload, or what is wrong with it, which is answered when nothing before the body rejects the request. */
  readonly payload: Result<string>;
  /** The caller reads the run's stream with this one. */
  readonly output?: OutputBuffer | undefined;
}

/** A run that a request has started, or an earlier one with the same key. */
export interface Started extends RunRef {
  readonly agentId: string;
  /** An earlier request with this Idempotency-Key started it. */
  readonly replayed: boolean;
}

/** Milliseconds that a caller waits for the database before it is told 503. */
const startWaitMs = 5_000;

/** Milliseconds that a statement of another start may take, and some more. */
const rememberRefusedMs = 30_000;

/**
 * Starts a run, or says why not: credential, pause, key, body and queue limit are judged by the statement that writes it (see the gate).
 * Resolves once the run is durable; it is then executing here, or queued for whoever has room.
 * @throws ApiError of the contract's table; `unavailable` when the database gave no answer in time: nothing goes on then, since a
 *   run that turns out to have been written is cancelled before any model call.
 */
export async function startRun(ports: StartPorts, request: StartRequest): Promise<Started> {
  if (ports.capacity.isDraining) throw stopping();
  if (ports.memory.heap.isFull) throw outOfMemory();
  const row = requested(request);
  for (;;) {
    const answer = await submit(ports, row);
    switch (answer.verdict) {
      case "started":
        if (answer.run.status === "running")
          void ports.execute(owned(answer.run, answer.owner, row.payload, request.output));
        if (answer.run.status === "queued") announceQueued(ports);
        return {
          runId: answer.run.runId,
          workspaceId: answer.run.workspaceId,
          agentId: answer.run.agentId,
          replayed: false,
        };
      case "claimed":
        return { ...answer.run, replayed: false };
      case "replay": {
        const refused = ports.unanswered.get(answer.runId);
        if (refused?.refused !== true) {
          if (await isDeleted(ports, answer)) throw deletedRun();
          return { ...answer, replayed: true };
        }
        // The run is being ended, since its caller was told that nothing was started; then the key is free again.
        await Promise.race([refused.settled, sleep(startWaitMs)]);
        continue;
      }
      case "contended":
        continue;
      case "agent_busy":
        throw queueFull(await ports.queueLimits.of(request));
      case "body":
        if (request.idempotency !== undefined) orThrow(request.idempotency);
        orThrow(request.payload);
        throw new Error("a body without a fault was rejected");
      default:
        throw refusal(answer.verdict);
    }
  }
}

/** Whether the run that has the key was deleted since. While the database cannot be asked, it counts as there. */
async function isDeleted({ live, database }: StartPorts, run: RunRef): Promise<boolean> {
  if (live.has(run.runId)) return false;
  try {
    return (await readStoredStatus(database, run)) === undefined;
  } catch (thrown) {
    if (failureKind(thrown) !== "lost") throw thrown;
    return false;
  }
}

type Requested = Omit<StartRow, "runId" | "eventId" | "hasCapacity" | "owner">;

/** What the start statement gets of key and body. An empty key stands for one that cannot be looked up. */
function requested({
  source,
  caller,
  agentId,
  contentType,
  details,
  idempotency,
  payload,
}: StartRequest): Requested {
  const request = { source, caller, agentId, contentType, details };
  if (idempotency?.ok === false)
    return { ...request, key: "", bodyHash: null, payload: "", body: "unhashable" };
  const { key, bodyHash } = idempotency?.value ?? { key: null, bodyHash: null };
  return payload.ok
    ? { ...request, key, bodyHash, payload: payload.value, body: "good" }
    : { ...request, key, bodyHash, payload: "", body: "bad" };
}

/** Checks the credential alone, before a body is read. @throws ApiError as `startRun`, for what comes before the body. */
export async function mayStart(
  ports: StartPorts,
  request: Pick<StartRow, "source" | "caller" | "agentId">,
): Promise<void> {
  const answer = await submit(ports, {
    ...request,
    key: null,
    bodyHash: null,
    payload: "",
    contentType: null,
    body: "unread",
  });
  if (answer.verdict === "body") return;
  if (
    answer.verdict === "started" ||
    answer.verdict === "replay" ||
    answer.verdict === "contended" ||
    answer.verdict === "claimed" ||
    answer.verdict === "agent_busy"
  )
    throw new Error("an unread body was judged");
  throw refusal(answer.verdict);
}

/** The gate said nothing in time, but this process has claimed the run: it was written. */
interface Claimed {
  readonly verdict: "claimed";
  readonly run: RunRef & { readonly agentId: string };
}

async function submit(
  ports: StartPorts,
  request: Requested,
): Promise<(StartAnswer | Claimed) & { owner: string }> {
  const { capacity } = ports;
  const hasCapacity =
    request.body === "good" && request.details === undefined && capacity.tryReserve();
  const owner = ports.process.id;
  const row: StartRow = {
    ...request,
    runId: newId("run"),
    eventId: newId("evt"),
    hasCapacity: hasCapacity,
    owner,
  };
  const { promise: settled, resolve: resolveSettled } = Promise.withResolvers<void>();
  const unanswered: UnansweredStart = { refused: false, claimed: undefined, settled };
  ports.unanswered.set(row.runId, unanswered);
  const settle = (executes: boolean) => {
    // The answer of a start with the same key, asked for before the key was free again, may still name a run that was refused.
    if (unanswered.refused)
      setTimeout(() => ports.unanswered.delete(row.runId), rememberRefusedMs).unref();
    else ports.unanswered.delete(row.runId);
    resolveSettled();
    if (hasCapacity && !executes) capacity.release(1);
  };
  try {
    const answer = await ports.starts.submit(row, {
      waitMs: startWaitMs,
      onLateResult: (answer) => {
        if (answer?.verdict !== "started" || !unanswered.refused) settle(false);
        else void withdraw(ports, answer.run, row).finally(() => settle(false));
      },
    });
    settle(answer.verdict === "started" && answer.run.status === "running");
    return { ...answer, owner };
  } catch (thrown) {
    if (!(thrown instanceof SubmitTimeoutError)) {
      settle(false);
      throw thrown;
    }
    if (thrown.sent && unanswered.claimed !== undefined)
      return { verdict: "claimed", run: unanswered.claimed, owner };
    if (thrown.sent) unanswered.refused = true;
    else settle(false);
    throw databaseUnavailable(thrown);
  }
}

/** A queued run is for whoever has room: this process, perhaps, and the others. */
function announceQueued(ports: StartPorts): void {
  ports.capacity.foundQueue({ empty: false });
  ports.worker.claim();
  ports.processMessages.send({ kind: "queued" });
}

function stopping(): ApiError {
  return new ApiError(
    "unavailable",
    "This server is stopping and starts nothing more. Try again; another one may take it.",
    {
      retryAfter: 1,
    },
  );
}

function outOfMemory(): ApiError {
  return new ApiError(
    "unavailable",
    "This server has almost no memory left and starts nothing more until some is free. Try again shortly.",
    {
      retryAfter: 5,
    },
  );
}

function owned(
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

/** Ends a run whose caller was told that nothing goes on: it was written after all, and no model call has begun. */
async function withdraw(
  ports: StartPorts,
  run: StartedRun,
  { owner, key, details }: StartRow,
): Promise<void> {
  const message = "The database answered too late; the caller was told that nothing was started.";
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
    } else {
      const cancel = () => cancelStored(ports.database, run, { eventId: newId("evt"), message });
      // Until the database is back another process may claim the run and execute it.
      if ((await retryWhileLost(cancel)) === "asked")
        ports.processMessages.send({ kind: "cancel", runId: run.runId });
    }
    if (key === null) return;
    const scope = details?.keyScope ?? run.triggerId ?? run.agentId;
    await retryWhileLost(() => unbindKey(ports.database, run, { scope, key }));
  } catch (thrown) {
    ports.log.error(
      { run_id: run.runId, reason: messageOf(thrown) },
      "a run that was answered with 503 could not be cancelled",
    );
  }
}

function refusal(verdict: Exclude<Refused, "agent_busy">): ApiError {
  return new ApiError(...refusals[verdict]);
}

/** Errors that any start can meet, whatever its protocol. */
export const startErrors = ["agent_paused", "agent_busy"] as const;

/** What each verdict tells the caller. A verdict without a text does not compile. */
const refusals: {
  readonly [Verdict in Exclude<Refused, "agent_busy">]: ConstructorParameters<typeof ApiError>;
} = {
  unauthorized: ["unauthorized", unauthorizedMessage],
  forbidden: [
    "forbidden",
    "This key lacks the scope agents:invoke. Use a key that has it, or the agent's own token.",
  ],
  not_found: ["not_found", "There is no agent with this id in this workspace."],
  idempotency_mismatch: ["idempotency_mismatch", mismatch().message],
  agent_deleted: [
    "conflict",
    "The agent of this run was deleted and starts no runs. Restore it first.",
  ],
  agent_paused: [
    "agent_paused",
    "This agent is paused and starts no runs. Resume it, or try again later.",
  ],
  trigger_disabled: ["trigger_disabled", "This trigger is disabled. Enable it to start runs."],
  empty: [
    "bad_request",
    "The body is empty, and this trigger has no prompt prefix. Send a payload.",
  ],
  body: ["bad_request", "The body cannot be read."],
};
