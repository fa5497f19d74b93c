import { type Principal, principalOf } from "../context.ts";
import type { WorkspaceTransaction } from "../database/index.ts";
import { newId } from "../ids.ts";
import { type InsertedAuditRow, insertAuditRows } from "./store.ts";

/** What an audit entry says. `data` describes the change and never contains a secret. */
export interface NewAuditEntry {
  readonly action: string;
  readonly target: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

interface Recorder {
  readonly actor: Principal;
  readonly address?: string | undefined;
}

/**
 * Writes an audit entry in the transaction of the change, so that either both are committed or
 * neither is.
 */
export async function record(
  tx: WorkspaceTransaction,
  ctx: Recorder & { readonly workspaceId: string },
  entry: NewAuditEntry,
): Promise<void> {
  await recordAll(tx, ctx, [entry]);
}

/** Writes the entries, as `record` does, with one statement. Their ids ascend in their order. */
export async function recordAll(
  tx: WorkspaceTransaction,
  ctx: Recorder & { readonly workspaceId: string },
  entries: readonly NewAuditEntry[],
): Promise<void> {
  await insertAuditRows(
    tx,
    entries.map((entry) => toRow(ctx.workspaceId, ctx, entry)),
  );
}

/**
 * Writes an entry, as `record` does, to the audit log of each of the workspaces, with one
 * statement.
 * @param entryOf returns the entry of a workspace
 */
export async function recordInEach(
  tx: WorkspaceTransaction,
  workspaceIds: readonly string[],
  ctx: Recorder,
  entryOf: (workspaceId: string) => NewAuditEntry,
): Promise<void> {
  await insertAuditRows(
    tx,
    workspaceIds.map((workspaceId) => toRow(workspaceId, ctx, entryOf(workspaceId))),
  );
}

function toRow(workspaceId: string, ctx: Recorder, entry: NewAuditEntry): InsertedAuditRow {
  return {
    id: newId("aud"),
    workspace_id: workspaceId,
    actor: principalOf(ctx.actor),
    address: ctx.address ?? null,
    action: entry.action,
    target: entry.target,
    data: JSON.stringify(entry.data ?? {}),
  };
}
