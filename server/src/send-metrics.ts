import type { Metrics } from "./base/metrics/index.ts";
import type { CollectedMetrics } from "./supervisor/index.ts";

/**
 * Sends the metrics of this process to the supervisor. Resolves when they are sent, or if they
 * cannot be sent. Sends nothing if metrics are off.
 * @param options `id`: id of the supervisor's request. `database`: whether to read the gauges that
 *   need the database. They are the same for all processes, so only one process reads them.
 */
export async function sendMetrics(
  collect: Metrics["collect"],
  { id, database }: { readonly id: number; readonly database: boolean },
): Promise<void> {
  const metrics = [...(await collect({ database }))];
  await new Promise<void>((sent) => {
    const message = { type: "metrics", id, metrics } satisfies CollectedMetrics;
    if (process.send === undefined || metrics.length === 0) sent();
    else process.send(message, () => sent());
  });
}
