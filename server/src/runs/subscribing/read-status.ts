import { failureKind } from "../../base/database/index.ts";
import { readStoredStatus } from "../journal/index.ts";
import type { RunRef } from "../run.ts";
import type { SubscribePorts } from "./subscribe.ts";

/**
 * Returns the run's current status, for a `202` response. While the database is unreachable,
 * returns `queued`, since every accepted run is at least queued.
 */
export async function readStatus(
  ports: Pick<SubscribePorts, "database" | "live">,
  run: RunRef,
): Promise<string> {
  const live = ports.live.get(run.runId);
  if (live !== undefined && live.outcome === undefined) return "running";
  try {
    return (await readStoredStatus(ports.database, run)) ?? "queued";
  } catch (thrown) {
    if (failureKind(thrown) !== "lost") throw thrown;
    return "queued";
  }
}
