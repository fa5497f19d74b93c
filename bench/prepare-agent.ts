import type { Api } from "./api.ts";

export interface Agent {
  readonly id: string;
  readonly token: string;
  readonly triggerId: string;
  readonly triggerPath: string;
}

/**
 * Creates a provider for the model server, and an agent with a trigger and a queue large enough not
 * to limit the load.
 */
export async function prepareAgent(api: Api, name: string, modelPort: number): Promise<Agent> {
  await api("POST", "/providers", {
    name,
    kind: "openai-compatible",
    base_url: `http://127.0.0.1:${modelPort}/v1`,
  });
  const limits = { max_queued_runs: 10_000_000 };
  const agent = await api<{ id: string; token: string }>("POST", "/agents", {
    name,
    model: `${name}/bench`,
    limits,
  });
  const trigger = await api<{ id: string; url: string }>("POST", `/agents/${agent.id}/triggers`, {
    name,
  });
  return {
    id: agent.id,
    token: agent.token,
    triggerId: trigger.id,
    triggerPath: new URL(trigger.url).pathname,
  };
}
