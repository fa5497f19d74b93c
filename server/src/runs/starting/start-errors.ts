import type { LimitReached } from "@beckon/contract";
import { databaseUnavailable } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { unauthorizedMessage } from "../../credentials/index.ts";
import { limitError, secondsToReset } from "../../reservations/index.ts";
import { maxHeldRuns } from "./received-sql.ts";
import {
  type CreatedRun,
  initialError,
  type RunDetails,
  type StartRejection,
} from "./start-row.ts";

/** Returns the error for the response to a start whose run was created in the state `failed`. */
export function createdFailed({ runId }: CreatedRun, details: RunDetails | undefined): ApiError {
  const failure = details && initialError(details);
  if (failure === undefined) throw new Error(`run ${runId} was created failed without an error`);
  const { code, message, limit } = failure;
  return new ApiError(code, message, {
    runId,
    limitReached: limit,
    retryAfter: limit && secondsToReset(limit),
  });
}

/** Returns the error for a start that a limit rejects and that creates no run. */
export function limitReached(limit: LimitReached): ApiError {
  const { code, message } = limitError(limit);
  return new ApiError(code, message, { limitReached: limit, retryAfter: secondsToReset(limit) });
}

/** Seconds after which a request that the queue limit rejects is repeated. */
const busyRetrySeconds = 5;

/**
 * Returns the error for a request to start a run that is rejected because of the agent's queue
 * limit.
 * @param limit the agent's maximum number of queued runs; undefined if it could not be read.
 */
export function queueFull(limit: number | undefined): ApiError {
  const reason =
    limit === undefined
      ? "it has limits.max_queued_runs runs"
      : `limits.max_queued_runs is ${limit.toLocaleString("en")}`;
  return new ApiError(
    "agent_busy",
    `The queue of this agent is full: ${reason}. Try again later, or raise it.`,
    {
      retryAfter: busyRetrySeconds,
      rateLimit:
        limit === undefined
          ? undefined
          : {
              policy: "queued-runs",
              quota: limit,
              unit: "concurrent-requests",
              remaining: 0,
              resetSeconds: busyRetrySeconds,
            },
    },
  );
}

/** Returns the error for a start of an agent that a limit pauses. */
export function pausedByLimit(limit: LimitReached): ApiError {
  return new ApiError(
    "agent_paused",
    `This agent is paused because a limit is reached, and starts no runs. ${limitError(limit).message}`,
    { limitReached: limit, retryAfter: secondsToReset(limit) },
  );
}

/** Returns the error of a process that is stopping. */
export function stopping(): ApiError {
  return new ApiError(
    "unavailable",
    "This server is stopping and starts no more runs. Try again: another server may accept the request.",
    {
      retryAfter: 1,
    },
  );
}

/** Returns the error of a process whose memory is almost used up. */
export function outOfMemory(): ApiError {
  return new ApiError(
    "unavailable",
    "This server has almost no free memory and starts no runs until some is released. Try again shortly.",
    {
      retryAfter: 5,
    },
  );
}

/** Returns the error for a start that wrote no run, because the database did not reply in time. */
export function nothingStarted(cause: unknown): ApiError {
  return databaseUnavailable(cause, "Nothing was started; try again in a few seconds.");
}

const unconfirmed = "The database did not reply in time, so the run may have been started";

/**
 * Returns the error for a start to which the database did not reply in time, if a repeat of the
 * request gets the run that may have been started.
 * @param sameValue what the repeat must have in common with the request
 */
export function repeatToGetRun(cause: unknown, sameValue: "key" | "event id"): ApiError {
  return new ApiError(
    "unavailable",
    `${unconfirmed}. Send the request again with the same ${sameValue}: it starts one run.`,
    { retryAfter: 2, cause },
  );
}

/**
 * Returns the error for a start to which the database did not reply in time, if a repeat of the
 * request would start another run. It has no `Retry-After`, because clients repeat every request
 * that gets 503 with this header.
 */
export function cancelledIfPossible(cause: unknown): ApiError {
  return new ApiError(
    "unavailable",
    `${unconfirmed}; Beckon cancels it if it can. Send the request again to start another run, and use an Idempotency-Key for requests that must not run twice.`,
    { cause },
  );
}

/**
 * The rejections that always have the same error. The error of `agent_busy` names the limit, and
 * the one of `body` was found when the request was read.
 */
type FixedRejection = Exclude<StartRejection, "agent_busy" | "body">;

/** Returns the error for a request that the start statement has rejected. */
export function rejection(reason: FixedRejection): ApiError {
  return new ApiError(...rejections[reason]);
}

/** Returns whether a result of the start statement is an error that `rejection` returns. */
export function isRejection(kind: string): kind is FixedRejection {
  return Object.hasOwn(rejections, kind);
}

/**
 * Error codes that every route that starts runs can return. Each route documents its further codes
 * itself.
 */
export const startErrors = [
  "agent_paused",
  "agent_busy",
  "plan_exhausted",
  "ceiling_reached",
] as const;

/**
 * Code and message of the error for each reason. The type makes the compiler report a reason that
 * is missing here.
 */
const rejections: {
  readonly [Reason in FixedRejection]: ConstructorParameters<typeof ApiError>;
} = {
  unauthorized: ["unauthorized", unauthorizedMessage],
  forbidden: [
    "forbidden",
    "This key lacks the scope agents:invoke. Use a key that has it, or the agent's own token.",
  ],
  not_found: ["not_found", "There is no agent with this id in this workspace."],
  idempotency_mismatch: [
    "idempotency_mismatch",
    "This Idempotency-Key was used with another body, beckon-external-id, beckon-tags or beckon-callback. Use a new key for a new request, or send the same ones again.",
  ],
  agent_deleted: [
    "conflict",
    "The agent of this run was deleted and starts no runs. Restore the agent, then try again.",
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
  callback_not_allowed: [
    "bad_request",
    "This trigger allows no callbacks. Set allows_callback of the trigger to true, or omit the header beckon-callback.",
  ],
  callback_unknown: [
    "bad_request",
    "No enabled subscription that covers this agent has the origin of beckon-callback. Create a subscription for that origin, or omit the header.",
  ],
  original_deleted: [
    "not_found",
    "The run was deleted while it was being retried, and its files with it. Nothing was started.",
  ],
  held_full: [
    "too_many_requests",
    `This trigger holds ${maxHeldRuns.toLocaleString("en")} runs, as many as it can. Resume the agent, raise the limit, or cancel held runs.`,
    { retryAfter: 60 },
  ],
};
