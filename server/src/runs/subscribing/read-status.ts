import { undefinedAfter } from "../../base/clock.ts";
import { failureKind, unavailableIfLost } from "../../base/database/index.ts";
import { deletedRun } from "../access.ts";
import { type InitialStatus, readStoredStatus } from "../journal/index.ts";
import type { RunRef } from "../run.ts";
import type { SubscribePorts } from "./subscribe.ts";

/** A response does not wait longer for the status of a new run: a proxy may not wait at all. */
const maxReadMs = 1_000;

/**
 * Returns the run's current status, for a `202` response. If the database is unreachable or slow,
 * returns the status in which the run was created: the run was accepted, so the caller must get its
 * id, and in time.
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
  const { initialStatus } = run;
  const reading = readStoredStatus(ports.database, run).then(
    (status) => ({ status }),
    (thrown: unknown) => {
      if (failureKind(thrown) !== "lost" || initialStatus === undefined)
        throw unavailableIfLost(thrown);
      return { status: initialStatus };
    },
  );
  const { status } =
    initialStatus === undefined
      ? await reading
      : ((await undefinedAfter(reading, maxReadMs)) ?? { status: initialStatus });
  if (status === undefined) throw deletedRun();
  return status;
}
