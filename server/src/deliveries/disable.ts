import type { DisabledReason } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Database, inWorkspace } from "../base/database/index.ts";
import { orderWorkspaceEvents, writeWorkspaceEvent } from "../events/index.ts";
import { disableRow } from "./maintenance-store.ts";

/**
 * Disables a subscription if it is enabled, and writes an event and an audit entry about that.
 * `closeDeliveries` later closes its pending deliveries.
 * @param version if given, a subscription that now has another version is not disabled. Set if the
 *   reason is a response to an attempt: the subscription may have got another URL or been resumed
 *   since the attempt began.
 * @param minFailingSeconds if given, a subscription whose attempts have failed for a shorter time
 *   is not disabled, for example because an attempt has succeeded meanwhile.
 * @returns whether this call has disabled the subscription.
 */
export async function disableSubscription(
  { tenant }: Database,
  {
    id,
    workspaceId,
    version,
    minFailingSeconds,
  }: {
    readonly id: string;
    readonly workspaceId: string;
    readonly version?: number | undefined;
    readonly minFailingSeconds?: number | undefined;
  },
  reason: DisabledReason,
): Promise<boolean> {
  return inWorkspace(tenant, workspaceId, async (tx) => {
    await orderWorkspaceEvents(tx, id);
    const disabled = await disableRow(tx, { id, workspaceId, version, minFailingSeconds }, reason);
    if (disabled === undefined) return false;
    await writeWorkspaceEvent(
      tx,
      { workspaceId, agentId: null },
      {
        type: "subscription.disabled",
        data: { subscription_id: id, url: disabled.url, reason },
      },
    );
    await record(
      tx,
      { workspaceId, actor: { kind: "system" } },
      { action: "subscription.disable", target: id, data: { reason } },
    );
    return true;
  });
}
