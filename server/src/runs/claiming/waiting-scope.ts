import type { Reservations } from "../../reservations/index.ts";

/** Which runs a claim takes. */
export interface ClaimScope {
  /** Workspaces and agents whose runs are not claimed. */
  readonly except: readonly string[];
  readonly maxRuns: number;
}

/**
 * Fraction of a process's capacity for runs that wait for limits of money or usage. A workspace can
 * use as much of it as remains free: one workspace alone an eighth of the whole capacity, the next
 * one a sixteenth. So some of it is always left for another workspace. The fraction is small,
 * because more waiting runs than are granted in a second have no use.
 */
const waitingFraction = 1 / 4;

/** Returns how many more runs can wait for limits. */
function freeOf(waiting: ReadonlyMap<string, number>, maxRuns: number): number {
  const capacity = Math.max(1, Math.floor(maxRuns * waitingFraction));
  return capacity - [...waiting.values()].reduce((sum, runs) => sum + runs, 0);
}

/**
 * Returns the ids of the workspaces and agents whose runs are not executed because others of them
 * wait for a limit, apart from those that a claim with `waitingScope` takes. An agent at its
 * ceiling does not exclude its workspace, unless the workspace has exceeded its share: the other
 * agents can have ceilings, too, so their runs could use the shares of other workspaces.
 * @param maxRuns maximum number of runs that this process executes at the same time.
 */
export function excludedIds(
  reservations: Pick<Reservations, "waiting" | "blocked">,
  maxRuns: number,
): readonly string[] {
  const waiting = reservations.waiting();
  const free = freeOf(waiting, maxRuns);
  return [...waiting].flatMap(([workspaceId, runs]) =>
    runs <= free ? reservations.blocked(workspaceId) : workspaceId,
  );
}

/**
 * Returns the scope of a claim that also takes runs of the workspaces whose runs wait for a limit,
 * up to their shares. Undefined if these workspaces have no share left.
 *
 * The first waiting run does not exclude its workspace, because the limit may be that of one agent:
 * the runs of the workspace's other agents do not wait.
 *
 * @param waiting see `Reservations.waiting`.
 * @param maxRuns maximum number of runs that this process executes at the same time.
 */
export function waitingScope(
  waiting: ReadonlyMap<string, number>,
  maxRuns: number,
): ClaimScope | undefined {
  const free = freeOf(waiting, maxRuns);
  // A claimed run that waits reduces `free` and increases its workspace's number, so only half of
  // the difference can be claimed.
  const shares = [...waiting].map(([workspaceId, runs]) => ({
    workspaceId,
    left: Math.ceil((free - runs) / 2),
  }));
  const open = shares.filter(({ left }) => left > 0);
  if (open.length === 0) return undefined;
  return {
    except: shares.flatMap(({ workspaceId, left }) => (left > 0 ? [] : workspaceId)),
    maxRuns: Math.min(...open.map(({ left }) => left)),
  };
}
