import { eventVersion } from "@beckon/contract";
import type { Database } from "../base/database/index.ts";
import type { RunRef } from "./run.ts";

/** `asked`: it executes, and its owner has to end it. `over`: it has ended, now or before. */
export type CancelAnswer = "cancelled" | "asked" | "over" | "not_found";

/**
 * Ends a queued run, and asks the owner of a running one to end it: the mark is tested by every write that announces an effect.
 * In one statement, since a run may be claimed, or handed back, between two: the row's lock decides which case it is.
 */
const text = `
with found as materialized (
  select id, workspace_id, status, last_seq, cancel_requested_at as asked_before from runs where id = $1 and workspace_id = $2 for no key update
), ended as (
  update runs r set status = 'cancelled', finished_at = now(), cancel_requested_at = now(), last_seq = r.last_seq + 1
  from found f where f.status = 'queued' and r.id = f.id and r.workspace_id = f.workspace_id
  returning r.id, r.workspace_id, r.last_seq
), asked as (
  update runs r set cancel_requested_at = coalesce(r.cancel_requested_at, now())
  from found f where f.status = 'running' and r.id = f.id and r.workspace_id = f.workspace_id
  returning r.id
), journal as (
  insert into events (run_id, seq, workspace_id, id, type, version, data)
  select id, last_seq, workspace_id, $3, 'run.cancelled', ${eventVersion}, jsonb_build_object(
    'error', jsonb_build_object('code', 'cancelled', 'message', $4::text),
    'usage', jsonb_build_object('input_tokens', 0, 'output_tokens', 0, 'cached_input_tokens', 0), 'cost_micros', 0)
  from ended
), record as (
  insert into audit (id, workspace_id, actor, address, action, target, data)
  select $5, workspace_id, $6, $7, 'run.cancel', id, '{}' from found where $5::text is not null and asked_before is null and status in ('queued', 'running')
), result as (
  insert into run_results (run_id, workspace_id, error_code, error_message, input_tokens, output_tokens, cached_input_tokens, usage_estimated, cost_micros)
  select id, workspace_id, 'cancelled', $4, 0, 0, 0, false, 0 from ended
)
select case when exists (select from ended) then 'cancelled' when exists (select from asked) then 'asked' else 'over' end as answer from found`;

export interface CancelOptions {
  readonly eventId: string;
  readonly message: string;
  /** Who asks, for the record; absent: Beckon itself. */
  readonly by?: { readonly auditId: string; readonly actor: string; readonly address: string | undefined };
}

export async function cancelStored(database: Database, run: RunRef, { eventId, message, by }: CancelOptions): Promise<CancelAnswer> {
  const { rows } = await database.engine.query<{ answer: CancelAnswer }>({
    name: "cancel",
    text,
    values: [run.runId, run.workspaceId, eventId, message, by?.auditId ?? null, by?.actor ?? null, by?.address ?? null],
  });
  return rows[0]?.answer ?? "not_found";
}
