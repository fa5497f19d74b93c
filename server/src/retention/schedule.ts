import { pause } from "../base/clock.ts";
import { attemptTask } from "../base/database/index.ts";
import type { Log } from "../base/log.ts";
import { type PruneServices, prune } from "./prune.ts";

/** When a process deletes old rows. */
export interface PruningOptions {
  /**
   * Milliseconds from startup to the first attempt, so that deleting does not compete with the work
   * that the processes resume.
   */
  readonly firstMs: number;
  /** Milliseconds between two attempts of this process to begin a pass. */
  readonly everyMs: number;
  /** Seconds from the end of a pass, of any process, to the next one. */
  readonly intervalSeconds: number;
}

/** When a process deletes old rows, unless a test chooses other times. */
export const defaultPruning: PruningOptions = {
  firstMs: 300_000,
  everyMs: 60_000,
  intervalSeconds: 600,
};

/**
 * Periodically deletes rows that are older than their retention. Only one process at a time does
 * it. A failure is logged, and the next attempt continues.
 */
export function startPruning(
  services: Omit<PruneServices, "log"> & { readonly log: Log },
  { firstMs, everyMs, intervalSeconds }: PruningOptions,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function pruneRepeatedly(): Promise<void> {
    for (let pauseMs = firstMs; ; pauseMs = everyMs) {
      await pause(pauseMs, signal);
      if (signal.aborted) return;
      await attemptTask(services.log, "deleting old rows", () =>
        prune(services, { signal, intervalSeconds }),
      );
    }
  }

  const pruning = pruneRepeatedly();
  return {
    async stop() {
      stopping.abort();
      await pruning;
    },
  };
}
