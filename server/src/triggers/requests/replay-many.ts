import { type ReplayedRequests, replayRequestsBody } from "@beckon/contract";
import { type Context, type IdempotencyRequest, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { ApiError, orThrow } from "../../base/errors.ts";
import { idempotencyScope, type Once } from "../../base/idempotency/index.ts";
import { lowestIdAt, timeOf, wholeMilliseconds } from "../../base/ids.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import type { MappingServices } from "../../mapping/index.ts";
import type { RunServices } from "../../runs/index.ts";
import { requireTrigger, type TriggerInput } from "../trigger.ts";
import { withBodyHold } from "./body-hold.ts";
import { replayStored } from "./replay.ts";
import {
  findRequest,
  type RequestRow,
  requestsOf,
  selectForReplay,
  startedOutcomes,
} from "./store.ts";

type ReplayContext = Context & MappingServices & { runs: RunServices };

/** Maximum requests that one call replays. */
const maxReplayed = 1_000;
/** Errors of a request after which the call skips this request and replays the next one. */
const skippedErrors: readonly string[] = [
  "conflict",
  "mapping_error",
  "bad_request",
  "unsupported_type",
  "too_large",
];

/**
 * Replays the newest requests of a time range, up to 1,000, in the order in which they arrived. Of
 * the requests with one event id, only the newest is replayed, and none if another request has
 * started the event. A request that started no run is left out once a replay of it has. Leaves out
 * requests whose content is not stored, requests that are replays themselves and, unless `outcome`
 * is `honeypot`, requests with a value in the honeypot, a form field that people do not see. If the
 * call is repeated with the same Idempotency-Key, no request starts a second run. The trigger is
 * read again for each request, so no further run starts once it is deleted.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`; the errors of `replayRequest` that are
 *   not in `skippedErrors`, even if runs were already started: the message then says how many
 */
export async function replayRequests({
  ctx,
  input,
}: {
  ctx: ReplayContext;
  input: TriggerInput & { body: UnparsedBody };
}): Promise<Once<ReplayedRequests>> {
  permit(ctx, "triggers:write");
  permit(ctx, "agents:invoke");
  const { workspaceId, idempotency } = ctx;
  const { version, rows } = await inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    const trigger = await requireTrigger(tx, ctx, input);
    // Rejects an invalid Idempotency-Key here. Otherwise each replay would fail with
    // `bad_request`, and the call would skip all requests and succeed.
    const replayKey = idempotency && {
      scope: idempotencyScope(ctx, routeOf(idempotency, "")),
      key: orThrow(idempotency.binding).key,
    };
    const { since, until, outcome, version } = parseBody(replayRequestsBody, input.body);
    const range = {
      from: lowestIdAt("req", new Date(since)),
      below: until === undefined ? undefined : lowestIdAt("req", new Date(until)),
      outcome,
    };
    const max = maxReplayed + 1;
    const rows = await selectForReplay(tx, requestsOf(trigger), range, replayKey, max);
    return { version, rows };
  });
  // The next call continues with requests from before the millisecond of the oldest chosen one.
  // Therefore all or none of the requests of a millisecond are chosen. If more than 1,000 arrived
  // in one millisecond, the oldest of these are never replayed.
  const ids = rows.map(({ id }) => id);
  const { length } = wholeMilliseconds(ids, maxReplayed).chosen;
  const oldest = ids[length - 1];
  const more = ids.length > length;
  const nextUntil = more && oldest !== undefined ? timeOf(oldest).toISOString() : null;
  let [replayed, skipped, repeated] = [0, 0, 0];
  let lastReplayed: string | undefined;
  for (const requestId of newestOfEvents(rows.slice(0, length)).toReversed()) {
    try {
      const { data: run, replayed: isRepeat } = await replayOne(ctx, input, requestId, version);
      if (run.error?.code === "mapping_error") skipped += 1;
      else {
        replayed += 1;
        lastReplayed = requestId;
        if (isRepeat) repeated += 1;
      }
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      if (!skippedErrors.includes(thrown.code)) {
        const hasKey = idempotency !== undefined;
        const at = { hasKey, requestId, lastReplayed, nextUntil };
        // With a key, the runs of an earlier attempt count. Otherwise the error of a client that
        // repeats calls would lack what its first attempt has started.
        throw afterStarts(thrown, hasKey ? replayed : replayed - repeated, at);
      }
      skipped += 1;
    }
  }
  return {
    data: { replayed, skipped, more, next_until: nextUntil },
    replayed: repeated > 0 && repeated === replayed,
  };
}

