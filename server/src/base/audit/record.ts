import { type Principal, principalOf } from "../context.ts";
import type { WorkspaceTransaction } from "../database/index.ts";
import { newId } from "../ids.ts";

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
  await tx
    .insertInto("audit")
    .values({
      id: newId("aud"),
      workspace_id: ctx.workspaceId,
      actor: principalOf(ctx.actor),
      address: ctx.address ?? null,
      action: entry.action,
      target: entry.target,
      data: JSON.stringify(entry.data ?? {}),
    })
    .execute();
}
