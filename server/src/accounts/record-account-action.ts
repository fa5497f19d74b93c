import { recordInEach } from "../base/audit/index.ts";
import type { Principal } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { membershipsOf } from "./store.ts";

/**
 * Writes an action on a person's account to the audit log of each workspace of the person.
 * @param tx The transaction of the action. `inAllWorkspaces` must have opened it, because it must
 *   see the memberships in all workspaces.
 */
export async function recordAccountAction(
  tx: WorkspaceTransaction,
  {
    userId,
    actor = { kind: "user", id: userId },
    address,
  }: { userId: string; actor?: Principal; address: string | null },
  entry: { action: string; target: string; data?: Record<string, unknown> },
): Promise<void> {
  const memberships = await membershipsOf(tx, userId);
  const workspaceIds = memberships.map(({ id }) => id);
  await recordInEach(tx, workspaceIds, { actor, address: address ?? undefined }, () => entry);
}
