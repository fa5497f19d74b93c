import type { OperatorProvider } from "./base/context.ts";
import type { DemoAgent } from "./default-workspace.ts";
import type { Demo, FoundProvider } from "./supervisor/index.ts";

/**
 * Matches names of embedding models, which agents cannot use. Most model servers list them together
 * with other models.
 */
const embeds = /embed/i;

/** Returns a provider in the form of the message `ready`, which a server sends its supervisor. */
export function foundProvider({ name, origin, models = [] }: OperatorProvider): FoundProvider {
  const model = models.find((each) => !embeds.test(each)) ?? models[0];
  return { name, origin, model: model === undefined ? null : `${name}/${model}` };
}

/** Returns the demo agent in the form of the message `ready`. @param url public URL of Beckon. */
export function toDemo(
  { agentId, agentToken, triggerToken, isOffered }: DemoAgent,
  url: string,
): Demo {
  return {
    agent_id: agentId,
    agent_token: agentToken,
    trigger_url: triggerToken === null ? null : `${url}/api/public/triggers/${triggerToken}`,
    is_offered: isOffered,
  };
}
