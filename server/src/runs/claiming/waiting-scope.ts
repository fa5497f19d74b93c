/** Which runs a claim takes. */
export interface ClaimScope {
  /** Workspaces whose runs are not claimed. */
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
  const capacity = Math.max(1, Math.floor(maxRuns * waitingFraction));
  const free = capacity - [...waiting.values()].reduce((sum, runs) => sum + runs, 0);
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
