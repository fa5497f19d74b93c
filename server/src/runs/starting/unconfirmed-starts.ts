import { ShortLivedMap } from "../../base/short-lived-map.ts";
import type { RunRef } from "../run.ts";

/**
 * A start without a reply of the database. The statement can be lost with its connection, or
 * already committed, so that its run can be claimed.
 */
export interface UnconfirmedStart {
  /**
   * Set if the caller got `503`. Then the run must not reach a model. The promise resolves when the
   * reply has arrived and the run, if it was written, was cancelled.
   */
  rejected: PromiseWithResolvers<void> | undefined;
  /** The run, if a claim of this process has found it: then it was started. */
  claimed: (RunRef & { readonly agentId: string }) | undefined;
}

/** Starts without a reply of the database, by run id. */
export type UnconfirmedStarts = ShortLivedMap<UnconfirmedStart>;

/** Creates the table of starts without a reply of the database. */
export function createUnconfirmedStarts(): UnconfirmedStarts {
  return new ShortLivedMap();
}
