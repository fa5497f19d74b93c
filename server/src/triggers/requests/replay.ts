import { type Run, replayRequestBody } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { ApiError, attemptAsync } from "../../base/errors.ts";
import type { Once } from "../../base/idempotency/index.ts";
import { newId } from "../../base/ids.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import type { MappingServices } from "../../mapping/index.ts";
import { headerOf, type ReceivedBodyHold } from "../../receiving/index.ts";
import {
  canReadRuns,
  hiddenMistake,
  type ReceivedStart,
  type RunServices,
  readLabels,
} from "../../runs/index.ts";
import type { TriggerRow } from "../store.ts";
import { effectiveReceiving, requireTrigger } from "../trigger.ts";
import { withBodyHold } from "./body-hold.ts";
import { type RequestInput, requireRequest, type WholeRequest } from "./request.ts";
import { startMapped } from "./start-mapped.ts";
import { isEventBound, requestsOf } from "./store.ts";
import { storedRequest } from "./trial-request.ts";

type ReplayContext = Context & MappingServices & { runs: RunServices };

/**
 * Starts another run of a verified request, also if its event has a run already. The message is
 * rendered with the trigger's current settings. The replay is stored as a received request of its
 * own. If the event has no run yet, its id is bound to the new run.
 * @returns the new run or, if the Idempotency-Key was used before, the run that the earlier request
 *   started.
 * @throws ApiError `forbidden`, `not_found`; `conflict` if the request's content or its original
 *   version is not stored, or the filter rejects it; `mapping_error`; the errors of `startManaged`
 */
export async function replayRequest({
  ctx,
  input,
}: {
  ctx: ReplayContext;
  input: RequestInput & { body: UnparsedBody };
}): Promise<Once<Run>> {
  permit(ctx, "triggers:write");
  permit(ctx, "agents:invoke");
  return withBodyHold(ctx, async (hold) => {
    const { trigger, request, version, eventId } = await inWorkspace(
      ctx.database.tenant,
      ctx.workspaceId,
      async (tx) => {
        const trigger = await requireTrigger(tx, ctx, input);
        const request = await requireRequest(tx, trigger, input.requestId, hold.growBytes);
        const { event_id: id } = request;
        const isBound = id !== null && (await isEventBound(tx, requestsOf(trigger), id));
        const eventId = isBound ? null : id;
        return { trigger, request, eventId, ...parseBody(replayRequestBody, input.body, {}) };
      },
    );
    const started = await attemptAsync(() =>
      replayStored(ctx, trigger, { request, version, eventId, hold }),
    );
    if (!started.ok) throw visibleError(ctx, started.error);
    return started.value;
  });
}

/** Returns the error, without the values of the payload if the actor cannot read runs. */
function visibleError(ctx: ReplayContext, error: ApiError): ApiError {
  if (error.code !== "mapping_error" || canReadRuns(ctx)) return error;
  const { code, runId } = error;
  return new ApiError(code, hiddenMistake, runId === undefined ? {} : { runId });
}

interface Replay {
  readonly request: WholeRequest;
  readonly version: "current" | "original";
  /**
   * The event id to bind to the run. If it is already bound, no run is started, and the run of the
   * event is returned. null: a run is started, also if the event has one.
   */
  readonly eventId: string | null;
  /**
   * Counts the body against the memory budgets. The stored body is counted already; decoding adds
   * the bytes of the inflated body.
   */
  readonly hold: ReceivedBodyHold;
  /**
   * Whether the Idempotency-Key is bound to a run that fails because of the filter or the template,
   * so that a repeat returns this run. Default: false, a repeat maps the request again.
   */
  readonly bindsFailedRun?: boolean;
}

/** Replays one request. @throws ApiError the errors of `replayRequest` */
export function replayStored(
  ctx: ReplayContext,
  trigger: TriggerRow,
  { request, version, eventId, hold, bindsFailedRun }: Replay,
): Promise<Once<Run>> {
  const receiving = effectiveReceiving(trigger);
  const raw = storedRequest(request, receiving);
  const labels = readLabels((name) => headerOf(raw, name));
  const wrongLabels = labels.ok ? undefined : labels.error;
  const received: ReceivedStart = {
    requestId: newId("req"),
    eventId,
    eventIdDays: receiving.event_id_days,
    eventType: request.event_type,
    holds: false,
    swallows: false,
    isFiltered: false,
    replayOf: request.id,
    address: ctx.address ?? null,
    contentEncoding: raw.headers["content-encoding"]?.toString() ?? null,
    query: request.query,
    headers: JSON.stringify(raw.headers),
    body: raw.body,
  };
  return startMapped(ctx, {
    row: trigger,
    raw,
    hold,
    version: version === "original" ? request.agent_version : null,
    error:
      version === "original" && request.agent_version === null
        ? new ApiError(
            "conflict",
            "The agent's version at the time of this request is not stored. Replay it with the version current.",
          )
        : wrongLabels,
    labels: labels.ok ? labels.value : undefined,
    received,
    bindsFailedRun,
    audit: {
      action: "trigger.replay",
      data: { trigger_id: trigger.id, replay_of: request.id, version },
    },
  });
}
