import { isFinalEvent, type Subscription, type WorkspaceEvent } from "@beckon/client";

/** Returns whether the event can become a delivery of the subscription, or changes its state. */
export function concerns(
  { id, event_types: types, agent_ids: agentIds }: Subscription,
  event: WorkspaceEvent,
): boolean {
  const { type, agent_id: agentId, data } = event;
  if (type === "subscription.disabled" && data.subscription_id === id) return true;
  // The end of a run can become a callback, and can have replaced calls of tools (`merged`).
  // Triggers and tags are not compared, because the event does not contain them.
  return (
    (types.includes(type) || isFinalEvent(event)) &&
    (agentIds === null || (agentId !== null && agentIds.includes(agentId)))
  );
}
