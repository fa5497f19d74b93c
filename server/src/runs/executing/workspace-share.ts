/**
 * Fraction of a process's capacity that the runs of one workspace can use while another workspace
 * could need the rest. See docs/decisions/0033-a-share-of-the-runs.md.
 */
const shareFraction = 3 / 4;

/**
 * Returns the maximum number of runs of one workspace that a process executes at the same time. It
 * is at least 1, so that a process of any size executes the runs of every workspace.
 * @param maxRuns maximum number of runs that the process executes at the same time.
 * @param isShared whether several workspaces have agents. If not, nothing is kept free.
 */
export function maxRunsOfOne(maxRuns: number, isShared: boolean): number {
  return isShared ? Math.max(1, Math.floor(maxRuns * shareFraction)) : maxRuns;
}

/** How many queued runs of each workspace a claim takes. */
export interface Shares {
  /** Workspaces of which the claim takes no runs. */
  readonly full: readonly string[];
  /** Workspaces that have less than `maxOfOne` left, and what they have left. */
  readonly maxOf: ReadonlyMap<string, number>;
  /** Maximum for every other workspace. */
  readonly maxOfOne: number;
}

/**
 * Returns how many queued runs of each workspace a claim can take.
 * @param inUse number of runs of each workspace that the process executes.
 * @param options.maxOfOne see `maxRunsOfOne`.
 * @param options.maxRuns maximum number of runs that the claim takes.
 */
export function sharesOf(
  inUse: ReadonlyMap<string, number>,
  { maxOfOne, maxRuns }: { readonly maxOfOne: number; readonly maxRuns: number },
): Shares {
  const full: string[] = [];
  const maxOf = new Map<string, number>();
  for (const [workspaceId, runs] of inUse) {
    const left = maxOfOne - runs;
    if (left <= 0) full.push(workspaceId);
    else if (left < maxRuns) maxOf.set(workspaceId, left);
  }
  return { full, maxOf, maxOfOne: Math.min(maxOfOne, maxRuns) };
}
