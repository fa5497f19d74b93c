import { type Database, statement } from "../base/database/index.ts";
import type { ReceivedRequestRow } from "./received-request.ts";
import { insertRequests, requestColumns } from "./record-statement.ts";

/** A verified request to a trigger that waits for a sample. */
export interface CaptureInput {
  readonly request: ReceivedRequestRow;
  /** Version of the settings with which the request was verified. */
  readonly version: number;
}

/**
 * Statement that captures a request as a sample, which is shown to the person who sets up the
 * trigger. It does so only while the trigger waits for a sample.
 */
const captureStatement = statement<CaptureInput>("capture-request", (p) => {
  const request = p.rows("r", ({ request }) => [request], requestColumns);
  const version = p.value("int", (input) => input.version);
  return `
with arrived as materialized (select * from ${request.table}), captured as (
  update triggers g set listening_until = null from arrived r
  where g.id = r.trigger_id and g.workspace_id = r.workspace_id and g.deleted_at is null
    and g.listening_until > now() and g.receiving_version = ${version}
  returning g.id as captured_id
), stored as (
  ${insertRequests("arrived q join captured on captured_id = q.trigger_id")}
)
select exists (select from captured) or exists (
  -- The row exists already if an earlier call captured the request and the reply was lost.
  select from received_requests s, arrived r where s.trigger_id = r.trigger_id and s.id = r.id
) as captured`;
});

/**
 * Stores a verified request as the sample that its trigger waits for. Only one request is captured,
 * even if several arrive at once.
 * @returns false if the trigger no longer waits, or its settings have another version.
 */
export async function captureRequest(database: Database, input: CaptureInput): Promise<boolean> {
  const { rows } = await captureStatement.send<{ captured: boolean }>(database.engine, input);
  return rows[0]?.captured === true;
}
