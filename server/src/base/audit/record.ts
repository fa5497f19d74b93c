import { type Principal, principalOf } from "../context.ts";
import type { WorkspaceTransaction } from "../database/index.ts";
import { newId } from "../ids.ts";
import { insertAuditRows } from "./store.ts";

/**
 * Writes an audit entry in the transaction of the change, so that either both are committed or
 * neither is. `data` describes the change and never contains a secret.
 */
export async function record(
  tx: WorkspaceTransaction,
  ctx: {
    readonly workspaceId: string;
    readonly actor: Principal;
    readonly address?: string | undefined;
  },
  entry: { action: string; target: string; data?: Record<string, unknown> },
): Promise<void> {
  await recordInEach(tx, [ctx.workspaceId], ctx, entry);
}

/** Writes the same entry, as `record` does, to the audit log of each of the workspaces. */
export async function recordInEach(
  tx: WorkspaceTransaction,
  workspaceIds: readonly string[],
  ctx: { readonly actor: Principal; readonly address?: string | undefined },
  entry: { action: string; target: string; data?: Record<string, unknown> },
): Promise<void> {
  const rows = workspaceIds.map((workspaceId) => ({ id: newId("aud"), workspaceId }));
  await insertAuditRows(tx, rows, {
    actor: principalOf(ctx.actor),
    address: ctx.address ?? null,
    action: entry.action,
    target: entry.target,
    data: JSON.stringify(entry.data ?? {}),
  });
}
