import type { ReceivedRequest, ReceivedRequestDetails, Receiving } from "@beckon/contract";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { timeOf } from "../../base/ids.ts";
import { type HoldBytes, isSecretHeader, withoutTriggerTokens } from "../../receiving/index.ts";
import type { TriggerRow } from "../store.ts";
import type { TriggerInput } from "../trigger.ts";
import { findRequest, type RequestContent, type RequestRow, requestsOf } from "./store.ts";

export interface RequestInput extends TriggerInput {
  readonly requestId: string;
}

export type WholeRequest = RequestRow & RequestContent;

export function toRequest(row: RequestRow): ReceivedRequest {
  return {
    id: row.id,
    agent_id: row.agent_id,
    trigger_id: row.trigger_id,
    received_at: timeOf(row.id).toISOString(),
    outcome: row.outcome,
    error: row.error,
    event_id: row.event_id,
    event_type: row.event_type,
    run_id: row.run_id,
    replay_of: row.replay_of,
    address: row.address,
    content_type: row.content_type,
    size: row.size,
  };
}

/**
 * Returns a received request with its content.
 * @param receiving the trigger's saved settings
 */
export function toRequestDetails(
  row: WholeRequest,
  receiving: Receiving | null,
): ReceivedRequestDetails {
  const { body } = row;
  const text = body === null ? null : utf8(body);
  return {
    ...toRequest(row),
    query: queryValues(row.query ?? ""),
    headers: shownHeaders(row, receiving),
    body: text ?? body?.toString("base64") ?? null,
    body_encoding: body !== null && text === null ? "base64" : "utf8",
  };
}

/**
 * Returns a request that the trigger received, with its query, headers and body.
 * @param hold counts the bytes of the body against the memory budget, before they are read.
 * @throws ApiError `not_found`; `unavailable`, `too_large` if the process cannot hold the body
 */
export async function requireRequest(
  tx: WorkspaceTransaction,
  trigger: TriggerRow,
  requestId: string,
  hold: HoldBytes,
): Promise<WholeRequest> {
  const row = await findRequest(tx, requestsOf(trigger), requestId, hold);
  if (row !== undefined) return row;
  throw missingRequest();
}

/** Returns the error for a received request that does not exist. */
export function missingRequest(): ApiError {
  return new ApiError(
    "not_found",
    "This trigger has no received request with this id. Old requests are deleted, by default after 30 days.",
  );
}

/** Returns the bytes as text; null if they are not UTF-8 (compressed, or a file). */
function utf8(bytes: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Returns the stored headers that can be shown. The header with the secret or signature of the
 * trigger's saved settings is left out: it was stored if the request arrived before requests were
 * verified with this header. Tokens of triggers are removed, because earlier versions of Beckon
 * stored them.
 */
export function shownHeaders(
  { headers }: Pick<RequestContent, "headers">,
  receiving: Receiving | null,
): Record<string, string> {
  const verification = receiving?.verification ?? { kind: "none" };
  return Object.fromEntries(
    Object.entries(headers ?? {})
      .filter(([name]) => !isSecretHeader(verification, name))
      .map(([name, value]) => [name, withoutTriggerTokens(value)]),
  );
}

/** Returns each parameter with its values, in the order of the URL. */
function queryValues(query: string): Record<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query))
    values.set(name, [...(values.get(name) ?? []), value]);
  return Object.fromEntries(values);
}
