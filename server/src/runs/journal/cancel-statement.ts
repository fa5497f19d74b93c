import type { RunStatus } from "@beckon/contract";
import { CompiledQuery } from "kysely";
import { type Database, statement, type WorkspaceTransaction } from "../../base/database/index.ts";
import { newId } from "../../base/ids.ts";
import type { RunRef } from "../run.ts";
import { endUnexecuted } from "./end-runs.ts";

/**
 * The result of a cancellation.
 * - `cancelled`: this call has ended the run.
 * - `requested`: the run is running, and the process that owns it must end it.
 * - `already_ended`: the run had already ended before.
 * - `not_found`: the run does not exist.
 */
export type CancelResult = "cancelled" | "requested" | "already_ended" | "not_found";

interface CancelInput extends Omit<CancelOptions, "eventId"> {
  readonly runIds: readonly string[];
  readonly workspaceId: string;
  /** Ids of the events that will end the runs: one for each run, in the order of `runIds`. */
  readonly eventIds: readonly string[];
  /** Runs in other states are left unchanged, without a result. Undefined: no restriction. */
  readonly states?: readonly RunStatus[] | undefined;
}

/**
 * Ends runs that are queued or waiting, and sets `cancel_requested_at` on running ones. From then
 * on, running ones cannot append entries that announce side effects, such as tool calls. It is a
 * single statement, because a run could be claimed or released between two statements. Rows are
 * locked in the order of their ids, to avoid deadlocks.
 *
 * If a process wrote to a run's journal and released the run while the statement waited for its
 * row, the statement sees the new row, but not what the process wrote to other tables, such as the
 * usage of the run. It then leaves the run unchanged, with the result `again`, and must be
 * repeated: each repeat has a newer snapshot. In a transaction one repeat is enough, because the
 * rows are locked.
 */
export const cancelStatement = statement<CancelInput>("cancel", (p) => {
  const ids = p.value("text[]", (input) => input.runIds);
  const workspaceId = p.value("text", (input) => input.workspaceId);
  const eventIds = p.value("text[]", (input) => input.eventIds);
  const auditId = p.value("text", ({ by }) => by?.auditId ?? null);
  const actor = p.value("text", ({ by }) => by?.actor ?? null);
  const address = p.value("text", ({ by }) => by?.address ?? null);
  const states = p.value("text[]", (input) => input.states ?? null);
  return `
with found as materialized (
  select r.id, r.workspace_id, r.status, r.cancel_requested_at as requested_before,
    r.status in ('queued', 'waiting') as is_unexecuted,
    -- The locked row is its newest version; a subquery reads the one of the statement's snapshot.
    r.last_seq <> (select s.last_seq from runs s where s.id = r.id
      and s.workspace_id = r.workspace_id) as is_newer
  from runs r where r.id = any (${ids}) and r.workspace_id = ${workspaceId}
    -- Checked again with the locked row, which another process may have claimed or released.
    and (${states} is null or r.status = any (${states}))
  order by r.id for no key update
), ending as materialized (
  select id, workspace_id, (${eventIds})[array_position(${ids}, id)] as event_id from found
  where is_unexecuted and not is_newer
), ${endUnexecuted(p, {
    source: "ending",
    set: "cancel_requested_at = now(),",
    end: ({ message }) => ({ status: "cancelled", error: { code: "cancelled", message } }),
  })}, requested as (
  update runs r set cancel_requested_at = coalesce(r.cancel_requested_at, now())
  from found f where f.status = 'running' and r.id = any (${ids}) and r.id = f.id
    and r.workspace_id = f.workspace_id
  returning r.id
), recorded as (
  insert into audit (id, workspace_id, actor, address, action, target, data)
  select ${auditId}, workspace_id, ${actor}, ${address}, 'run.cancel', id, '{}' from found
  where ${auditId} is not null and requested_before is null
    and (status = 'running' or is_unexecuted and not is_newer)
)
select f.id,
  case when e.id is not null then 'cancelled' when q.id is not null then 'requested'
    when f.is_unexecuted then 'again' else 'already_ended' end as result,
  f.requested_before is not null as requested_before
from found f left join ended e on e.id = f.id left join requested q on q.id = f.id`;
});

interface CancelRow {
  readonly id: string;
  readonly result: Exclude<CancelResult, "not_found"> | "again";
  readonly requested_before: boolean;
}

export interface CancelOptions {
  readonly eventId: string;
  readonly message: string;
  /**
   * The actor, for the audit log. Undefined if the server itself cancels the run, or if the caller
   * of this function writes the audit entry: then the statement writes none.
   */
  readonly by?:
    | { readonly auditId: string; readonly actor: string; readonly address: string | undefined }
    | undefined;
}

/** Cancels a queued or waiting run, or requests the cancellation of a running one. */
export async function cancelStored(
  database: Database,
  run: RunRef,
  { eventId, message, by }: CancelOptions,
): Promise<CancelResult> {
  const query = cancelStatement.query({
    runIds: [run.runId],
    workspaceId: run.workspaceId,
    eventIds: [eventId],
    message,
    by,
  });
  for (;;) {
    const { rows } = await database.engine.query<CancelRow>(query);
    const { result } = rows[0] ?? { result: "not_found" };
    if (result !== "again") return result;
  }
}

/**
 * Cancels many runs. Writes no audit entry: the caller writes it in the same transaction.
 * @param options `states`: runs that are no longer in one of these states are left unchanged.
 *   Default: no restriction.
 * @returns the runs that this call changed: those that have ended, and those whose cancellation was
 *   requested for the first time.
 */
export async function cancelAllStored(
  tx: WorkspaceTransaction,
  {
    runIds,
    workspaceId,
    states,
    message,
  }: {
    runIds: readonly string[];
    workspaceId: string;
    states?: readonly RunStatus[];
    message: string;
  },
): Promise<readonly { readonly runId: string; readonly result: "cancelled" | "requested" }[]> {
  const changed: { runId: string; result: "cancelled" | "requested" }[] = [];
  for (let ids = runIds; ids.length > 0; ) {
    const eventIds = ids.map(() => newId("evt"));
    const query = cancelStatement.query({ runIds: ids, workspaceId, eventIds, states, message });
    const { rows } = await tx.executeQuery<CancelRow>(CompiledQuery.raw(query.text, query.values));
    for (const { id, result, requested_before } of rows)
      if (result === "cancelled" || (result === "requested" && !requested_before))
        changed.push({ runId: id, result });
    ids = rows.flatMap(({ id, result }) => (result === "again" ? [id] : []));
  }
  return changed;
}
