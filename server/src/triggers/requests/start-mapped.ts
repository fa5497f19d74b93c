import type { Run } from "@beckon/contract";
import type { Context } from "../../base/context.ts";
import { ApiError, attemptAsync, type Result } from "../../base/errors.ts";
import type { Once } from "../../base/idempotency/index.ts";
import type { MappingServices } from "../../mapping/index.ts";
import type { RawRequest, ReceivedBodyHold } from "../../receiving/index.ts";
import {
  type ReceivedStart,
  type RunLabels,
  type RunServices,
  startManaged,
} from "../../runs/index.ts";
import { type MappedRequest, mapRequest } from "../map-request.ts";
import type { TriggerRow } from "../store.ts";
import { effectiveReceiving } from "../trigger.ts";
import { decodeRequest } from "./decode-request.ts";

/** Input of `startMapped`: the request of a test or a replay, and how its run is started. */
interface MappedStart {
  readonly row: TriggerRow;
  readonly raw: RawRequest;
  /**
   * Counts the body against the memory budgets. A stored body is counted already; decoding adds the
   * bytes of the inflated body.
   */
  readonly hold: ReceivedBodyHold;
  /** The agent's version; null for the current one. */
  readonly version: number | null;
  /**
   * The error if no run can start, for example because the trigger is disabled. Two results of
   * `startManaged` take precedence over it: the earlier run if the request is a repeat, and the
   * error of a paused agent.
   */
  readonly error?: ApiError | undefined;
  readonly audit: { readonly action: string; readonly data: object };
  /**
   * If the filter or the template fails: whether the Idempotency-Key is bound to the failed run, so
   * that a repeat returns this run. Default: false, a repeat maps the request again.
   */
  readonly bindsFailedRun?: boolean | undefined;
  /** Default: none. */
  readonly labels?: RunLabels | undefined;
  /** The received request to store with the run; undefined to store none. */
  readonly received?: ReceivedStart;
}

/**
 * Maps a request with the trigger's current settings, and starts its run. If the filter or the
 * template fails, a run with the status `failed` is stored, as for a request that arrives.
 * @throws ApiError `conflict` if the filter rejects the request; `mapping_error` with the id of the
 *   failed run; the errors of `decodeBody` and `startManaged`
 */
export async function startMapped(
  ctx: Context & MappingServices & { runs: RunServices },
  { row, raw, hold, version, error, audit, bindsFailedRun, labels, received }: MappedStart,
): Promise<Once<Run>> {
  const receiving = effectiveReceiving(row);
  // Errors are passed to `startManaged` and not thrown: if this request repeats an earlier one,
  // `startManaged` returns the run of the earlier one, even if changed settings make this request
  // fail now.
  const trial = await attemptAsync(async () => {
    const request = await decodeRequest(ctx.workspaceId, receiving, raw, hold);
    return { files: request.decoded.files, mapped: await mapRequest(ctx.mapping, request) };
  });
  const { files, mapped } = trial.ok ? trial.value : { files: [], mapped: undefined };
  return startManaged(ctx, {
    source: "trigger",
    agentId: row.agent_id,
    contentType: raw.headers["content-type"]?.toString() ?? null,
    payload: error === undefined ? messageOf(trial) : { ok: false, error },
    labels,
    received,
    files: files.map(({ id, media_type: mediaType, content }) => ({ id, mediaType, content })),
    details: {
      version,
      triggerId: row.id,
      promptPrefix: row.prompt_prefix,
      ...(mapped?.kind === "failed"
        ? {
            initial: {
              code: "mapping_error" as const,
              message: mapped.error,
              bindsKey: bindsFailedRun ?? false,
            },
          }
        : {}),
    },
    audit,
  });
}

/** Returns the message of a mapped request; an error if mapping threw or the filter rejects it. */
function messageOf(trial: Result<{ readonly mapped: MappedRequest }>): Result<string> {
  if (!trial.ok) return trial;
  const { mapped } = trial.value;
  if (mapped.kind !== "filtered") return { ok: true, value: mapped.message };
  return {
    ok: false,
    error: new ApiError(
      "conflict",
      "The trigger's filter does not let this request pass. Change the filter, or use another request.",
    ),
  };
}
