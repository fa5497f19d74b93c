import type { Receiving, RequestOutcome } from "@beckon/contract";
import { newId } from "../../base/ids.ts";
import type { ReceivedRequestRow, TriggerOfToken } from "../../received/index.ts";
import { type RawRequest, storedHeaders } from "../../receiving/index.ts";
import type { ReceivedFile, ReceivedStart } from "../../runs/index.ts";

/** What is known of a request before its body is read. */
export interface RequestHead {
  readonly requestId: string;
  readonly address: string;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly receivedAtMs: number;
}

/** Returns the parts of a request that are the same however often it is checked. */
export function requestHead(facts: Omit<RequestHead, "requestId" | "receivedAtMs">): RequestHead {
  return { ...facts, requestId: newId("req"), receivedAtMs: Date.now() };
}

type Trigger = Pick<TriggerOfToken, "workspaceId" | "agentId" | "triggerId">;

/**
 * Returns the row of a request that was not verified: outcome, time, size and address. `error` says
 * why it was rejected, if the reason is not its signature.
 */
export function unverifiedRow(
  { workspaceId, agentId, triggerId }: Trigger,
  { requestId, address }: RequestHead,
  result: { readonly outcome: RequestOutcome; readonly error: string | null; readonly size: number },
): ReceivedRequestRow {
  return {
    requestId,
    workspaceId,
    agentId,
    triggerId,
    ...result,
    eventId: null,
    eventType: null,
    runId: null,
    address,
    contentType: null,
    contentEncoding: null,
    query: null,
    headers: null,
    body: null,
  };
}

/** A verified request, and what its body says of the event. */
export interface VerifiedRequest {
  readonly trigger: Trigger;
  readonly receiving: Receiving;
  readonly head: RequestHead;
  readonly raw: RawRequest;
  readonly event: { readonly id: string | null; readonly type: string | null };
}

/** Returns the row of a verified request that starts no run. */
export function verifiedRow(
  request: VerifiedRequest,
  result: {
    readonly outcome: RequestOutcome;
    readonly error?: string;
    /** The run of an earlier request, which has the same event. Then the content is not stored. */
    readonly runId?: string;
  },
): ReceivedRequestRow {
  const { trigger, head, raw, event } = request;
  const { workspaceId, agentId, triggerId } = trigger;
  return {
    requestId: head.requestId,
    workspaceId,
    agentId,
    triggerId,
    outcome: result.outcome,
    error: result.error ?? null,
    eventId: event.id,
    eventType: event.type,
    runId: result.runId ?? null,
    ...valuesOf(head),
    size: raw.body.length,
    query: queryTextOf(raw),
    headers: headersOf(request),
    body: result.runId === undefined ? raw.body : null,
  };
}

/** Returns the part of a start that stores the request together with its run. */
export function receivedStart(
  request: VerifiedRequest,
  { isFiltered, files }: { readonly isFiltered: boolean; readonly files: readonly ReceivedFile[] },
): ReceivedStart {
  const { receiving, head, raw, event } = request;
  const { address, contentEncoding } = valuesOf(head);
  return {
    requestId: head.requestId,
    eventId: event.id,
    eventIdDays: receiving.event_id_days,
    eventType: event.type,
    holds: receiving.when_paused === "hold",
    swallows: receiving.when_disabled === "swallow",
    isFiltered,
    replayOf: null,
    address,
    contentEncoding,
    query: queryTextOf(raw),
    headers: headersOf(request),
    body: raw.body,
    files,
  };
}

function valuesOf({ address, contentType, contentEncoding }: RequestHead) {
  return {
    address,
    contentType: contentType ?? null,
    contentEncoding: contentEncoding ?? null,
  };
}

function headersOf({ receiving, raw }: VerifiedRequest): string {
  return JSON.stringify(storedHeaders(receiving, raw));
}

/** Returns the query as it was received, without `?`. */
function queryTextOf({ url }: RawRequest): string {
  const start = url.indexOf("?");
  return start < 0 ? "" : url.slice(start + 1);
}
