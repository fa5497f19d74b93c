import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Reservations } from "../../reservations/index.ts";
import type { FirstCall } from "./first-calls.ts";
import type { Claim } from "./run-journal.ts";

/** The services that returning a reservation needs. */
export interface ReturnPorts {
  readonly reservations: Pick<Reservations, "returnFirstCall">;
  readonly onReturned: (workspaceIds: readonly string[]) => void;
  readonly log: Log;
}

/** A run that may hold a reservation for its first call. */
export interface ReservingRun extends Pick<Claim, "runId" | "workspaceId" | "owner" | "fence"> {
  firstCall?: FirstCall | undefined;
}

/**
 * Returns to the budgets what was reserved when the run was started, if anything was. If this
 * fails, the run keeps the reservation, and replaces it when it reserves for its first call. Never
 * rejects.
 */
export async function returnFirstCall(
  { reservations, onReturned, log }: ReturnPorts,
  run: ReservingRun,
  signal: AbortSignal,
): Promise<void> {
  const isReserved = run.firstCall?.reserved !== undefined;
  run.firstCall = undefined;
  if (!isReserved) return;
  try {
    await reservations.returnFirstCall(run, signal);
    onReturned([run.workspaceId]);
  } catch (thrown) {
    if (!signal.aborted)
      log.write("a reservation could not be returned early", {
        run_id: run.runId,
        reason: messageOf(thrown),
      });
  }
}