/** Returns the ids of the requests without those whose event has a newer request in the list. */
function newestOfEvents(newestFirst: readonly Pick<RequestRow, "id" | "event_id">[]): string[] {
  const events = new Set<string>();
  const newest = newestFirst.filter(({ event_id: event }) => {
    if (event === null) return true;
    const isFirst = !events.has(event);
    events.add(event);
    return isFirst;
  });
  return newest.map(({ id }) => id);
}

/** Returns the route of one request's replay. Its Idempotency-Key is unique within this route. */
function routeOf({ route }: IdempotencyRequest, requestId: string): string {
  return `${route} ${requestId}`;
}

/**
 * Returns the error that ended the call, with the number of requests whose runs the call, or an
 * earlier one with its Idempotency-Key, has started. Without an Idempotency-Key it has no
 * `Retry-After`, because clients that repeat the call would start these runs again. Rejected
 * option: to return a partial result with `next_until`. The oldest requests are replayed first, so
 * the remaining ones are newer, and no value of `until` selects only them.
 * @param at.requestId the request whose replay failed
 * @param at.lastReplayed the request that was replayed before it
 */
function afterStarts(
  error: ApiError,
  started: number,
  at: {
    readonly hasKey: boolean;
    readonly requestId: string;
    readonly lastReplayed: string | undefined;
    readonly nextUntil: string | null;
  },
): ApiError {
  if (started === 0) return error;
  const { code, message, rateLimit, limitReached, runId, cause } = error;
  const retryAfter = at.hasKey ? error.retryAfter : undefined;
  return new ApiError(
    code,
    `${message} Runs of ${started} requests were started before this error${howToRepeat(at)}`,
    { retryAfter, rateLimit, limitReached, cause, ...(runId === undefined ? {} : { runId }) },
  );
}

function howToRepeat({
  hasKey,
  requestId,
  lastReplayed,
  nextUntil,
}: Parameters<typeof afterStarts>[2]): string {
  if (hasKey) return ": a repeat with the same Idempotency-Key does not start them again.";
  const others =
    nextUntil === null
      ? "only the others"
      : `only the others of the newest ${maxReplayed.toLocaleString("en")}, then the first "since" with "until": "${nextUntil}" for those before them`;
  const since = timeOf(requestId).toISOString();
  const isTogether = lastReplayed !== undefined && timeOf(lastReplayed).toISOString() === since;
  const again = isTogether
    ? " Requests of the same millisecond that were replayed are replayed again; to avoid this, replay the others by id."
    : "";
  return `, and the same call can start them again. Send "since": "${since}" to replay ${others}.${again}`;
}

/**
 * Reads the trigger and one request, and replays it. Bodies are read one by one: each can have 25
 * MiB.
 */
function replayOne(
  ctx: ReplayContext,
  input: TriggerInput,
  requestId: string,
  version: "current" | "original",
) {
  const { workspaceId, idempotency } = ctx;
  const ownKey = idempotency && {
    ...idempotency,
    route: routeOf(idempotency, requestId),
  };
  return withBodyHold(ctx, async (hold) => {
    const { trigger, request } = await inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
      const trigger = await requireTrigger(tx, ctx, input);
      const request = await findRequest(tx, requestsOf(trigger), requestId, hold.growBytes);
      return { trigger, request };
    });
    if (request === undefined)
      throw new ApiError("conflict", "This request was deleted meanwhile.");
    return replayStored({ ...ctx, idempotency: ownKey }, trigger, {
      request,
      version,
      eventId: startedOutcomes.includes(request.outcome) ? null : request.event_id,
      hold,
      bindsFailedRun: true,
    });
  });
}
