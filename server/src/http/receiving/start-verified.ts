import type { Receiving } from "@beckon/contract";
import { unavailableIfLost } from "../../base/database/index.ts";
import { ApiError, type Result } from "../../base/errors.ts";
import { type CaptureInput, captureRequest } from "../../received/index.ts";
import type { DecodedBody } from "../../receiving/index.ts";
import {
  type RunDetails,
  runDetails,
  type StartOutcome,
  type StartRequest,
  TriggerReconfigured,
  tryStart,
} from "../../runs/index.ts";
import { type MappedRequest, mapRequest } from "../../triggers/index.ts";
import { startContent } from "../request/index.ts";
import type { Services } from "../services.ts";
import type { ReceivedCall } from "./received-call.ts";
import { receivedStart, type VerifiedRequest, verifiedRow } from "./received-rows.ts";
import { recordDecided } from "./record.ts";
import { repeatableBytes } from "./repeatable-bytes.ts";
import { runResponse, skippedResponse } from "./responses.ts";

/**
 * Evaluates filter and message template of a verified request, and starts its run. The SQL
 * statement that starts the run (`tryStart`) checks the event id, the pause and the limits before
 * it uses the result of the evaluation. Errors of these checks therefore take precedence over
 * errors of the evaluation.
 * @throws TriggerReconfigured if the trigger no longer has the version in `request`; ApiError if the
 *   request is rejected, or if the run was created as failed for another reason than its filter or
 *   template
 */
export async function startVerified(
  services: Services,
  call: ReceivedCall,
  request: VerifiedRequest,
  decoded: Result<DecodedBody>,
): Promise<Response> {
  const { trigger, receiving } = request;
  const mapped = decoded.ok
    ? await mapRequest(services.mapping, {
        ...request,
        workspaceId: trigger.workspaceId,
        decoded: decoded.value,
      })
    : undefined;
  let start = startRequestOf(call, request, { decoded, mapped });
  for (;;) {
    const outcome = await startOrRecord(services, start, request);
    switch (outcome.kind) {
      case "started":
        if (outcome.failure !== undefined && outcome.failure.code !== "mapping_error")
          throw outcome.failure;
        if (outcome.run.replayed) await recordRepeat(services, request, outcome.run.runId);
        return runResponse(call, receiving, outcome.run);
      case "repeated":
        await recordRepeat(services, request, outcome.run.runId);
        return runResponse(call, receiving, outcome.run);
      case "filtered":
        return skippedResponse(call, receiving);
      case "swallowed":
        await recordDecided(services, verifiedRow(request, { outcome: "swallowed" }));
        return skippedResponse(call, receiving);
      case "empty":
        if (receiving.template === null || !decoded.ok)
          throw await rejected(services, request, outcome.error);
        start = { ...start, details: mappingFailure(emptyMessage) };
        continue;
      case "listening": {
        const row = verifiedRow(request, { outcome: "captured" });
        const sample = { request: row, version: trigger.version };
        if (await capture(services, sample)) return skippedResponse(call, receiving);
        // The trigger no longer waits for a sample, so this request is handled as an event.
        continue;
      }
      case "reconfigured":
        throw new TriggerReconfigured();
    }
  }
}

function startRequestOf(
  { caller, arrival, labels, callback, key: ownKey, webhookId, trace }: ReceivedCall,
  request: VerifiedRequest,
  {
    decoded,
    mapped,
  }: { readonly decoded: Result<DecodedBody>; readonly mapped: MappedRequest | undefined },
): StartRequest {
  const files = decoded.ok ? decoded.value.files : [];
  const key = keyOf(request.receiving, { key: ownKey, webhookId });
  return {
    source: "trigger",
    caller,
    trace,
    agentId: null,
    contentType: arrival.contentType,
    receivingVersion: request.trigger.version,
    received: receivedStart(request, { isFiltered: mapped?.kind === "filtered" }),
    files: files.map(({ id, media_type, content }) => ({ id, mediaType: media_type, content })),
    details: mapped?.kind === "failed" ? mappingFailure(mapped.error) : undefined,
    ...startContent(
      { key, labels, callback },
      {
        payload: () => (decoded.ok ? { ok: true, value: messageOf(mapped) } : decoded),
        bytes: () => ({ ok: true, value: repeatableBytes(arrival, request.raw, decoded) }),
      },
    ),
  };
}

const emptyMessage =
  "The message template of the trigger rendered an empty message, and the trigger has no prompt prefix.";

function messageOf(mapped: MappedRequest | undefined): string {
  return mapped === undefined || mapped.kind === "filtered" ? "" : mapped.message;
}

/**
 * Returns the details of a run that is created already failed, because its filter or template
 * failed.
 */
function mappingFailure(message: string): RunDetails {
  return runDetails({ initial: { code: "mapping_error", message } });
}

/**
 * Returns the idempotency key; undefined if the settings read the event id from the header
 * `Idempotency-Key`. `webhook-id` is the key only if the settings do not say where the event id is
 * and the request has no `Idempotency-Key`.
 */
function keyOf(
  { event_id }: Receiving,
  { key, webhookId }: Pick<ReceivedCall, "key" | "webhookId">,
): Result<string> | undefined {
  if (event_id === null) return key ?? webhookId;
  const isEventId =
    typeof event_id === "object" && "header" in event_id && event_id.header === "idempotency-key";
  return isEventId ? undefined : key;
}

/** Starts the run. Records the request if the SQL statement that starts the run rejects it. */
async function startOrRecord(
  services: Services,
  start: StartRequest,
  request: VerifiedRequest,
): Promise<StartOutcome> {
  try {
    return await tryStart(services.runs, start);
  } catch (thrown) {
    if (
      thrown instanceof ApiError &&
      thrown.code !== "unavailable" &&
      thrown.code !== "unauthorized"
    )
      throw await rejected(services, request, thrown);
    throw thrown;
  }
}

/** Records a request that was rejected, and returns its error. */
async function rejected(
  services: Services,
  request: VerifiedRequest,
  error: ApiError,
): Promise<ApiError> {
  await recordDecided(
    services,
    verifiedRow(request, { outcome: "rejected", error: error.message }),
  );
  return error;
}

async function capture({ database }: Services, sample: CaptureInput): Promise<boolean> {
  try {
    return await captureRequest(database, sample);
  } catch (thrown) {
    throw unavailableIfLost(thrown);
  }
}

function recordRepeat(services: Services, request: VerifiedRequest, runId: string): Promise<void> {
  return recordDecided(services, verifiedRow(request, { outcome: "repeated", runId }));
}
