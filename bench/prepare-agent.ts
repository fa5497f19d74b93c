export interface Agent {
  readonly id: string;
  readonly token: string;
  readonly triggerPath: string;
}

/** Sets up a provider for the model server, and an agent with a trigger and a queue that is not the limit. */
export async function prepareAgent(port: number, key: string, name: string, modelPort: number): Promise<Agent> {
  const create = async (path: string, body: unknown) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/public${path}`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { ok: boolean; data: { id: string; token: string; url: string } };
    if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer.data;
  };
  await create("/providers", { name, kind: "openai-compatible", base_url: `http://127.0.0.1:${modelPort}/v1` });
  const agent = await create("/agents", { name, model: `${name}/bench`, limits: { max_queued_runs: 10_000_000 } });
  const trigger = await create(`/agents/${agent.id}/triggers`, { name });
  return { id: agent.id, token: agent.token, triggerPath: new URL(trigger.url).pathname };
}
