/**
 * Version of the journal format that this code can execute. Stored with each run and each process.
 * Raise it when older code cannot continue a journal written by the new code.
 */
export const engineVersion = 1;
