import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { elapsed } from "./base/clock.ts";
import type { Database } from "./base/database/index.ts";
import { droppedLogLines } from "./base/logging/index.ts";
import type { Metrics } from "./base/metrics/index.ts";
import { readDeliveryFigures } from "./deliveries/index.ts";
import { countAlive } from "./processes/index.ts";
import { readLastPass } from "./retention/index.ts";
import { type RunServices, readRunFigures } from "./runs/index.ts";

/** How long a figure that was read from the database is cached, in milliseconds. */
const maxAgeMs = 10_000;
/** Resolution of the measured delay of the event loop, in milliseconds. */
const lagResolutionMs = 10;

/**
 * Registers the gauges of this process, and counters that are read like gauges: all of them are
 * read only when metrics are collected.
 * @returns a function that stops measuring.
 */
export function measureProcess(
  metrics: Metrics,
  {
    database,
    runs,
    openStreams,
  }: { database: Database; runs: RunServices; openStreams: () => number },
): () => void {
  const { capacity, circuits, live, memory, reservations } = runs;
  metrics.gauge("beckon_http_streams", () => [[[], openStreams()]]);
  metrics.gauge("beckon_runs_executing", () => [[[], live.size]]);
  metrics.gauge("beckon_runs_capacity", () => [[[], capacity.isOpen ? capacity.max : 0]]);
  metrics.gauge("beckon_runs_waiting", () => [
    [["provider"], circuits.waitingRuns],
    [["rate_limit"], circuits.rateLimitedRuns],
    [["limit"], reservations.waitingRuns],
    [["memory"], memory.runs.waitingHolds],
  ]);
  metrics.gauge("beckon_lease_failing", () => [[[], runs.process.isLeaseFailing ? 1 : 0]]);

  metrics.gauge("beckon_events_held_back_seconds", () => [
    [[], runs.eventPoller.horizon.heldBackSeconds],
  ]);

  const runFigures = cached(() => readRunFigures(database));
  metrics.gauge("beckon_runs_queued", async () => [[[], (await runFigures()).queued]]);
  metrics.gauge("beckon_runs_running", async () => [[[], (await runFigures()).running]]);
  metrics.gauge("beckon_runs_queued_oldest_seconds", async () => [
    [[], (await runFigures()).oldestQueuedSeconds],
  ]);
  const deliveryFigures = cached(() => readDeliveryFigures(database));
  metrics.gauge("beckon_deliveries_pending", async () => [[[], (await deliveryFigures()).pending]]);
  metrics.gauge("beckon_deliveries_overdue_seconds", async () => [
    [[], (await deliveryFigures()).overdueSeconds],
  ]);
  const lastPass = cached(() => readLastPass(database.engine));
  metrics.gauge("beckon_retention_last_pass_timestamp_seconds", async () => [
    [[], await lastPass()],
  ]);
  const alive = cached(() => countAlive(database.engine));
  metrics.gauge("beckon_processes_alive", async () => [[[], await alive()]]);

  metrics.gauge("beckon_database_connections", () =>
    database.pools.flatMap(([name, { totalCount, idleCount }]) => [
      [[name, "used"], totalCount - idleCount] as const,
      [[name, "idle"], idleCount] as const,
    ]),
  );
  metrics.gauge("beckon_database_waiting", () =>
    database.pools.map(([name, { waitingCount }]) => [[name], waitingCount] as const),
  );

  const budgets = ["runs", "exchanges", "outputs", "deliveries"] as const;
  metrics.gauge("beckon_memory_held_bytes", () =>
    budgets.map((use) => [[use], memory[use].usedBytes] as const),
  );
  metrics.gauge("beckon_memory_budget_bytes", () =>
    budgets.map((use) => [[use], memory[use].maxBytes] as const),
  );
  const lag = monitorEventLoopDelay({ resolution: lagResolutionMs });
  lag.enable();
  metrics.gauge("beckon_event_loop_lag_seconds", () => {
    // The histogram contains the times between two timer events. Without lag, such a time is the
    // resolution, which is therefore subtracted.
    const seconds = Math.max(0, lag.percentile(99) / 1e9 - lagResolutionMs / 1_000);
    lag.reset();
    return [[[], seconds]];
  });
  metrics.gauge("beckon_heap_used_bytes", () => [[[], getHeapStatistics().used_heap_size]]);
  metrics.gauge("beckon_heap_used_ratio", () => {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    return [[[], used / limit]];
  });
  metrics.gauge("beckon_heap_full", () => [[[], memory.heap.isFull ? 1 : 0]]);
  metrics.gauge("beckon_resident_memory_bytes", () => [[[], process.memoryUsage.rss()]]);
  metrics.counterFrom("beckon_cpu_seconds_total", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  metrics.counterFrom("beckon_log_lines_dropped_total", droppedLogLines);
  return () => lag.disable();
}

/** Returns a function that reads again only if its last value is older than `maxAgeMs`. */
function cached<T>(read: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  let readAt = 0;
  return () => {
    if (value === undefined || elapsed() - readAt > maxAgeMs) {
      readAt = elapsed();
      const reading = read();
      value = reading;
      // A failed read is repeated at the next collection.
      reading.catch(() => {
        if (value === reading) value = undefined;
      });
    }
    return value;
  };
}
