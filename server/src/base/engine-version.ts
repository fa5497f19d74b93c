/**
 * The highest version of runs that this code can execute. It is stored with each process. Each run
 * stores the version that it needs, and a process claims only runs that need its version or a lower
 * one. Raise this constant when older code cannot execute a run of the new code correctly.
 */
export const engineVersion = 2;

/** The version that a run needs unless it is a draft run. */
export const runVersion = 1;

/**
 * The version that a draft run needs. Code of version 1 would execute it with the agent's saved
 * configuration instead of the draft.
 */
export const draftRunVersion = 2;
