import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "./api.ts";
import type { Load, LoadResult } from "./load.ts";
import { run } from "./processes.ts";

/** A server under load. */
export interface Target {
  readonly port: number;
  /** CPU seconds used so far. */
  readonly cpu: () => { readonly server: number; readonly database: number };
  readonly memoryMiB: () => number;
  /** Resolves when no run is queued or running. */
  readonly idle: () => Promise<void>;
}

export interface Measurement extends LoadResult {
  /** CPU seconds for all requests that `total` counts. */
  readonly serverCpu: number;
  readonly databaseCpu: number;
  readonly memoryMiB: number;
}

/** The body of every request. */
export const requestBody = JSON.stringify({ input: "What is the state of order 4711?" });

/**
 * Applies a load to a server. Throughput and latencies are those of the measured time. CPU is
 * counted for all requests until no run is left, so that work after the responses counts too.
 */
export async function measure(
  opened: AsyncDisposableStack,
  target: Target,
  load: Omit<Load, "port" | "body">,
): Promise<Measurement> {
  const before = target.cpu();
  const generator = await run<"begin">(opened, "load.ts", [
    JSON.stringify({ ...load, port: target.port, body: requestBody }),
  ]);
  const result = await new Promise<LoadResult | { error: string }>((resolve) => {
    generator.child.once("message", (message) =>
      resolve(message as LoadResult | { error: string }),
    );
    generator.child.once("disconnect", () =>
      resolve({ error: "the load generator exited too early" }),
    );
  });
  if ("error" in result) throw new Error(`The load on ${load.path} failed: ${result.error}`);
  const memoryMiB = target.memoryMiB();
  await target.idle();
  const after = target.cpu();
  return {
    ...result,
    serverCpu: after.server - before.server,
    databaseCpu: after.database - before.database,
    memoryMiB,
  };
}

/** Resolves when no run is queued or running. */
export async function noRunsLeft(api: Api): Promise<void> {
  while ((await api<unknown[]>("GET", "/runs?status=queued,running&limit=1")).length > 0)
    await sleep(50);
}
