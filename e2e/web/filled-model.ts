import {
  type Behaviour,
  blackHole,
  echo,
  type ModelServer,
  says,
  startModelServer,
  status,
} from "../../server/test/model-server.ts";

/** What the models of a filled dashboard do. */
type Scene = (step: number) => Behaviour;

const call = (name: string, given: unknown) => ({
  id: `call_${name}`,
  name,
  arguments: JSON.stringify(given),
});

const answer = `## Refund

The order **4711** was shipped. I could *not* create a refund because the shop responds with \`502\`.

| Step | Result |
|---|---:|
| Order | found |
| Refund | failed |

- [x] Read the [order](https://shop.example/orders/4711)
- [ ] Try the refund again later

\`\`\`json
{ "order_id": 4711, "amount": 39.98 }
\`\`\`
`;

const usage = { prompt_tokens: 1_420, completion_tokens: 96, cached_tokens: 1_024 };

/** By model name. `repeat` calls the clock until its run reaches the agent's maximum of steps. */
const scenes: Readonly<Record<string, Scene>> = {
  refunds: (step) =>
    [
      says({
        reasoning: "The person wants a refund. The order comes first.",
        text: "Let me look at the order.",
        calls: [call("get_order", { order_id: 4711 })],
        usage,
      }),
      says({ calls: [call("refund", { body: { order_id: 4711, amount: 39.98 } })], usage }),
    ][step] ?? says({ text: answer, usage }),
  rejects: () => status(401),
  silent: () => blackHole,
  repeat: () => says({ calls: [call("clock", {})], usage }),
  echo,
};

/** A model server whose models are the scenes, in chat completions. */
export async function startFilledModel(): Promise<ModelServer> {
  const server = await startModelServer();
  server.script((request, index) => {
    const { model, messages } = request.body;
    const step = messages.filter(({ role }) => role === "assistant").length;
    return (scenes[model] ?? echo)(step)(request, index);
  });
  return server;
}
