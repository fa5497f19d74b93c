import type { MeteredCall } from "./metered-call.ts";

/** The end of a run could not be written. The caller of `executeRun` must end the run. */
export class UnwrittenEnd extends Error {
  /** The model calls that were sent and that no event in the journal reports. */
  readonly calls: readonly MeteredCall[];

  /** @param cause why the run ends unexpectedly, or why its end could not be written. */
  constructor(cause: unknown, calls: readonly MeteredCall[]) {
    super("the end of a run could not be written", { cause });
    this.calls = calls;
  }
}
