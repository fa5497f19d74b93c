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

/**
 * Returns several measurements of the same load as one. The percentiles of the latency are means,
 * weighted by the numbers of requests, and the memory is the maximum.
 */
export function joined(parts: readonly Measurement[]): Measurement {
  const sum = (of: (one: Measurement) => number) =>
    parts.reduce((total, one) => total + of(one), 0);
  const requests = sum((one) => one.requests);
  const mean = (of: (one: Measurement) => number) =>
    sum((one) => of(one) * one.requests) / requests;
  return {
    requests,
    total: sum((one) => one.total),
    failures: sum((one) => one.failures),
    seconds: sum((one) => one.seconds),
    beganAt: Math.min(...parts.map((one) => one.beganAt)),
    endedAt: Math.max(...parts.map((one) => one.endedAt)),
    p50: mean((one) => one.p50),
    p99: mean((one) => one.p99),
    serverCpu: sum((one) => one.serverCpu),
    databaseCpu: sum((one) => one.databaseCpu),
    memoryMiB: Math.max(...parts.map((one) => one.memoryMiB)),
  };
}

/** Resolves when no run is queued or running. */
export async function noRunsLeft(api: Api): Promise<void> {
  while ((await api<unknown[]>("GET", "/runs?status=queued,running&limit=1")).length > 0)
    await sleep(50);
}
