import type { IncomingMessage } from "node:http";
import type { Receiving, RequestOutcome } from "@beckon/contract";
import { newId } from "../../base/ids.ts";
import type { ReceivedRequestRow } from "../../received/index.ts";
import { type RawRequest, storedHeaders } from "../../receiving/index.ts";
import type { ReceivedStart } from "../../runs/index.ts";
import type { TriggerOfToken } from "../../triggers/index.ts";
import { headerOf } from "../request/index.ts";

/** What is known of a request before its body is read. */
export interface Arrival {
  readonly requestId: string;
  readonly address: string;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** Unix time in milliseconds. */
  readonly receivedAtMs: number;
}

/** Returns what is known of a request before its body is read, together with a new id. */
export function arrivalOf(incoming: IncomingMessage, address: string): Arrival {
  return {
    requestId: newId("req"),
    address,
    contentType: headerOf(incoming, "content-type") ?? null,
    contentEncoding: headerOf(incoming, "content-encoding") ?? null,
    receivedAtMs: Date.now(),
  };
}

/**
 * Returns a copy of `arrival` with a new id. A request that is checked again needs a new id: if the
 * reply of the database to the earlier check was lost, a row with the earlier id can exist.
 */
export function withNewId(arrival: Arrival): Arrival {
  return { ...arrival, requestId: newId("req") };
}

type Trigger = Omit<TriggerOfToken, "settings">;

/** A verified request, with the id and type of its event. */
export interface VerifiedRequest {
  readonly trigger: Trigger;
  readonly receiving: Receiving;
  readonly arrival: Arrival;
  readonly raw: RawRequest;
  readonly event: { readonly id: string | null; readonly type: string | null };
}

/**
 * Returns the row of a request that was not verified. The row has only outcome, error, size and
 * address. The database adds the time.
 */
export function unverifiedRow(
  trigger: Trigger,
  { requestId, address }: Arrival,
  result: Pick<ReceivedRequestRow, "outcome" | "error" | "size">,
): ReceivedRequestRow {
  return {
    ...idsOf(trigger),
    ...result,
    requestId,
    address,
    eventId: null,
    eventType: null,
    runId: null,
    contentType: null,
    contentEncoding: null,
    query: null,
    headers: null,
    body: null,
  };
}

/**
 * Returns the row of a verified request that starts no run.
 * @param result.runId the run of an earlier request with the same event. The body is then not
 *   stored again.
 * @param result.withoutBody whether the body is not stored for another reason
 */
export function verifiedRow(
  request: VerifiedRequest,
  result: {
    readonly outcome: RequestOutcome;
    readonly error?: string;
    readonly runId?: string;
    readonly withoutBody?: boolean;
  },
): ReceivedRequestRow {
  const { requestId, address, contentType, contentEncoding } = request.arrival;
  return {
    ...idsOf(request.trigger),
    requestId,
    address,
    contentType,
    contentEncoding,
    outcome: result.outcome,
    error: result.error ?? null,
    eventId: request.event.id,
    eventType: request.event.type,
    runId: result.runId ?? null,
    size: request.raw.body.length,
    query: queryTextOf(request.raw),
    headers: headersOf(request),
    body: result.runId === undefined && !result.withoutBody ? request.raw.body : null,
  };
}

/** Returns the field `received` of a `StartRequest`: what is stored of the request with its run. */
export function receivedStart(
  request: VerifiedRequest,
  { isFiltered }: Pick<ReceivedStart, "isFiltered">,
): ReceivedStart {
  const { receiving, arrival, raw, event } = request;
  return {
    requestId: arrival.requestId,
    eventId: event.id,
    eventIdDays: receiving.event_id_days,
    eventType: event.type,
    holds: receiving.when_paused === "hold",
    swallows: receiving.when_disabled === "swallow",
    isFiltered,
    replayOf: null,
    address: arrival.address,
    contentEncoding: arrival.contentEncoding,
    query: queryTextOf(raw),
    headers: headersOf(request),
    body: raw.body,
  };
}

function idsOf({ workspaceId, agentId, triggerId }: Trigger) {
  return { workspaceId, agentId, triggerId };
}

function headersOf({ receiving, raw }: VerifiedRequest): string {
  return JSON.stringify(storedHeaders(receiving, raw));
}

/** Returns the query as it was received, without `?`. */
function queryTextOf({ url }: RawRequest): string {
  const start = url.indexOf("?");
  return start < 0 ? "" : url.slice(start + 1);
}
