import { record } from "../base/audit/index.ts";
import type { Principal } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { membershipsOf } from "./store.ts";

/**
 * Puts an act about a person's account on record in every workspace of theirs, since each of them is concerned; in the transaction of the
 * act, which sees all workspaces.
 */
export async function recordAct(
  tx: WorkspaceTransaction,
  {
    userId,
    actor = { kind: "user", id: userId },
    address,
  }: { userId: string; actor?: Principal; address: string },
  entry: { action: string; target: string; data?: Record<string, unknown> },
): Promise<void> {
  for (const { id } of await membershipsOf(tx, userId))
    await record(tx, { workspaceId: id, actor, address }, entry);
}
