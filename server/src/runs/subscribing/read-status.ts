import { failureKind, unavailableIfLost } from "../../base/database/index.ts";
import { deletedRun } from "../access.ts";
import { type InitialStatus, readStoredStatus } from "../journal/index.ts";
import type { RunRef } from "../run.ts";
import type { SubscribePorts } from "./subscribe.ts";

/**
 * Returns the run's current status, for a `202` response. If the database is unreachable, returns
 * the status in which the run was created: the run was accepted, so the caller must not get an
 * error for it.
 * @param run its `initialStatus` is undefined if an earlier request created the run.
 * @throws ApiError `conflict` if the run was deleted; `unavailable` if the database is unreachable
 *   and an earlier request created the run. The caller can repeat such a request.
 */
export async function readStatus(
  ports: Pick<SubscribePorts, "database" | "live">,
  run: RunRef & { readonly initialStatus: InitialStatus | undefined },
): Promise<string> {
  const live = ports.live.get(run.runId);
  if (live !== undefined) return live.outcome?.status ?? "running";
  const stored = await readStoredStatus(ports.database, run).catch((thrown: unknown) => {
    if (failureKind(thrown) !== "lost" || run.initialStatus === undefined)
      throw unavailableIfLost(thrown);
    return run.initialStatus;
  });
  if (stored === undefined) throw deletedRun();
  return stored;
}
