import { elapsed } from "../../base/clock.ts";
import { messageOf, stackOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";

/**
 * Time until a run is tried again. A journal that cannot be read can take a whole statement timeout
 * each time, which other runs of dead processes would wait for.
 */
const retryMs = 60_000;

/** The lost runs that this process could not end lately: it could not read their journals. */
export class UnreadableRuns {
  readonly #log: Pick<Log, "write">;
  readonly #failedAt = new Map<string, number>();

  constructor(log: Pick<Log, "write">) {
    this.#log = log;
  }

  /** Returns whether the run failed less than a minute ago. */
  has(runId: string): boolean {
    const failedAt = this.#failedAt.get(runId);
    return failedAt !== undefined && elapsed() - failedAt < retryMs;
  }

  /** Logs the failure of a run, and forgets runs that failed long ago. */
  add(runId: string, thrown: unknown): void {
    for (const known of this.#failedAt.keys()) if (!this.has(known)) this.#failedAt.delete(known);
    this.#failedAt.set(runId, elapsed());
    this.#log.write("a lost run could not be ended; it will be retried", {
      run_id: runId,
      reason: messageOf(thrown),
      stack: stackOf(thrown),
    });
  }
}
