import { onTestFinished } from "vitest";
import type { TestBeckon } from "./beckon.ts";
import { eventually } from "./eventually.ts";
import { type Behaviour, echo, held, type ModelRequest, startModelServer } from "./model-server.ts";

export interface HeldModel {
  /** `provider/model`, for an agent. */
  readonly model: string;
  /** Requests that have arrived. */
  readonly requests: readonly ModelRequest[];
  /** Resolves when `count` requests have arrived. */
  reached(count: number): Promise<void>;
  /** Releases all requests, present and future. */
  release(): void;
}

let count = 0;

/**
 * Starts a model for one test. The model sends no response until it is released. Then it follows
 * `behaviour`; by default it repeats its input. At the end of the test the model is released, and
 * the test waits for the end of every run of an agent with this model.
 */
export async function startHeldModel(
  beckon: TestBeckon,
  behaviour: Behaviour = echo(),
): Promise<HeldModel> {
  const server = await startModelServer();
  const released = Promise.withResolvers<void>();
  server.script(held(released.promise, behaviour));
  const { id, name } = await beckon.createProvider(server.url, `held-${++count}`);
  onTestFinished(async () => {
    released.resolve();
    await eventually("the end of all runs that call the model", async () =>
      (await runsLeft(beckon, id)) === 0 ? true : undefined,
    );
    await server.close();
  });
  return {
    model: `${name}/scripted`,
    requests: server.requests,
    reached: async (count) => {
      await eventually(
        `${count} requests at the model`,
        () => server.requests.length >= count || undefined,
      );
    },
    release: () => released.resolve(),
  };
}

async function runsLeft({ db }: TestBeckon, providerId: string): Promise<number> {
  const { rows } = await db.database.engine.query<{ left: number }>(
    `select count(*)::int as left from runs r join agent_versions v on v.agent_id = r.agent_id
      and v.version = 1
      where v.provider_id = $1 and r.finished_at is null`,
    [providerId],
  );
  return rows[0]?.left ?? 0;
}
