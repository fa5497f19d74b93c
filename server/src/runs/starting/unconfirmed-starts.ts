import { ShortLivedMap } from "../../base/short-lived-map.ts";
import type { RunRef } from "../run.ts";

/**
 * A start whose statement the database has not replied to. The statement may have been lost with
 * its connection. It may also have been committed already, and then any process can claim its run.
 */
export interface UnconfirmedStart {
  /**
   * Whether the caller got a `503` response and cannot repeat the request safely. If so, the run's
   * model must not be called: the run is cancelled if it was written.
   */
  isRejected: boolean;
  /** The run; set if this process has claimed it, which shows that the statement was committed. */
  claimed: (RunRef & { readonly agentId: string }) | undefined;
}

/** The starts whose statements the database has not replied to, by run id. */
export type UnconfirmedStarts = ShortLivedMap<UnconfirmedStart>;

/** Creates the table of starts whose statements the database has not replied to. */
export function createUnconfirmedStarts(): UnconfirmedStarts {
  return new ShortLivedMap();
}
