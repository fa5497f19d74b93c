import type { TestBeckon } from "./beckon.ts";

/** The secret that senders send to triggers of `createReceivingTrigger`. */
export const senderSecret = "this-is-the-secret-of-a-sender";

/**
 * Creates a trigger over REST that verifies its requests, and sends one request to it.
 * @returns the ids of the trigger, of the received request, and of the run that it started.
 */
export async function createReceivingTrigger(
  beckon: Pick<TestBeckon, "call">,
  agentId: string,
): Promise<{ readonly id: string; readonly requestId: string; readonly runId: string }> {
  const triggers = `/agents/${agentId}/triggers`;
  const receiving = { verification: { kind: "header", header: "x-secret" } };
  const trigger = (await beckon.call(triggers, { body: { name: "Test", receiving } })).body.data;
  const path = `${triggers}/${trigger.id}`;
  await beckon.call(`${path}/secret`, { body: { secret: senderSecret } });
  await fetch(trigger.url, { method: "POST", headers: { "x-secret": senderSecret }, body: "Hi" });
  const [received] = (await beckon.call(`${path}/requests`)).body.data;
  return { id: trigger.id, requestId: received.id, runId: received.run_id };
}
