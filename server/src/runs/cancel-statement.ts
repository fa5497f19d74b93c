import { eventVersion } from "@beckon/contract";
import { CompiledQuery } from "kysely";
import type { Database, WorkspaceTransaction } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import type { RunRef } from "./run.ts";

/** `asked`: it executes, and its owner has to end it. `over`: it has ended, now or before. */
export type CancelAnswer = "cancelled" | "asked" | "over" | "not_found";

/**
 * Ends queued runs, and asks the owners of running ones to end them: the mark is tested by every write that announces an effect.
 * In one statement, since a run may be claimed, or handed back, between two: the row's lock decides which case it is. The locks are taken
 * in the order of ids.
 */
const text = `
with found as materialized (
  select r.id, r.workspace_id, r.status, r.last_seq, r.cancel_requested_at as asked_before from runs r
  where r.id = any ($1::text[]) and r.workspace_id = $2 order by r.id for no key update
), ended as (
  update runs r set status = 'cancelled', finished_at = now(), cancel_requested_at = now(), last_seq = r.last_seq + 1,
    last_transaction = greatest(r.last_transaction, current_transaction())
  from found f where f.status = 'queued' and r.id = any ($1) and r.id = f.id and r.workspace_id = f.workspace_id
  returning r.id, r.workspace_id, r.last_seq, r.last_transaction
), asked as (
  update runs r set cancel_requested_at = coalesce(r.cancel_requested_at, now())
  from found f where f.status = 'running' and r.id = any ($1) and r.id = f.id and r.workspace_id = f.workspace_id
  returning r.id
), journal as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select id, last_seq, workspace_id, last_transaction, ($3::text[])[array_position($1, id)], 'run.cancelled', ${eventVersion}, jsonb_build_object(
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
select f.id, case when e.id is not null then 'cancelled' when a.id is not null then 'asked' else 'over' end as answer, f.asked_before is not null as asked_before
from found f left join ended e on e.id = f.id left join asked a on a.id = f.id`;

interface Answered {
  readonly id: string;
  readonly answer: Exclude<CancelAnswer, "not_found">;
  readonly asked_before: boolean;
}

export interface CancelOptions {
  readonly eventId: string;
  readonly message: string;
  /** Who asks, for the record; absent: Beckon itself. */
  readonly by?: { readonly auditId: string; readonly actor: string; readonly address: string | undefined };
}

export async function cancelStored(database: Database, run: RunRef, { eventId, message, by }: CancelOptions): Promise<CancelAnswer> {
  const { rows } = await database.engine.query<Answered>({
    name: "cancel",
    text,
    values: [[run.runId], run.workspaceId, [eventId], message, by?.auditId ?? null, by?.actor ?? null, by?.address ?? null],
  });
  return rows[0]?.answer ?? "not_found";
}

/**
 * The same for many, in a transaction whose caller puts it on record.
 * @returns those that this has changed: ended, or asked for the first time.
 */
export async function cancelAllStored(
  tx: WorkspaceTransaction,
  { runIds, workspaceId, message }: { runIds: readonly string[]; workspaceId: string; message: string },
): Promise<readonly { readonly runId: string; readonly answer: "cancelled" | "asked" }[]> {
  const eventIds = runIds.map(() => newId("evt"));
  const { rows } = await tx.executeQuery<Answered>(CompiledQuery.raw(text, [runIds, workspaceId, eventIds, message, null, null, null]));
  return rows.flatMap(({ id, answer, asked_before }) => (answer === "over" || asked_before ? [] : [{ runId: id, answer }]));
}
