import { onTestFinished } from "vitest";
import type { TestBeckon } from "./beckon.ts";
import { eventually } from "./eventually.ts";
import { type Behaviour, echo, held, type ModelRequest, startModelServer } from "./model-server.ts";

export interface HeldModel {
  /** `provider/model`, for an agent. */
  readonly model: string;
  /** Requests that have reached it. */
  readonly requests: readonly ModelRequest[];
  /** Resolves when `count` requests have reached it. */
  reached(count: number): Promise<void>;
  /** Lets all requests be answered, those that come later too. */
  release(): void;
}

let made = 0;

/** A model of one test's own that answers nobody until it is released; it echoes then, or does what `behaviour` says. */
export async function startHeldModel(beckon: TestBeckon, behaviour: Behaviour = echo()): Promise<HeldModel> {
  const server = await startModelServer();
  const released = Promise.withResolvers<void>();
  server.script(held(released.promise, behaviour));
  onTestFinished(async () => {
    released.resolve();
    await server.close();
  });
  const { name } = await beckon.createProvider(server.url, `held-${++made}`);
  return {
    model: `${name}/scripted`,
    requests: server.requests,
    reached: async (count) => {
      await eventually(`${count} requests at the model`, () => server.requests.length >= count || undefined);
    },
    release: () => released.resolve(),
  };
}
