import {
  type Behaviour,
  blackHole,
  echo,
  type ModelServer,
  says,
  startModelServer,
  status,
} from "../../server/test/model-server.ts";

/** Returns how a model responds in a step, counted from 0. */
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

/**
 * Scenes by model name. `repeat` calls the tool `clock` until the run reaches its maximum of steps.
 */
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

/** Starts a model server for chat completions with one model per scene. */
export async function startFilledModel(): Promise<ModelServer> {
  const server = await startModelServer();
  server.script((request, index) => {
    const { model, messages } = request.body;
    const step = messages.filter(({ role }) => role === "assistant").length;
    return (scenes[model] ?? echo)(step)(request, index);
  });
  return server;
}
